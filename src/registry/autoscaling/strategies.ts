import type { Strategy } from '../strategy.ts'
import { untyped } from '../untyped.ts'
import { horizontalPodAutoscalers } from './horizontal-pod-autoscalers.ts'

export const autoscalingStrategies: Readonly<Record<string, Strategy>> = {
  'horizontalpodautoscalers.autoscaling': untyped(horizontalPodAutoscalers),
}
