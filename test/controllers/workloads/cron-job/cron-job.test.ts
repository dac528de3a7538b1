import { beforeEach, describe, expect, test } from 'vitest'
import type { CronJob, CronJobSpec, Job } from '../../../../src/api/batch/v1.ts'
import type { Clientset } from '../../../../src/controllers/client/clientset.ts'
import { typedResource } from '../../../../src/controllers/client/clientset.ts'
import { byStart } from '../../../../src/controllers/workloads/cron-job/cron-job.ts'
import { cronTimes, mostRecent } from '../../../../src/controllers/workloads/cron-job/cron-times.ts'
import { JOBS } from '../../../../src/controllers/workloads/job/kind.ts'
import type { Event } from '../../../../src/api/core/v1.ts'
import type { ControlPlaneInMemory } from '../../control-plane.ts'
import { EVENTS, newsIn } from '../../control-plane.ts'
import { keepingFromDeletion } from '../../keep-from-deletion.ts'
import { SimulatedPlane } from '../simulated-plane.ts'
import { named } from '../../../../src/controllers/client/resource-client.ts'

const CRON_JOBS = typedResource<CronJob>('batch', 'cronjobs')

describe('a schedule', () => {
  test.each<[string, string | undefined, string, string | undefined]>([
    ['* * * * *', undefined, '2026-01-01T00:00:00Z', '2026-01-01T00:01:00Z'],
    ['*/15 * * * *', undefined, '2026-01-01T00:16:30Z', '2026-01-01T00:30:00Z'],
    ['0 9-17/4 * * *', undefined, '2026-01-01T10:00:00Z', '2026-01-01T13:00:00Z'],
    ['30 8 * * mon-fri', undefined, '2026-01-02T09:00:00Z', '2026-01-05T08:30:00Z'],
    ['0 0 29 feb *', undefined, '2026-01-01T00:00:00Z', '2028-02-29T00:00:00Z'],
    // either of them, where both are said
    ['0 0 13 * 5', undefined, '2026-02-01T00:00:00Z', '2026-02-06T00:00:00Z'],
    ['0 0 30 2 *', undefined, '2026-01-01T00:00:00Z', undefined],
    ['@daily', undefined, '2026-01-01T12:00:00Z', '2026-01-02T00:00:00Z'],
    ['@every 1h30m', undefined, '2026-01-01T00:00:00Z', '2026-01-01T01:30:00Z'],
    ['0 9 * * *', 'Europe/Berlin', '2026-01-01T00:00:00Z', '2026-01-01T08:00:00Z'],
    ['0 9 * * *', 'Europe/Berlin', '2026-07-01T00:00:00Z', '2026-07-01T07:00:00Z'],
    // the clock goes from 2 to 3
    ['30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-30T00:30:00Z'],
    // the clock goes from 3 back to 2, so that the hour comes twice
    ['30 2 * * *', 'Europe/Berlin', '2026-10-25T00:00:00Z', '2026-10-25T00:30:00Z'],
    ['30 2 * * *', 'Europe/Berlin', '2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'],
    ['30 2 * * *', 'Europe/Berlin', '2026-10-25T01:30:00Z', '2026-10-26T01:30:00Z'],
    ['@hourly', 'America/New_York', '2026-11-01T05:00:00Z', '2026-11-01T06:00:00Z'],
    ['*/20 * * * *', 'America/New_York', '2026-11-01T05:40:00Z', '2026-11-01T06:00:00Z'],
    // half an hour, and a day that begins at 1
    ['0 2 * * *', 'Australia/Lord_Howe', '2026-04-04T14:30:00Z', '2026-04-05T15:30:00Z'],
    ['*/30 * 6 9 *', 'America/Santiago', '2026-09-01T00:00:00Z', '2026-09-06T04:00:00Z'],
    ['TZ=Asia/Tokyo 0 0 * * *', undefined, '2026-01-01T00:00:00Z', '2026-01-01T15:00:00Z'],
  ])('%s in %s is due after %s at %s', (schedule, zone, after, expected) => {
    const time = cronTimes(schedule, zone)(Date.parse(after))
    expect(time === undefined ? undefined : new Date(time).toISOString().replace('.000', '')).toBe(expected)
  })

  test('that was missed for long is due once, for the last time', () => {
    const [from, now] = [Date.parse('2026-01-01T00:00:00Z'), Date.parse('2026-01-02T00:00:30Z')]
    expect(mostRecent(cronTimes('* * * * *'), from, now)).toEqual({
      time: Date.parse('2026-01-02T00:00:00Z'),
      isManyMissed: true,
    })
    expect(mostRecent(cronTimes('0 12 * * *'), from, now)).toMatchObject({ isManyMissed: false })
    expect(mostRecent(cronTimes('0 0 1 2 *'), from, now).time).toBeUndefined()
  })
})

let plane: ControlPlaneInMemory
let clients: Clientset

beforeEach(async () => {
  ;({ plane, clients } = await SimulatedPlane.start('n'))
})

async function create(spec: CronJobSpec = {}, annotations: Record<string, string> = {}): Promise<void> {
  await clients.resource(CRON_JOBS, 'default').create({
    kind: 'CronJob',
    apiVersion: 'batch/v1',
    metadata: { name: 'tick', namespace: 'default' },
    spec: {
      schedule: '* * * * *',
      jobTemplate: {
        spec: {
          template: {
            metadata: { annotations },
            spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
          },
        },
      },
      ...spec,
    },
  })
  await plane.settle()
}

const cronJob = () => clients.resource(CRON_JOBS, 'default').get('tick')
const jobs = async () => (await clients.resource(JOBS, 'default').list()).map(({ metadata }) => metadata.name)
/** Minutes and a moment. */
async function pass(minutes: number): Promise<void> {
  for (let at = 0; at < minutes * 60; at += 10) await plane.pass(10_000)
  await plane.pass(1_000)
}
const FIRST = Date.parse('2026-01-01T00:01:00Z') / 60_000

describe('a CronJob', () => {
  test('makes a Job each time that it is due, and forgets the older ones', async () => {
    await create()
    expect(await jobs()).toEqual([])
    await pass(1)
    expect(await jobs()).toEqual([`tick-${FIRST}`])
    expect((await cronJob())?.status).toMatchObject({
      lastScheduleTime: '2026-01-01T00:01:00Z',
      lastSuccessfulTime: '2026-01-01T00:01:01Z',
    })
    await pass(5)
    expect(await jobs()).toHaveLength(3)
    expect((await cronJob())?.status?.active).toBeUndefined()
  })

  test.each([
    ['Allow', 2],
    ['Forbid', 1],
    ['Replace', 1],
  ])('may let its Jobs run side by side: %s', async (concurrencyPolicy, running) => {
    await create({ concurrencyPolicy }, { 'kedge.dev/duration': '1h' })
    await pass(1)
    const first = await jobs()
    await pass(1)
    expect((await cronJob())?.status?.active).toHaveLength(running)
    expect((await jobs())[0] === first[0]).toBe(concurrencyPolicy !== 'Replace')
  })

  test('starts no other Job beside one that was taken from it and is still there', async () => {
    await create({ concurrencyPolicy: 'Forbid' }, { 'kedge.dev/duration': '1h' })
    await pass(1)
    const [name = ''] = await jobs()
    await clients.resource(JOBS, 'default').updateWithRetries(named(name), (job) => {
      delete job.metadata.ownerReferences
    })
    await pass(2)
    expect(await jobs()).toEqual([name])
    expect((await cronJob())?.status?.active).toMatchObject([{ name }])
    await clients.resource(JOBS, 'default').delete((await clients.resource(JOBS, 'default').get(name))!)
    await pass(1)
    expect(await jobs()).toEqual([`tick-${FIRST + 3}`])
  })

  test('that is suspended makes none, and sleeps', async () => {
    await create({ suspend: true })
    await pass(3)
    expect(await jobs()).toEqual([])
    expect(plane.waiting).toEqual([])
  })

  test.each([
    [
      '0 0 31 2 *',
      ['InvalidSchedule: invalid schedule: 0 0 31 2 * : time difference between two schedules is less than 1 second'],
    ],
    [
      'TZ=Europe/Zurich 0 9 * * *',
      [
        'UnsupportedSchedule: CRON_TZ or TZ used in schedule "TZ=Europe/Zurich 0 9 * * *" is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details',
      ],
    ],
  ])('with the schedule %s is warned of', async (schedule, said) => {
    // kube-apiserver takes no new ones with a zone in the schedule
    await plane.server.put('batch', 'cronjobs', {
      kind: 'CronJob',
      apiVersion: 'batch/v1',
      metadata: { name: 'tick', namespace: 'default', creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: { schedule, jobTemplate: {} },
    })
    plane.add('cron-job', 'default/tick', 0)
    await plane.settle()
    const events: Event[] = await (await plane.client(EVENTS, 'default')).list()
    expect(newsIn(events).map(({ type, reason, message }) => `${type} ${reason}: ${message}`)).toEqual(
      said.map((text) => `Warning ${text}`),
    )
  })

  describe('whose Jobs a policy keeps from deletion', () => {
    beforeEach(() => keepingFromDeletion(plane).keep(JOBS, `request.name != 'tick-${FIRST}'`))

    const said = async () => {
      const events: Event[] = await (await plane.client(EVENTS, 'default')).list()
      return events
        .filter(({ reason }) => /Delete$/.test(reason ?? ''))
        .map(({ type, reason, message }) => `${type} ${reason}: ${message}`)
    }
    const refused = `Warning FailedDelete: Deleted job: jobs.batch "tick-${FIRST}" is forbidden: ValidatingAdmissionPolicy 'keep' with binding 'keep' denied request: kept`

    test('deletes the others beyond its history, and makes new ones', async () => {
      await create({ successfulJobsHistoryLimit: 0 })
      await pass(3)
      expect(await jobs()).toEqual([`tick-${FIRST}`])
      expect((await said()).sort()).toEqual([
        `Normal SuccessfulDelete: Deleted job tick-${FIRST + 1}`,
        `Normal SuccessfulDelete: Deleted job tick-${FIRST + 2}`,
        refused,
      ])
    })

    test('replaces none of them', async () => {
      await create({ concurrencyPolicy: 'Replace' }, { 'kedge.dev/duration': '1h' })
      await pass(1)
      await expect(pass(1)).rejects.toThrow('kept')
      expect(await jobs()).toEqual([`tick-${FIRST}`])
      expect((await cronJob())?.status?.active).toMatchObject([{ name: `tick-${FIRST}` }])
      expect(await said()).toEqual([refused])
    })
  })

  test('does not make up for what is too late', async () => {
    await create({ suspend: true, startingDeadlineSeconds: 10, schedule: '0 * * * *' })
    await pass(90)
    await clients
      .resource(CRON_JOBS, 'default')
      .updateWithRetries(named('tick'), ({ spec }) => void (spec!.suspend = false))
    await plane.settle()
    expect(await jobs()).toEqual([])
  })
})

test('the oldest Jobs go first, of equal age by name, and those that never started last', () => {
  const job = (name: string, startTime?: string): Job => ({
    metadata: { name },
    status: startTime === undefined ? {} : { startTime },
  })
  const [early, late] = ['2026-01-01T00:00:00Z', '2026-01-01T00:01:00Z']
  const jobs = [job('never-b'), job('b', early), job('late', late), job('never-a'), job('a', early), job('c', early)]
  const oldestFirst = ['a', 'b', 'c', 'late', 'never-a', 'never-b']
  for (const some of [jobs, jobs.toReversed()])
    expect(some.sort(byStart).map(({ metadata }) => metadata.name)).toEqual(oldestFirst)
})
