import type { Pod, PodCondition } from '../../../api/core/v1.ts'
import { timeText } from '../../../schema/time.ts'

/** Sets a condition. Its lastTransitionTime changes only when its status does. */
export function setPodCondition(pod: Pod, condition: PodCondition, now: Date): void {
  const status = (pod.status ??= {})
  const conditions = status.conditions ?? []
  const index = conditions.findIndex(({ type }) => type === condition.type)
  const before = conditions[index]
  const isSame = before !== undefined && before.status === condition.status
  const lastTransitionTime = isSame && before.lastTransitionTime ? before.lastTransitionTime : timeText(now)
  const written = { ...condition, lastTransitionTime }
  status.conditions = before === undefined ? [...conditions, written] : conditions.with(index, written)
}

export const isReady = ({ status }: Pod): boolean =>
  (status?.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True')

export const isFinished = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed'
