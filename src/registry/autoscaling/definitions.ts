import type { BuiltInDefinition } from '../built-in-definition.ts'
import { untyped } from '../untyped.ts'
import { horizontalPodAutoscalers } from './horizontal-pod-autoscalers.ts'

export const autoscalingDefinitions: Readonly<Record<string, BuiltInDefinition>> = {
  'horizontalpodautoscalers.autoscaling': untyped(horizontalPodAutoscalers),
}
