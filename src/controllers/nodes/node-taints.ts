/** The taints that kube-controller-manager gives a node for its conditions. */
import type { Node, Taint } from '../../api/core/v1.ts'
import { ownValue } from '../../base/own.ts'

export const NOT_READY = 'node.kubernetes.io/not-ready'
export const UNREACHABLE = 'node.kubernetes.io/unreachable'
const UNSCHEDULABLE = 'node.kubernetes.io/unschedulable'

/** Keys of taints, by the type and the status of a condition. */
const taintOf: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: NOT_READY, Unknown: UNREACHABLE },
  MemoryPressure: { True: 'node.kubernetes.io/memory-pressure' },
  DiskPressure: { True: 'node.kubernetes.io/disk-pressure' },
  NetworkUnavailable: { True: 'node.kubernetes.io/network-unavailable' },
  PIDPressure: { True: 'node.kubernetes.io/pid-pressure' },
}
const OURS: ReadonlySet<string> = new Set([
  UNSCHEDULABLE,
  ...Object.values(taintOf).flatMap((keys) => Object.values(keys)),
])

export const readyOf = ({ status }: Node): string | undefined =>
  status?.conditions?.find(({ type }) => type === 'Ready')?.status

/** Sets the NoSchedule taints that follow from the conditions. Other taints stay. */
export function withScheduleTaints({ spec, status }: Node, time: string): Taint[] {
  const before = spec?.taints ?? []
  const keys = new Set(
    (status?.conditions ?? []).flatMap((condition) => {
      const key = ownValue(ownValue(taintOf, condition.type ?? '') ?? {}, condition.status ?? '')
      return key === undefined ? [] : [key]
    }),
  )
  if (spec?.unschedulable === true) keys.add(UNSCHEDULABLE)
  const isOurs = ({ key = '', effect }: Taint): boolean => effect === 'NoSchedule' && OURS.has(key)
  const kept = before.filter((taint) => !isOurs(taint) || keys.has(taint.key ?? ''))
  const there = new Set(kept.filter(isOurs).map(({ key }) => key))
  const added = [...keys].filter((key) => !there.has(key))
  return [...kept, ...added.map((key) => ({ key, effect: 'NoSchedule', timeAdded: time }))]
}

/** The key of the NoExecute taint that follows from this status of the Ready condition. */
export const executeTaint = (ready: string | undefined): string | undefined =>
  ready === undefined ? undefined : ownValue(taintOf['Ready'] ?? {}, ready)

export function withExecuteTaint(taints: readonly Taint[], key: string | undefined, time: string): Taint[] {
  const isOurs = (taint: Taint): boolean =>
    taint.effect === 'NoExecute' && (taint.key === NOT_READY || taint.key === UNREACHABLE)
  const kept = taints.filter((taint) => !isOurs(taint) || taint.key === key)
  return key === undefined || kept.some(isOurs) ? kept : [...kept, { key, effect: 'NoExecute', timeAdded: time }]
}

export const hasExecuteTaint = ({ spec }: Node): boolean =>
  (spec?.taints ?? []).some(({ key, effect }) => effect === 'NoExecute' && (key === NOT_READY || key === UNREACHABLE))
