/**
 * How far and how fast an autoscaler follows its metrics: limits, stabilization windows and policies
 * (kube-controller-manager's normalizeDesiredReplicas). The functions are pure: earlier recommendations and changes
 * are arguments.
 */
import { leastOf, mostOf } from '../../../base/extremes.ts'
import type { HPAScalingPolicy, HPAScalingRules, HorizontalPodAutoscalerBehavior } from '../../../api/autoscaling/v2.ts'
import type { AutoscalerHistory, ScaleEvent } from './history.ts'
import { recommendationsAfter } from './history.ts'

/** Seconds: the default of kube-controller-manager's --horizontal-pod-autoscaler-downscale-stabilization. */
export const DOWNSCALE_STABILIZATION = 300

export interface Wish {
  readonly current: number
  /** The replicas that the metrics propose. */
  readonly desired: number
  readonly min: number
  readonly max: number
  readonly now: number
}

interface Limit {
  readonly isLimited: boolean
  readonly reason: string
  readonly message: string
}

export interface Normalized {
  readonly replicas: number
  /** The reason and message of condition AbleToScale. */
  readonly able: { readonly reason: string; readonly message: string }
  /** The condition ScalingLimited. */
  readonly limit: Limit
}

const READY = { reason: 'ReadyForNewScale', message: 'recommended size matches current size' }
const SCALE_UP_STABILIZED = {
  reason: 'ScaleUpStabilized',
  message: 'recent recommendations were lower than current one, applying the lowest recent recommendation',
}
const SCALE_DOWN_STABILIZED = {
  reason: 'ScaleDownStabilized',
  message: 'recent recommendations were higher than current one, applying the highest recent recommendation',
}
const WITHIN_RANGE = { reason: 'DesiredWithinRange', message: 'the desired count is within the acceptable range' }
const TOO_FEW = {
  reason: 'TooFewReplicas',
  message: 'the desired replica count is less than the minimum replica count',
}
const TOO_MANY = {
  reason: 'TooManyReplicas',
  message: 'the desired replica count is more than the maximum replica count',
}
const UP_TOO_FAST = {
  reason: 'ScaleUpLimit',
  message: 'the desired replica count is increasing faster than the maximum scale rate',
}
const DOWN_TOO_FAST = {
  reason: 'ScaleDownLimit',
  message: 'the desired replica count is decreasing faster than the maximum scale rate',
}

/** The stabilization windows in seconds. */
export const windowsOf = (behavior: HorizontalPodAutoscalerBehavior | undefined) => ({
  up: behavior?.scaleUp?.stabilizationWindowSeconds ?? 0,
  down: behavior?.scaleDown?.stabilizationWindowSeconds ?? DOWNSCALE_STABILIZATION,
})

export function normalized(
  wish: Wish,
  behavior: HorizontalPodAutoscalerBehavior | undefined,
  history: AutoscalerHistory,
): Normalized {
  const windows = windowsOf(behavior)
  const stable = behavior === undefined ? stabilizedDown(wish, history) : stabilized(wish, windows, history)
  const isAsWished = stable === wish.desired
  const isUp = behavior !== undefined && wish.desired >= wish.current
  const able = isAsWished ? READY : isUp ? SCALE_UP_STABILIZED : SCALE_DOWN_STABILIZED
  const settled = { ...wish, desired: stable }
  const { replicas, ...said } = behavior === undefined ? plainLimit(settled) : rateLimit(settled, behavior, history)
  return { replicas, able, limit: { isLimited: replicas !== stable, ...said } }
}

/** The highest recommendation in the window of scaling down. */
const stabilizedDown = ({ desired, now }: Wish, history: AutoscalerHistory): number =>
  mostOf(recommendationsAfter(history, now - DOWNSCALE_STABILIZATION * 1000, now), desired)

function stabilized(
  { current, desired, now }: Wish,
  windows: { readonly up: number; readonly down: number },
  history: AutoscalerHistory,
): number {
  const least = leastOf([desired, ...recommendationsAfter(history, now - windows.up * 1000, now)])
  const most = mostOf(recommendationsAfter(history, now - windows.down * 1000, now), desired)
  return Math.min(Math.max(current, least), most)
}

/** Limits scaling up to double the replicas or to four, whichever is more. */
function plainLimit({ current, desired, min, max }: Wish) {
  const fastest = Math.max(2 * current, 4)
  const [most, why] = max > fastest ? [fastest, UP_TOO_FAST] : [max, TOO_MANY]
  if (desired < min) return { replicas: min, ...TOO_FEW }
  return desired > most ? { replicas: most, ...why } : { replicas: desired, ...WITHIN_RANGE }
}

function rateLimit(
  { current, desired, min, max, now }: Wish,
  { scaleUp = {}, scaleDown = {} }: HorizontalPodAutoscalerBehavior,
  { ups, downs }: AutoscalerHistory,
) {
  const changes = { current, ups, downs, now }
  if (desired > current) {
    const fastest = Math.max(upLimit(changes, scaleUp), current)
    const [most, why] = max > fastest ? [fastest, UP_TOO_FAST] : [max, TOO_MANY]
    if (desired > most) return { replicas: most, ...why }
  } else if (desired < current) {
    const fastest = Math.min(downLimit(changes, scaleDown), current)
    const [least, why] = min < fastest ? [fastest, DOWN_TOO_FAST] : [min, TOO_FEW]
    if (desired < least) return { replicas: least, ...why }
  }
  return { replicas: desired, ...WITHIN_RANGE }
}

interface Changes {
  readonly current: number
  readonly ups: readonly ScaleEvent[]
  readonly downs: readonly ScaleEvent[]
  readonly now: number
}

function changed(events: readonly ScaleEvent[], seconds: number, now: number): number {
  const recent = events.filter(({ time }) => time > now - seconds * 1000)
  return recent.reduce((sum, { change }) => sum + change, 0)
}

/** The replicas at the beginning of the policy's period. */
const atStart = ({ current, ups, downs, now }: Changes, { periodSeconds = 0 }: HPAScalingPolicy): number =>
  current - changed(ups, periodSeconds, now) + changed(downs, periodSeconds, now)

function upLimit(changes: Changes, { selectPolicy, policies = [] }: HPAScalingRules): number {
  if (selectPolicy === 'Disabled') return changes.current
  const limits = policies.map((policy) => {
    const start = atStart(changes, policy)
    const { type, value = 0 } = policy
    return type === 'Pods' ? start + value : Math.ceil(start * (1 + value / 100))
  })
  return selectPolicy === 'Min' ? leastOf(limits) : mostOf(limits)
}

function downLimit(changes: Changes, { selectPolicy, policies = [] }: HPAScalingRules): number {
  if (selectPolicy === 'Disabled') return changes.current
  const limits = policies.map((policy) => {
    const start = atStart(changes, policy)
    const { type, value = 0 } = policy
    return type === 'Pods' ? start - value : Math.trunc(start * (1 - value / 100))
  })
  return selectPolicy === 'Min' ? mostOf(limits) : leastOf(limits)
}
