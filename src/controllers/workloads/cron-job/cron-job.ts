/**
 * Creates the Jobs of CronJobs when they are due (kube-controller-manager's cronjob controller). Key: NAMESPACE/NAME.
 * The controller sleeps until the next Job is due.
 */
import type { CronJob, CronJobStatus, Job } from '../../../api/batch/v1.ts'
import type { ObjectReference } from '../../../api/core/v1.ts'
import { offsetOfZone } from '../../../base/time-zone.ts'
import { cloneJson } from '../../../json/clone-json.ts'
import { StatusError } from '../../../api/status.ts'
import { durationOf } from '../../../go/duration.ts'
import { goQuote } from '../../../go/quote.ts'
import { controllerRefOf } from '../../../registry/work/work.ts'
import { timeText } from '../../../schema/time.ts'
import { scheduleProblem } from '../../../validation/cron-schedule.ts'
import { timeZoneProblem } from '../../../validation/time-zones.ts'
import { clientsetFor, typedResource } from '../../client/clientset.ts'
import type { Controller } from '../../controller.ts'
import type { Judged, ResourceClient } from '../../client/resource-client.ts'
import { deleteIfThere } from '../../work/unless-gone.ts'
import type { Next } from './cron-times.ts'
import { cronTimes, mostRecent } from './cron-times.ts'
import { EventRecorder } from '../events/events.ts'
import { JOBS } from '../job/kind.ts'
import { isOver, jobCondition } from '../job/state.ts'
import { keyParts } from '../key.ts'
import { controllerRefTo } from '../pods/pod-control.ts'
import { sameJson } from '../same-json.ts'

const CRON_JOBS = typedResource<CronJob>('batch', 'cronjobs')
const COMPONENT = 'cronjob-controller'
const SCHEDULED = 'batch.kubernetes.io/cronjob-scheduled-timestamp'
/** Added to the wait, so that the Job is due when the controller runs. */
const SOON_MS = 100

interface Look {
  readonly cronJobs: ResourceClient<CronJob>
  readonly jobs: ResourceClient<Job>
  readonly events: EventRecorder
  readonly now: Date
}

export const cronJobController: Controller = {
  async reconcile(key, context) {
    const [namespace, name] = keyParts(key)
    const clients = clientsetFor(context, COMPONENT)
    const cronJobs = clients.resource(CRON_JOBS, namespace)
    const found = await cronJobs.get(name)
    if (found?.spec === undefined) return undefined
    const jobs = clients.resource(JOBS, namespace)
    const look = { cronJobs, jobs, events: new EventRecorder(clients, COMPONENT, context.now), now: context.now() }
    const cronJob = cloneJson(found)
    const owned = await jobs.list({ owner: found.metadata.uid ?? '' })
    await tellEnded(look, cronJob, owned)
    let after: number | undefined
    try {
      after = await startDue(look, cronJob)
    } finally {
      const status = cronJob.status ?? {}
      if (!sameJson(withoutEmpty(status), withoutEmpty(found.status))) await cronJobs.updateStatus(cronJob)
      await cleanUp(look, cronJob, owned)
    }
    return after
  },
}

const withoutEmpty = ({ active = [], ...status }: CronJobStatus = {}) => ({
  ...status,
  ...(active.length === 0 ? {} : { active }),
})

/** Removes ended and deleted Jobs from status.active, with Events. */
async function tellEnded({ events, jobs }: Look, cronJob: CronJob, owned: readonly Job[]): Promise<void> {
  const status = (cronJob.status ??= {})
  const active = new Map((status.active ?? []).map((reference) => [reference.uid, reference]))
  for (const job of owned) {
    const { uid, name } = job.metadata
    if (!isOver(job)) {
      if (!active.has(uid))
        await events.warning(
          cronJob,
          'UnexpectedJob',
          `Saw a job that the controller did not create or forgot: ${name}`,
        )
      continue
    }
    const isComplete = jobCondition(job.status, 'Complete') !== undefined
    if (active.delete(uid)) {
      const message = `Saw completed job: ${name}, condition: ${isComplete ? 'Complete' : 'Failed'}`
      await events.normal(cronJob, 'SawCompletedJob', message)
    }
    const completed = isComplete ? job.status?.completionTime : undefined
    if (completed !== undefined && completed > (status.lastSuccessfulTime ?? '')) status.lastSuccessfulTime = completed
  }
  const there = new Set(owned.map(({ metadata }) => metadata.uid))
  for (const [uid, { name = '' }] of active) {
    // a Job that was taken from the CronJob may still run
    if (there.has(uid) || (await jobs.get(name)) !== undefined) continue
    active.delete(uid)
    await events.normal(cronJob, 'MissingJob', `Active job went missing: ${name}`)
  }
  status.active = [...active.values()]
}

/** @returns milliseconds until the next Job is due */
async function startDue(look: Look, cronJob: CronJob): Promise<number | undefined> {
  const { events, now } = look
  const { spec = {}, metadata } = cronJob
  if (metadata.deletionTimestamp !== undefined) return undefined
  const zoneProblem = spec.timeZone === undefined ? undefined : timeZoneProblem(spec.timeZone)
  if (zoneProblem !== undefined) {
    await events.warning(
      cronJob,
      'UnknownTimeZone',
      `invalid timeZone: ${goQuote(spec.timeZone ?? '')}: ${zoneProblem}`,
    )
    return undefined
  }
  if (spec.suspend === true) return undefined
  const problem = scheduleProblem(spec.schedule ?? '')
  if (problem !== undefined) {
    await events.warning(
      cronJob,
      'UnparseableSchedule',
      `unparseable schedule: ${goQuote(spec.schedule ?? '')} : ${problem}`,
    )
    return undefined
  }
  const next = cronTimes(spec.schedule ?? '', spec.timeZone)
  const since = Date.parse(cronJob.status?.lastScheduleTime ?? metadata.creationTimestamp ?? '')
  if (spec.schedule?.includes('TZ') === true)
    await events.warning(
      cronJob,
      'UnsupportedSchedule',
      `CRON_TZ or TZ used in schedule ${goQuote(spec.schedule)} is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details`,
    )
  // no time matches, as for the 31st of February
  if (next(now.getTime()) === undefined) {
    const message = `invalid schedule: ${spec.schedule} : time difference between two schedules is less than 1 second`
    await events.warning(cronJob, 'InvalidSchedule', message)
    return undefined
  }
  const { startingDeadlineSeconds: seconds } = spec
  const deadline = seconds === undefined ? Infinity : durationOf(seconds)
  const { time, isManyMissed } = mostRecent(next, Math.max(since, now.getTime() - deadline), now.getTime())
  if (isManyMissed)
    await events.warning(
      cronJob,
      'TooManyMissedTimes',
      'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
    )
  if (time !== undefined && time !== Date.parse(cronJob.status?.lastScheduleTime ?? ''))
    await start(look, cronJob, time)
  return untilNext(next, cronJob, now)
}

function untilNext(next: Next, { status, metadata }: CronJob, now: Date): number | undefined {
  const since = Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp ?? '')
  const due = next(Math.max(since, now.getTime()))
  return due === undefined ? undefined : Math.max(0, due - now.getTime()) + SOON_MS
}

async function start({ jobs, events }: Look, cronJob: CronJob, time: number): Promise<void> {
  const { spec = {} } = cronJob
  const status = (cronJob.status ??= {})
  const active = status.active ?? []
  const job = jobAt(cronJob, time)
  if (active.some(({ name }) => name === job.metadata.name)) return
  if (spec.concurrencyPolicy === 'Forbid' && active.length > 0) {
    const message = 'Not starting job because prior execution is running and concurrency policy is Forbid'
    await events.normal(cronJob, 'JobAlreadyActive', message)
    return
  }
  if (spec.concurrencyPolicy === 'Replace') {
    for (const [at, reference] of active.entries()) {
      const refusal = await remove({ jobs, events }, cronJob, { metadata: reference })
      if (refusal === undefined) continue
      status.active = active.slice(at)
      throw refusal
    }
    status.active = []
  }
  let created: Job
  try {
    created = await jobs.create(job)
    await events.normal(cronJob, 'SuccessfulCreate', `Created job ${created.metadata.name}`)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    if (error.status.reason !== 'AlreadyExists') {
      const isEnding = error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating')
      if (!isEnding) await events.warning(cronJob, 'FailedCreate', `Error creating job: ${error.message}`)
      throw error
    }
    // an earlier reconciliation created the Job and then failed
    const there = await jobs.get(job.metadata.name ?? '')
    if (there === undefined || controllerRefOf(there)?.uid !== cronJob.metadata.uid) return
    created = there
  }
  status.active = [...(status.active ?? []), referenceTo(created)]
  status.lastScheduleTime = timeText(new Date(time))
}

const referenceTo = ({ metadata: { name, namespace, uid, resourceVersion } }: Job): ObjectReference => ({
  kind: 'Job',
  apiVersion: 'batch/v1',
  ...(name === undefined ? {} : { name }),
  ...(namespace === undefined ? {} : { namespace }),
  ...(uid === undefined ? {} : { uid }),
  ...(resourceVersion === undefined ? {} : { resourceVersion }),
})

/** The Job for a time. Its name has the minute, so that no minute has two Jobs. */
function jobAt(cronJob: CronJob, time: number): Job {
  const { metadata, spec } = cronJob.spec?.jobTemplate ?? {}
  const { name = '', namespace = '' } = cronJob.metadata
  return cloneJson({
    kind: 'Job',
    apiVersion: 'batch/v1',
    metadata: {
      name: `${name}-${Math.floor(time / 60_000)}`,
      namespace,
      labels: { ...metadata?.labels },
      annotations: { ...metadata?.annotations, [SCHEDULED]: zoned(time, cronJob.spec?.timeZone) },
      ownerReferences: [controllerRefTo(cronJob, { group: 'batch', version: 'v1', kind: 'CronJob' })],
    },
    spec: spec ?? {},
  })
}

/** The time in RFC 3339, in the time zone. */
function zoned(time: number, zone: string | undefined): string {
  const utc = timeText(new Date(time))
  if (zone === undefined || zone === 'UTC') return utc
  const minutes = offsetOfZone(zone)(Math.floor(time / 1000)) / 60
  const [hour, minute] = [Math.abs(minutes) / 60, Math.abs(minutes) % 60].map((part) =>
    String(Math.floor(part)).padStart(2, '0'),
  )
  return timeText(new Date(time + minutes * 60_000)).replace(
    'Z',
    minutes === 0 ? 'Z' : `${minutes < 0 ? '-' : '+'}${hour}:${minute}`,
  )
}

/** @returns why the API refused it, after an Event about that; undefined where the Job is gone or was replaced */
async function remove(
  { jobs, events }: Pick<Look, 'jobs' | 'events'>,
  cronJob: CronJob,
  job: Judged,
): Promise<StatusError | undefined> {
  try {
    if ((await deleteIfThere(jobs, job, { propagationPolicy: 'Background' })) === 'gone') return undefined
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    await events.warning(cronJob, 'FailedDelete', `Deleted job: ${error.message}`)
    return error
  }
  await events.normal(cronJob, 'SuccessfulDelete', `Deleted job ${job.metadata.name}`)
  return undefined
}

/** Deletes ended Jobs beyond the history limits, and keeps the newest. It tries refused ones again at the next look. */
async function cleanUp(look: Look, cronJob: CronJob, owned: readonly Job[]): Promise<void> {
  const { successfulJobsHistoryLimit: successes = 3, failedJobsHistoryLimit: failures = 1 } = cronJob.spec ?? {}
  const ended = owned.filter((job) => isOver(job) && job.metadata.deletionTimestamp === undefined)
  for (const [type, limit] of [
    ['Complete', successes],
    ['Failed', failures],
  ] as const) {
    const ofType = ended.filter(({ status }) => jobCondition(status, type) !== undefined).sort(byStart) // few: two types
    for (const { metadata } of ofType.slice(0, Math.max(0, ofType.length - limit)))
      await remove(look, cronJob, { metadata })
  }
}

/** Sorts by the time of the start, then by name. Jobs that have not started come last. */
export function byStart(a: Job, b: Job): number {
  const [one, other] = [a, b].map(({ status }) => Date.parse(status?.startTime ?? '') || Infinity)
  if (one !== other) return one! < other! ? -1 : 1
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1
}
