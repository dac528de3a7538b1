/** The status and conditions of an autoscaler (kube-controller-manager's setStatus and setCondition). */
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerCondition,
  HorizontalPodAutoscalerStatus,
  MetricStatus,
} from '../../../api/autoscaling/v2.ts'
import { timeText } from '../../../schema/time.ts'

export type AutoscalerConditionType = 'AbleToScale' | 'ScalingActive' | 'ScalingLimited' | 'ScaledToZero'

export class AutoscalerStatus {
  private conditions: HorizontalPodAutoscalerCondition[]
  private numbers: Omit<HorizontalPodAutoscalerStatus, 'conditions'>
  private readonly time: string

  constructor({ status = {} }: HorizontalPodAutoscaler, now: Date) {
    const { conditions = [], ...numbers } = status
    this.conditions = conditions.map((condition) => ({ ...condition }))
    this.numbers = numbers
    this.time = timeText(now)
  }

  /** Sets a condition. Its transition time changes only with its status. */
  set(type: AutoscalerConditionType, status: boolean, reason: string, message: string): void {
    const text = status ? 'True' : 'False'
    const before = this.conditions.find((condition) => condition.type === type)
    const since = before?.status === text ? before.lastTransitionTime : this.time
    const condition = {
      type,
      status: text,
      ...(since === undefined ? {} : { lastTransitionTime: since }),
      reason,
      message,
    }
    this.conditions =
      before === undefined
        ? [...this.conditions, condition]
        : this.conditions.map((one) => (one === before ? condition : one))
  }

  remove(type: AutoscalerConditionType): void {
    this.conditions = this.conditions.filter((condition) => condition.type !== type)
  }

  isTrue(type: AutoscalerConditionType): boolean {
    return this.conditions.some((condition) => condition.type === type && condition.status === 'True')
  }

  /** @param desired undefined: unchanged */
  count(current: number, desired: number | undefined, metrics: readonly MetricStatus[], isRescaled = false): void {
    const { desiredReplicas = 0, lastScaleTime } = this.numbers
    const scaled = isRescaled ? this.time : lastScaleTime
    this.numbers = {
      ...(current === 0 ? {} : { currentReplicas: current }),
      desiredReplicas: desired ?? desiredReplicas,
      ...(scaled === undefined ? {} : { lastScaleTime: scaled }),
      ...(metrics.length === 0 ? {} : { currentMetrics: [...metrics] }),
    }
  }

  get value(): HorizontalPodAutoscalerStatus {
    const { conditions, numbers } = this
    return { ...numbers, ...(conditions.length === 0 ? {} : { conditions }) }
  }
}
