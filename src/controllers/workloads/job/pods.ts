/** Decides which pods of a Job to stop, and creates pods. */
import { leastOf } from '../../../base/extremes.ts'
import type { Job } from '../../../api/batch/v1.ts'
import type { Container, Pod, PodTemplateSpec } from '../../../api/core/v1.ts'
import { cloneJson } from '../../../json/clone-json.ts'
import type { BackOff } from './back-off.ts'
import { COMPLETION_INDEX, Indexes, indexOf } from './indexes.ts'
import { judge } from './policies.ts'
import type { JobState } from './state.ts'
import {
  endOf,
  FAILURE_COUNT,
  failureCount,
  IGNORED_FAILURE_COUNT,
  ignoredFailureCount,
  isIndexed,
  isSuspended,
  replacesFailedOnly,
  TRACKING,
  untilReplacement,
} from './state.ts'
import type { PodControl } from '../pods/pod-control.ts'
import { controllerRefTo, podFromTemplate, slowStart } from '../pods/pod-control.ts'
import { compareForJob } from '../pods/pod-state.ts'

const MOST_AT_ONCE = 500
const LONGEST_PREFIX = 58

/** How many pods should run. */
export function wantedActive(job: Job, state: JobState, active: number): number {
  if (isSuspended(job)) return 0
  const { parallelism = 1, completions } = job.spec ?? {}
  if (completions === undefined) return state.succeeded > 0 ? active : parallelism
  return Math.max(0, Math.min(completions - state.succeeded - state.failedIndexes.size, parallelism))
}

/** The surplus pods, all pods of a suspended Job, and pods whose index another pod has. */
export function podsToStop(job: Job, state: JobState): readonly Pod[] {
  const sorted = state.active.toSorted(compareForJob())
  const stopped: Pod[] = []
  const left: Pod[] = []
  const seen = new Set<number>()
  // of each index, keep the pod that scaling down would delete last
  for (const pod of sorted.toReversed()) {
    const index = isIndexed(job) ? indexOf(pod) : undefined
    const isSurplus =
      isIndexed(job) && (index === undefined || index >= (job.spec?.completions ?? 0) || seen.has(index))
    if (index !== undefined) seen.add(index)
    ;(isSurplus ? stopped : left).push(pod)
  }
  const surplus = state.active.length - wantedActive(job, state, state.active.length) - stopped.length
  const more = surplus > 0 ? left.toReversed().slice(0, surplus) : []
  return [...stopped, ...more].slice(0, MOST_AT_ONCE)
}

interface Making {
  readonly job: Job
  readonly state: JobState
  readonly backOff: BackOff
  readonly active: number
  readonly leaving: number
  readonly now: Date
  readonly control: PodControl
}

/** @returns the number of created pods, and milliseconds until more may be created */
export async function createJobPods(making: Making): Promise<{ count: number; wait?: number }> {
  const { job, state, active, leaving, now, control } = making
  const missing = wantedActive(job, state, active) - active - (replacesFailedOnly(job) ? leaving : 0)
  if (missing <= 0) return { count: 0 }
  const isPerIndex = job.spec?.backoffLimitPerIndex !== undefined
  if (!isPerIndex) {
    const { count, last } = making.backOff
    const wait = untilReplacement(count, last, now)
    if (wait > 0) return { count: 0, wait }
  }
  const count = Math.min(missing, MOST_AT_ONCE)
  const ref = controllerRefTo(job, { group: 'batch', version: 'v1', kind: 'Job' })
  const pod = podFromTemplate(tracked(job), job, ref)
  if (!isIndexed(job)) {
    await slowStart(count, () => control.create(pod, job), control.budget)
    return { count }
  }
  // a Job that replaces only failed pods also waits for those that are being deleted
  const present = replacesFailedOnly(job) ? [...state.active, ...state.leavingPods] : state.active
  const taken = Indexes.of(present.flatMap((one) => indexOf(one) ?? [])).and(
    state.succeededIndexes,
    state.failedIndexes,
  )
  const pending = taken.missing(count, job.spec?.completions ?? 0)
  const waits = pending.map((index) => (isPerIndex ? untilIndex(state, index, now) : 0))
  const due = pending.filter((_, at) => waits[at] === 0)
  await slowStart(due.length, (at) => control.create(ofIndex(job, pod, due[at]!, state), job), control.budget)
  const later = waits.filter((wait) => wait > 0)
  return { count: due.length, ...(later.length === 0 ? {} : { wait: leastOf(later) }) }
}

function untilIndex({ delayed }: JobState, index: number, now: Date): number {
  const last = delayed.get(index)
  if (last === undefined) return 0
  return untilReplacement(failureCount(last) + ignoredFailureCount(last) + 1, endOf(last), now)
}

function tracked({ spec }: Job): PodTemplateSpec {
  const { template = {} } = spec ?? {}
  const finalizers = [...new Set([...(template.metadata?.finalizers ?? []), TRACKING])]
  return { ...template, metadata: { ...template.metadata, finalizers } }
}

const INDEX_VARIABLE = {
  name: 'JOB_COMPLETION_INDEX',
  valueFrom: { fieldRef: { fieldPath: `metadata.labels['${COMPLETION_INDEX}']` } },
}

const withIndexVariable = (container: Container): Container =>
  container.env?.some(({ name }) => name === INDEX_VARIABLE.name)
    ? container
    : { ...container, env: [...(container.env ?? []), cloneJson(INDEX_VARIABLE)] }

/** The pod of one index: its name has the index, and annotations count earlier failures. */
function ofIndex(job: Job, pod: Pod, index: number, { delayed }: JobState): Pod {
  const { name = '' } = job.metadata
  const suffix = `-${index}-`
  const { initContainers, containers } = pod.spec ?? {}
  return cloneJson({
    ...pod,
    metadata: {
      ...pod.metadata,
      generateName: `${name.slice(0, LONGEST_PREFIX - suffix.length)}${suffix}`,
      labels: { ...pod.metadata.labels, [COMPLETION_INDEX]: String(index) },
      annotations: {
        ...pod.metadata.annotations,
        [COMPLETION_INDEX]: String(index),
        ...(job.spec?.backoffLimitPerIndex === undefined ? {} : failureAnnotations(job, delayed.get(index))),
      },
    },
    spec: {
      ...pod.spec,
      hostname: `${name}-${index}`,
      ...(initContainers === undefined ? {} : { initContainers: initContainers.map(withIndexVariable) }),
      containers: (containers ?? []).map(withIndexVariable),
    },
  })
}

function failureAnnotations(job: Job, replaced: Pod | undefined): Record<string, string> {
  if (replaced === undefined) return { [FAILURE_COUNT]: '0' }
  const { counts } = judge(job, replaced)
  const ignored = ignoredFailureCount(replaced) + (counts ? 0 : 1)
  return {
    [FAILURE_COUNT]: String(failureCount(replaced) + (counts ? 1 : 0)),
    ...(ignored === 0 ? {} : { [IGNORED_FAILURE_COUNT]: String(ignored) }),
  }
}
