/**
 * Runs Jobs (kube-controller-manager's job controller). Key: NAMESPACE/NAME. The controller counts an ended pod once:
 * it writes the uid into the status, then removes the pod's finalizer, then removes the uid.
 */
import { inTurns } from '../../work/in-turns.ts'
import { leastOf } from '../../../base/extremes.ts'
import type { Job, JobCondition, JobStatus } from '../../../api/batch/v1.ts'
import type { Pod } from '../../../api/core/v1.ts'
import { cloneJson } from '../../../json/clone-json.ts'
import { timeText } from '../../../schema/time.ts'
import type { Clientset } from '../../client/clientset.ts'
import { clientsetFor } from '../../client/clientset.ts'
import type { Controller, ControllerContext } from '../../controller.ts'
import type { ResourceClient } from '../../client/resource-client.ts'
import { deleteIfThere } from '../../work/unless-gone.ts'
import { EventRecorder } from '../events/events.ts'
import { forgetBackOff, knownBackOff, nextBackOff, rememberBackOff } from './back-off.ts'
import { indexOf } from './indexes.ts'
import { judge } from './policies.ts'
import { JOB, JOB_COMPONENT, JOBS, OURS } from './kind.ts'
import { untrack } from './orphans.ts'
import { createJobPods, podsToStop } from './pods.ts'
import type { JobState } from './state.ts'
import {
  isFailed,
  isIndexed,
  isMember,
  isOver,
  isSuspended,
  isTracked,
  TRACKING,
  jobState,
  newJobCondition,
  untilDeadline,
} from './state.ts'
import { keyParts } from '../key.ts'
import { controllerRefTo, dependentsOf, PodControl, PODS } from '../pods/pod-control.ts'
import { isActive, isReady } from '../pods/pod-state.ts'
import { sameJson } from '../same-json.ts'

/** Pods that one reconciliation counts. */
const MOST_UNCOUNTED = 500

interface Look {
  readonly context: ControllerContext
  readonly clients: Clientset
  readonly jobs: ResourceClient<Job>
  readonly events: EventRecorder
  readonly control: PodControl
  readonly now: Date
}

export const jobController: Controller = {
  async reconcile(key, context) {
    const [namespace, name] = keyParts(key)
    const clients = clientsetFor(context, JOB_COMPONENT)
    const jobs = clients.resource(JOBS, namespace)
    const found = await jobs.get(name)
    if (found === undefined || isOver(found)) forgetBackOff(context, namespace, name)
    if (found?.spec?.selector === undefined) return undefined
    if (isOver(found)) return afterTheEnd(found, context)
    if ((found.spec.managedBy ?? OURS) !== OURS) return undefined
    const events = new EventRecorder(clients, JOB_COMPONENT, context.now)
    const look: Look = { context, clients, jobs, events, control: new PodControl(clients, events), now: context.now() }
    const job = cloneJson(found)
    const pods = await dependentsOf(clients, PODS, job, controllerRefTo(job, JOB), selecting(job), {
      finalizer: TRACKING,
      isMissing: (owned) => (found.status?.active ?? 0) > owned.filter((pod) => isActive(pod) || isTracked(pod)).length,
    })
    return step(look, job, pods)
  },
}

/**
 * The selector and the generation for `dependentsOf`. Only the Job's own pods have the labels of a generated selector.
 * With a manual selector each reconciliation also looks for pods to adopt.
 */
const selecting = ({ spec, metadata }: Job) => ({
  spec: spec?.selector === undefined ? {} : { selector: spec.selector },
  status: spec?.manualSelector === true ? {} : { observedGeneration: metadata.generation ?? 0 },
})

/** Deletes an ended Job after ttlSecondsAfterFinished, also one that another controller ran. */
async function afterTheEnd({ metadata, spec, status }: Job, context: ControllerContext): Promise<number | undefined> {
  const seconds = spec?.ttlSecondsAfterFinished
  if (seconds === undefined || metadata.deletionTimestamp !== undefined) return undefined
  const end = status?.conditions?.find(
    ({ type, status: value }) => value === 'True' && (type === 'Complete' || type === 'Failed'),
  )
  const ended = Date.parse(end?.lastTransitionTime ?? '')
  // another controller may write a condition without a time: then nobody knows when the Job ended
  if (Number.isNaN(ended)) return undefined
  const wait = ended + seconds * 1000 - context.now().getTime()
  if (wait > 0) return wait
  const jobs = clientsetFor(context, 'ttl-after-finished-controller').resource(JOBS, metadata.namespace)
  await deleteIfThere(jobs, { metadata }, { propagationPolicy: 'Foreground' })
  return undefined
}

async function step(look: Look, job: Job, pods: readonly Pod[]): Promise<number | undefined> {
  const { now } = look
  const before = cloneJson(job.status ?? {})
  const status: JobStatus = (job.status ??= {})
  status.uncountedTerminatedPods ??= {}
  if (status.startTime === undefined && !isSuspended(job)) status.startTime = timeText(now)
  const state = jobState(job, pods, now)
  const known = knownBackOff(look.context, job)
  const backOff = nextBackOff(known, state.ended.succeeded, state.ended.failed)
  let { decision } = state
  let active = state.active.length
  let { ready, leaving } = state
  const waits: number[] = []
  let failure: unknown
  const stopEach = async (pods: readonly Pod[], work: (pod: Pod) => Promise<void>): Promise<void> => {
    const stopOne = async (pod: Pod): Promise<void> => {
      await work(pod)
      active--
      leaving++
      if (isReady(pod)) ready--
    }
    await inTurns(pods, stopOne, look.clients.budget)
  }
  if (decision !== undefined) {
    try {
      await stopEach(state.active, (pod) => look.control.delete(pod, job))
    } catch (error) {
      // the Job does not end before its pods
      decision = undefined
      failure = error
    }
  } else if (job.metadata.deletionTimestamp === undefined) {
    try {
      await stopEach(podsToStop(job, state), (pod) => stop(look, job, pod))
      const made = await createJobPods({ job, state, backOff, active, leaving, now, control: look.control })
      active += made.count
      if (made.wait !== undefined) waits.push(made.wait)
    } catch (error) {
      failure = error
    }
  }
  // also of a Job that is being deleted: its finalizers may wait for its end
  if (decision === undefined && isReached(job, state) && active === 0 && failure === undefined)
    decision = newJobCondition(
      'SuccessCriteriaMet',
      'True',
      'CompletionsReached',
      'Reached expected number of succeeded pods',
      now,
    )
  else if (state.decision === undefined && job.metadata.deletionTimestamp === undefined)
    await tellSuspension(look, job, status)
  // a stored status has no counter of 0
  if (active === 0) delete status.active
  else status.active = active
  status.ready = ready
  status.terminating = leaving
  await track(look, job, before, pods, { ...state, decision }, leaving)
  if (isOver(job)) forgetBackOff(look.context, job.metadata.namespace ?? '', job.metadata.name ?? '')
  else if (!sameJson(known, backOff)) rememberBackOff(look.context, job, backOff)
  if (failure !== undefined) throw failure
  const deadline = decision === undefined ? untilDeadline(job, now) : undefined
  if (deadline !== undefined) waits.push(Math.max(deadline, 0))
  return waits.length === 0 ? undefined : leastOf(waits)
}

const isReached = ({ spec }: Job, { succeeded }: JobState): boolean =>
  spec?.completions === undefined ? succeeded > 0 : succeeded >= spec.completions

/** Stops a pod. Its finalizer is removed first, because a pod stopped on purpose is no failure. */
async function stop({ clients, control }: Look, job: Job, pod: Pod): Promise<void> {
  await untrack(clients, pod)
  await control.delete(pod, job)
}

async function tellSuspension({ events, now }: Look, job: Job, status: JobStatus): Promise<void> {
  const known = status.conditions?.find(({ type }) => type === 'Suspended')
  const suspended = isSuspended(job)
  if (suspended ? known?.status === 'True' : known === undefined || known.status === 'False') return
  const condition = suspended
    ? newJobCondition('Suspended', 'True', 'JobSuspended', 'Job suspended', now)
    : newJobCondition('Suspended', 'False', 'JobResumed', 'Job resumed', now)
  status.conditions = [...(status.conditions ?? []).filter(({ type }) => type !== 'Suspended'), condition]
  if (suspended) delete status.startTime
  else status.startTime = timeText(now)
  await events.normal(job, suspended ? 'Suspended' : 'Resumed', condition.message ?? '')
}

/** Counts ended pods, removes their finalizers, and ends the Job when no pod is left to count. */
async function track(
  look: Look,
  job: Job,
  before: JobStatus,
  pods: readonly Pod[],
  state: JobState,
  leaving: number,
): Promise<void> {
  const { clients, jobs, events, now } = look
  const status: JobStatus = (job.status ??= {})
  const { decision } = state
  const tracked = new Set(pods.filter(isTracked).map(({ metadata }) => metadata.uid ?? ''))
  settleCounts(status, tracked, isIndexed(job))
  const counted = countEnded(job, pods, state)
  if (isIndexed(job)) {
    status.succeeded = state.succeededIndexes.size
    setText(status, 'completedIndexes', state.succeededIndexes.text)
    if (job.spec?.backoffLimitPerIndex !== undefined) status.failedIndexes = state.failedIndexes.text
  }
  if (decision !== undefined && !status.conditions?.some(({ type }) => type === decision.type))
    status.conditions = [...(status.conditions ?? []), decision]
  let stored = job
  const write = async (): Promise<void> => {
    stored = await jobs.updateStatus({ ...stored, status: cloneJson(status) })
  }
  if (!sameJson(withoutEmpty(before), withoutEmpty(status))) await write()
  await inTurns(counted.pods, (pod) => untrack(clients, pod), clients.budget)
  for (const pod of counted.pods) tracked.delete(pod.metadata.uid ?? '')
  const written = cloneJson(status)
  settleCounts(status, tracked, isIndexed(job))
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {}
  const isEnded = decision !== undefined && succeeded.length + failed.length === 0 && leaving === 0 && !counted.isCut
  if (isEnded) end(status, decision, now)
  if (!sameJson(withoutEmpty(written), withoutEmpty(status))) await write()
  if (!isEnded) return
  if (decision.type === 'FailureTarget') await events.warning(job, decision.reason ?? '', decision.message ?? '')
  else {
    const tooMany = 'Too many succeeded pods running after completion count reached'
    if ((status.succeeded ?? 0) > (job.spec?.completions ?? Infinity))
      await events.warning(job, 'TooManySucceededPods', tooMany)
    await events.normal(job, 'Completed', 'Job completed')
  }
}

function setText(status: JobStatus, member: 'completedIndexes', text: string): void {
  if (text === '') delete status[member]
  else status[member] = text
}

/** An empty list of uncounted pods equals an absent one. */
const withoutEmpty = ({ uncountedTerminatedPods: { succeeded = [], failed = [] } = {}, ...status }: JobStatus) => ({
  ...status,
  ...(succeeded.length + failed.length === 0 ? {} : { uncountedTerminatedPods: { succeeded, failed } }),
})

/** Moves pods without a finalizer from the uncounted lists into the counters. */
function settleCounts(status: JobStatus, tracked: ReadonlySet<string>, indexed: boolean): void {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {}
  const [successes, failures] = [succeeded, failed].map((uids) => uids.filter((uid) => !tracked.has(uid)).length)
  if (!indexed && successes! > 0) status.succeeded = (status.succeeded ?? 0) + successes!
  if (failures! > 0) status.failed = (status.failed ?? 0) + failures!
  status.uncountedTerminatedPods = {
    succeeded: succeeded.filter((uid) => tracked.has(uid)),
    failed: failed.filter((uid) => tracked.has(uid)),
  }
}

/** Adds the uids of ended pods to the status. @returns these pods, whose finalizers can be removed then */
function countEnded(job: Job, pods: readonly Pod[], { decision, delayed }: JobState): { pods: Pod[]; isCut: boolean } {
  const lists = (job.status!.uncountedTerminatedPods ??= {})
  const succeeded = (lists.succeeded ??= [])
  const failed = (lists.failed ??= [])
  const known = new Set([...succeeded, ...failed])
  const going: Pod[] = []
  for (const pod of pods) {
    const { uid = '' } = pod.metadata
    const index = indexOf(pod)
    const hasSucceeded = pod.status?.phase === 'Succeeded'
    const hasFailed = isFailed(job, pod)
    const waits = index !== undefined && delayed.get(index)?.metadata.uid === uid
    const mayGo =
      job.metadata.deletionTimestamp !== undefined || decision !== undefined || hasSucceeded || (hasFailed && !waits)
    if (!isTracked(pod) || !mayGo) continue
    going.push(pod)
    const isLost = hasFailed || decision?.type === 'FailureTarget'
    if (known.has(uid) || !isMember(job, pod)) continue
    if (hasSucceeded && !isIndexed(job)) succeeded.push(uid)
    else if (!hasSucceeded && isLost && judge(job, pod).counts) failed.push(uid)
    if (succeeded.length + failed.length >= MOST_UNCOUNTED) return { pods: going, isCut: true }
  }
  return { pods: going, isCut: false }
}

function end(status: JobStatus, decision: JobCondition, now: Date): void {
  const type = decision.type === 'FailureTarget' ? 'Failed' : 'Complete'
  const condition = newJobCondition(type, 'True', decision.reason ?? '', decision.message ?? '', now)
  status.conditions = [...(status.conditions ?? []), condition]
  if (type === 'Complete') status.completionTime = timeText(now)
}
