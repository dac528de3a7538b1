/** Defaults of a HorizontalPodAutoscaler, in each of its versions. */
import type * as AutoscalingV1 from '../../api/autoscaling/v1.ts'
import type * as AutoscalingV2 from '../../api/autoscaling/v2.ts'
import { sentField } from '../../schema/emptied.ts'

/** The conversion sets the default metric of v2, because a v1 object may keep its metrics in an annotation. */
export function defaultAutoscalerV1({ spec }: AutoscalingV1.HorizontalPodAutoscaler): void {
  spec!.minReplicas ??= 1
}

export function defaultAutoscalerV2({ spec }: AutoscalingV2.HorizontalPodAutoscaler): void {
  const autoscaler = spec!
  autoscaler.minReplicas ??= 1
  if ((autoscaler.metrics ?? []).length === 0) autoscaler.metrics = [halfBusy()]
  const { behavior } = autoscaler
  if (behavior === undefined) return
  behavior.scaleUp = withDefaults(behavior.scaleUp, scaleUpRules())
  behavior.scaleDown = withDefaults(behavior.scaleDown, scaleDownRules())
}

/** An empty list of policies stays, so that validation refuses it. */
function withDefaults(
  rules: AutoscalingV2.HPAScalingRules = {},
  defaults: AutoscalingV2.HPAScalingRules,
): AutoscalingV2.HPAScalingRules {
  const isEmpty = rules.policies === undefined && sentField(rules, 'policies') !== undefined
  const { policies, ...others } = { ...defaults, ...rules }
  // own key: fields of HPAScalingRules
  return Object.assign(rules, others, isEmpty ? {} : { policies })
}

const halfBusy = (): AutoscalingV2.MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
})

const scaleUpRules = (): AutoscalingV2.HPAScalingRules => ({
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
})

const scaleDownRules = (): AutoscalingV2.HPAScalingRules => ({
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
})
