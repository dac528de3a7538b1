/** Computes a Job's state from it and its pods without writing (kube-controller-manager's job controller). */
import { mostOf } from '../../../base/extremes.ts'
import type { Job, JobCondition, JobStatus } from '../../../api/batch/v1.ts'
import type { Pod } from '../../../api/core/v1.ts'
import { ownValue } from '../../../base/own.ts'
import { durationOf } from '../../../go/duration.ts'
import { timeText } from '../../../schema/time.ts'
import { Indexes, indexOf } from './indexes.ts'
import { judge, successOf } from './policies.ts'
import { isActive, isLeaving, isReady } from '../pods/pod-state.ts'

export const TRACKING = 'batch.kubernetes.io/job-tracking'
export const FAILURE_COUNT = 'batch.kubernetes.io/job-index-failure-count'
export const IGNORED_FAILURE_COUNT = 'batch.kubernetes.io/job-index-ignored-failure-count'
const FIRST_BACK_OFF_MS = 10_000
const LONGEST_BACK_OFF_MS = 600_000

export const isIndexed = ({ spec }: Job): boolean => spec?.completionMode === 'Indexed'

export const isSuspended = ({ spec }: Job): boolean => spec?.suspend === true

/** Whether the pod counts for the Job: a pod of an indexed Job needs one of its indexes. */
export function isMember(job: Job, pod: Pod): boolean {
  if (!isIndexed(job)) return true
  const index = indexOf(pod)
  return index !== undefined && index < (job.spec?.completions ?? 0)
}

export const isTracked = ({ metadata }: Pod): boolean => (metadata.finalizers ?? []).includes(TRACKING)

/** Whether the Job replaces only finished pods, and not pods that are being deleted. */
export const replacesFailedOnly = ({ spec }: Job): boolean =>
  spec?.podReplacementPolicy === 'Failed' || spec?.podFailurePolicy !== undefined

export const isFailed = (job: Job, pod: Pod): boolean =>
  pod.status?.phase === 'Failed' ||
  (!replacesFailedOnly(job) && pod.metadata.deletionTimestamp !== undefined && pod.status?.phase !== 'Succeeded')

export const jobCondition = (status: JobStatus | undefined, type: string): JobCondition | undefined =>
  status?.conditions?.find((condition) => condition.type === type && condition.status === 'True')

export const isOver = ({ status }: Job): boolean =>
  jobCondition(status, 'Complete') !== undefined || jobCondition(status, 'Failed') !== undefined

export function newJobCondition(
  type: string,
  status: 'True' | 'False',
  reason: string,
  message: string,
  now: Date,
): JobCondition {
  const time = timeText(now)
  return { type, status, lastProbeTime: time, lastTransitionTime: time, reason, message }
}

export interface JobState {
  readonly active: readonly Pod[]
  readonly leaving: number
  readonly leavingPods: readonly Pod[]
  readonly ready: number
  readonly succeeded: number
  readonly failed: number
  /** Pods that ended and are not counted yet. */
  readonly ended: { readonly succeeded: readonly Pod[]; readonly failed: readonly Pod[] }
  /** The indexes of an indexed Job that succeeded, with those of pods not counted yet. */
  readonly succeededIndexes: Indexes
  readonly failedIndexes: Indexes
  /** The last failed pod of each index that will be retried, kept until another pod replaces it. */
  readonly delayed: ReadonlyMap<number, Pod>
  /** The condition SuccessCriteriaMet or FailureTarget, which decides the Job. */
  readonly decision: JobCondition | undefined
}

export function jobState(job: Job, pods: readonly Pod[], now: Date): JobState {
  const { uncountedTerminatedPods: { succeeded = [], failed = [] } = {} } = job.status ?? {}
  const counted = new Set([...succeeded, ...failed])
  // a pod with the finalizer is not counted yet
  const fresh = pods.filter((pod) => isTracked(pod) && isMember(job, pod) && !counted.has(pod.metadata.uid ?? ''))
  const active = pods.filter(isActive)
  const leavingPods = pods.filter(isLeaving)
  const failures = fresh.filter((pod) => isFailed(job, pod) && judge(job, pod).counts)
  const indexes = isIndexed(job) ? indexesOf(job, pods, active) : NO_INDEXES
  const ended = {
    succeeded: fresh.filter(({ status }) => status?.phase === 'Succeeded'),
    failed: fresh.filter((pod) => isFailed(job, pod)),
  }
  const successes = ended.succeeded.length
  const state = {
    active,
    leaving: leavingPods.length,
    leavingPods,
    ready: active.filter(isReady).length,
    succeeded: isIndexed(job)
      ? indexes.succeededIndexes.size
      : (job.status?.succeeded ?? 0) + successes + succeeded.length,
    failed: (job.status?.failed ?? 0) + failures.length + failed.length,
    ended,
    ...indexes,
  }
  return { ...state, decision: decisionOf(job, pods, state, now) }
}

const NO_INDEXES = {
  succeededIndexes: Indexes.none,
  failedIndexes: Indexes.none,
  delayed: new Map<number, Pod>(),
}

function indexesOf(job: Job, pods: readonly Pod[], active: readonly Pod[]): typeof NO_INDEXES {
  const completions = job.spec?.completions ?? 0
  const tracked = pods.flatMap((pod) => {
    const index = isTracked(pod) ? indexOf(pod) : undefined
    return index !== undefined && index < completions ? [{ pod, index }] : []
  })
  const indexesWhere = (isMeant: (pod: Pod) => boolean) =>
    Indexes.of(tracked.flatMap(({ pod, index }) => (isMeant(pod) ? [index] : [])))
  const succeededIndexes = Indexes.parse(job.status?.completedIndexes, completions).and(
    indexesWhere(({ status }) => status?.phase === 'Succeeded'),
  )
  const limit = job.spec?.backoffLimitPerIndex
  if (limit === undefined) return { ...NO_INDEXES, succeededIndexes }
  const failsItsIndex = (pod: Pod): boolean => {
    if (!isFailed(job, pod)) return false
    const { counts, action } = judge(job, pod)
    return action === 'FailIndex' || failureCount(pod) + (counts ? 1 : 0) > limit
  }
  const failedIndexes = Indexes.parse(job.status?.failedIndexes, completions).and(indexesWhere(failsItsIndex))
  const delayed = new Map<number, Pod>()
  const running = new Set(active.map(indexOf))
  for (const { pod, index } of tracked) {
    if (!isFailed(job, pod)) continue
    if (succeededIndexes.has(index) || failedIndexes.has(index) || running.has(index)) continue
    const last = delayed.get(index)
    if (last === undefined || isLater(pod, last)) delayed.set(index, pod)
  }
  return { succeededIndexes, failedIndexes, delayed }
}

const countIn = ({ metadata }: Pod, key: string): number => {
  const text = ownValue(metadata.annotations, key) ?? ''
  return /^\d{1,9}$/.test(text) ? Number(text) : 0
}

/** Whether a failed pod of an index came after another one. */
const isLater = (pod: Pod, other: Pod): boolean => attempts(pod) >= attempts(other) && endOf(pod) >= endOf(other)

const attempts = (pod: Pod): number => failureCount(pod) + ignoredFailureCount(pod)

export const failureCount = (pod: Pod): number => countIn(pod, FAILURE_COUNT)
export const ignoredFailureCount = (pod: Pod): number => countIn(pod, IGNORED_FAILURE_COUNT)

function decisionOf(
  job: Job,
  pods: readonly Pod[],
  state: Omit<JobState, 'decision'>,
  now: Date,
): JobCondition | undefined {
  const { spec = {}, status } = job
  const known = jobCondition(status, 'SuccessCriteriaMet') ?? jobCondition(status, 'FailureTarget')
  if (known !== undefined) return known
  const fails = (reason: string, message: string) => newJobCondition('FailureTarget', 'True', reason, message, now)
  const judged = spec.podFailurePolicy === undefined ? [] : pods.filter((pod) => isFailed(job, pod))
  const message = judged.map((pod) => judge(job, pod).message).find((text) => text !== undefined)
  if (message !== undefined) return fails('PodFailurePolicy', message)
  const limit = spec.backoffLimit ?? 6
  if (state.failed > limit || restartedTooOften(job, pods, limit))
    return fails('BackoffLimitExceeded', 'Job has reached the specified backoff limit')
  if ((untilDeadline(job, now) ?? 1) <= 0)
    return fails('DeadlineExceeded', 'Job was active longer than specified deadline')
  if (spec.backoffLimitPerIndex !== undefined && isIndexed(job)) {
    const { failedIndexes, succeededIndexes } = state
    if (spec.maxFailedIndexes !== undefined && failedIndexes.size > spec.maxFailedIndexes)
      return fails('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes')
    if (failedIndexes.size > 0 && failedIndexes.size + succeededIndexes.size >= (spec.completions ?? 0))
      return fails('FailedIndexes', 'Job has failed indexes')
  }
  const success = isIndexed(job) ? successOf(job, state.succeededIndexes) : undefined
  return success === undefined
    ? undefined
    : newJobCondition('SuccessCriteriaMet', 'True', 'SuccessPolicy', success, now)
}

/** Whether containers restarted too often. It counts only where restartPolicy is OnFailure. */
function restartedTooOften({ spec }: Job, pods: readonly Pod[], limit: number): boolean {
  if (spec?.template?.spec?.restartPolicy !== 'OnFailure') return false
  let restarts = 0
  for (const { status } of pods) {
    if (status?.phase !== 'Running' && status?.phase !== 'Pending') continue
    for (const { restartCount = 0 } of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])])
      restarts += restartCount
  }
  return limit === 0 ? restarts > 0 : restarts >= limit
}

/** Milliseconds until activeDeadlineSeconds have passed; undefined where the Job has no deadline. */
export function untilDeadline(job: Job, now: Date): number | undefined {
  const { activeDeadlineSeconds } = job.spec ?? {}
  const { startTime } = job.status ?? {}
  if (activeDeadlineSeconds === undefined || startTime === undefined || isSuspended(job)) return undefined
  return Date.parse(startTime) + durationOf(activeDeadlineSeconds) - now.getTime()
}

/** Milliseconds that a replacement waits after this many failures in a row. */
export function untilReplacement(failures: number, last: number, now: Date): number {
  if (failures === 0) return 0
  const pause = Math.min(FIRST_BACK_OFF_MS * 2 ** (failures - 1), LONGEST_BACK_OFF_MS)
  return Math.max(0, last + pause - now.getTime())
}

/** The best estimate of when a pod ended, in milliseconds since 1970. */
export function endOf({ metadata, spec, status }: Pod): number {
  const sidecars = new Set(
    (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
  )
  const last = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name)),
  ]
  const ends = last.map(({ state }) => Date.parse(state?.terminated?.finishedAt ?? ''))
  if (ends.length > 0 && ends.every((end) => !Number.isNaN(end))) return mostOf(ends)
  const ready = status?.conditions?.find(({ type, status: value }) => type === 'Ready' && value === 'False')
  if (ready?.lastTransitionTime !== undefined) return Date.parse(ready.lastTransitionTime)
  const { deletionTimestamp, deletionGracePeriodSeconds: grace = 0, creationTimestamp = '' } = metadata
  // deletionTimestamp is the time of the DELETE plus the grace period
  return deletionTimestamp === undefined
    ? Date.parse(creationTimestamp)
    : Date.parse(deletionTimestamp) - durationOf(grace)
}
