import { beforeEach, describe, expect, test } from 'vitest'
import type { Job, JobSpec } from '../../../../src/api/batch/v1.ts'
import type { Event, Pod } from '../../../../src/api/core/v1.ts'
import type { Clientset } from '../../../../src/controllers/client/clientset.ts'
import { JOBS } from '../../../../src/controllers/workloads/job/kind.ts'
import { Indexes } from '../../../../src/controllers/workloads/job/indexes.ts'
import { jobState } from '../../../../src/controllers/workloads/job/state.ts'
import { PODS } from '../../../../src/controllers/workloads/pods/pod-control.ts'
import type { ControlPlaneInMemory } from '../../control-plane.ts'
import { EVENTS } from '../../control-plane.ts'
import { keepingFromDeletion } from '../../keep-from-deletion.ts'
import { SimulatedPlane } from '../simulated-plane.ts'
import { named } from '../../../../src/controllers/client/resource-client.ts'

let plane: ControlPlaneInMemory
let clients: Clientset

beforeEach(async () => {
  ;({ plane, clients } = await SimulatedPlane.start('n'))
})

async function run(spec: JobSpec = {}, annotations: Record<string, string> = {}): Promise<void> {
  await clients.resource(JOBS, 'default').create({
    kind: 'Job',
    apiVersion: 'batch/v1',
    metadata: { name: 'work', namespace: 'default' },
    spec: {
      template: {
        metadata: { annotations },
        spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
      },
      ...spec,
    },
  })
  await plane.settle()
}

const job = (): Promise<Job | undefined> => clients.resource(JOBS, 'default').get('work')
/** Its counts; what is 0 is not stored. */
const counts = async () => ({ active: 0, ...(await job())?.status })
const pods = () => clients.resource(PODS, 'default').list()
const conditions = async () =>
  ((await job())?.status?.conditions ?? [])
    .filter(({ status }) => status === 'True')
    .map(({ type, reason }) => `${type} ${reason}`)
/** Seconds, one after the other. */
async function pass(seconds: number): Promise<void> {
  for (let at = 0; at < seconds; at++) await plane.pass(1_000)
}
const COMPLETE = ['SuccessCriteriaMet CompletionsReached', 'Complete CompletionsReached']

test('a Job that replaces failed pods alone learns that a deleted pod has ended', async () => {
  await run({ podReplacementPolicy: 'Failed' }, { 'kedge.dev/duration': '1h' })
  const [first] = await pods()
  await clients.resource(PODS, 'default').delete(first!, {})
  await pass(40)
  expect(await counts()).toMatchObject({ active: 1, failed: 1 })
  const others = await pods()
  expect(others.map(({ metadata, status }) => [metadata.uid === first!.metadata.uid, status?.phase])).toEqual([
    [false, 'Running'],
  ])
})

describe('a Job that has to stop pods of which one is kept', () => {
  beforeEach(async () => {
    await run({ parallelism: 3, completions: 3 }, { 'kedge.dev/duration': '1h' })
    const first = (await pods())[0]!
    await keepingFromDeletion(plane).keep(PODS, `request.name != '${first.metadata.name}'`)
  })

  const stopping = async () => (await pods()).filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
  const setSpec = (spec: JobSpec) =>
    clients.resource(JOBS, 'default').patch(named('work'), 'application/merge-patch+json', { spec })
  /** The controller fails as long as the pod is kept. */
  const passInVain = async (seconds: number) => {
    for (let at = 0; at < seconds; at += 10) await plane.pass(10_000).catch(() => {})
  }

  test('stops the others, and ends when it may stop that one, too', async () => {
    await setSpec({ activeDeadlineSeconds: 1 })
    await passInVain(40)
    expect(await stopping()).toEqual([])
    expect(await counts()).toMatchObject({ active: 1, failed: 2 })
    expect(await conditions()).toEqual([])
    await keepingFromDeletion(plane).letGo()
    await passInVain(120)
    expect(await counts()).toMatchObject({ active: 0, failed: 3 })
    expect(await conditions()).toEqual(['FailureTarget DeadlineExceeded', 'Failed DeadlineExceeded'])
  })

  test('is suspended with the others', async () => {
    await setSpec({ suspend: true })
    await passInVain(40)
    expect(await counts()).toMatchObject({ active: 1 })
    expect(await conditions()).toEqual(['Suspended JobSuspended'])
    expect(await pods()).toHaveLength(1)
  })
})

describe('a Job', () => {
  test('completes when its pod does, which is counted once', async () => {
    await run()
    expect(await conditions()).toEqual(COMPLETE)
    expect(await counts()).toMatchObject({ succeeded: 1, active: 0, ready: 0, terminating: 0 })
    expect((await job())?.status?.uncountedTerminatedPods).toEqual({})
    expect((await pods()).map(({ metadata }) => metadata.finalizers)).toEqual([undefined])
    expect(plane.waiting).toEqual([])
  })

  test('runs as many pods side by side as it may, until enough have succeeded', async () => {
    await run({ completions: 5, parallelism: 2 }, { 'kedge.dev/duration': '10s' })
    expect(await counts()).toMatchObject({ active: 2, ready: 2 })
    await pass(12)
    expect(await counts()).toMatchObject({ active: 2, succeeded: 2 })
    await pass(25)
    expect(await counts()).toMatchObject({ active: 0, succeeded: 5 })
    expect(await conditions()).toEqual(COMPLETE)
  })

  test('tries again, later and later, until its limit', async () => {
    await run({ backoffLimit: 2 }, { 'kedge.dev/exit-code': '1' })
    expect(await counts()).toMatchObject({ failed: 1, active: 0 })
    await pass(9)
    expect(await pods()).toHaveLength(1)
    await pass(2)
    expect(await pods()).toHaveLength(2)
    await pass(25)
    expect(await conditions()).toEqual(['FailureTarget BackoffLimitExceeded', 'Failed BackoffLimitExceeded'])
    expect(await counts()).toMatchObject({ failed: 3 })
    expect(plane.waiting).toEqual([])
  })

  test('ends when it has run for too long', async () => {
    await run({ activeDeadlineSeconds: 30 }, { 'kedge.dev/duration': '1h' })
    await pass(32)
    expect(await conditions()).toEqual(['FailureTarget DeadlineExceeded', 'Failed DeadlineExceeded'])
    expect(await counts()).toMatchObject({ active: 0, failed: 1 })
  })

  test('that is suspended has no pods, and starts when it is resumed', async () => {
    await run({ suspend: true })
    expect(await conditions()).toEqual(['Suspended JobSuspended'])
    expect((await job())?.status?.startTime).toBeUndefined()
    expect(await pods()).toEqual([])
    await clients.resource(JOBS, 'default').updateWithRetries(named('work'), ({ spec }) => void (spec!.suspend = false))
    await plane.settle()
    expect(await conditions()).toEqual(COMPLETE)
  })

  test('that is suspended in the middle stops its pods, which are no failures', async () => {
    await run({}, { 'kedge.dev/duration': '1h' })
    await clients.resource(JOBS, 'default').updateWithRetries(named('work'), ({ spec }) => void (spec!.suspend = true))
    await plane.settle()
    expect(await pods()).toEqual([])
    expect(await counts()).toMatchObject({ active: 0 })
    expect((await job())?.status?.failed).toBeUndefined()
  })

  test('with indexes gives each pod its own, and tells which are done', async () => {
    await run({ completions: 4, parallelism: 4, completionMode: 'Indexed' })
    expect(await counts()).toMatchObject({ succeeded: 4, completedIndexes: '0-3' })
    const made = await pods()
    expect(made.map(({ spec }) => spec?.hostname).sort()).toEqual(['work-0', 'work-1', 'work-2', 'work-3'])
    expect(made[0]?.spec?.containers?.[0]?.env?.[0]?.name).toBe('JOB_COMPLETION_INDEX')
    expect(await conditions()).toEqual(COMPLETE)
  })

  test('with a limit for each index fails with the indexes that failed', async () => {
    await run(
      { completions: 2, parallelism: 2, completionMode: 'Indexed', backoffLimitPerIndex: 1 },
      { 'kedge.dev/exit-code': '1' },
    )
    await pass(15)
    expect(await counts()).toMatchObject({ failedIndexes: '0,1', failed: 4 })
    expect(await conditions()).toEqual(['FailureTarget FailedIndexes', 'Failed FailedIndexes'])
  })

  test.each([
    ['FailJob', ['FailureTarget PodFailurePolicy', 'Failed PodFailurePolicy'], 1],
    ['Ignore', [], undefined],
  ])('judges a failure by its policy: %s', async (action, expected, failed) => {
    await run(
      { podFailurePolicy: { rules: [{ action, onExitCodes: { operator: 'In', values: [42] } }] } },
      { 'kedge.dev/exit-code': '42' },
    )
    expect(await conditions()).toEqual(expected)
    expect((await job())?.status?.failed).toBe(failed)
  })

  test('succeeds when its policy says that enough has', async () => {
    await run(
      {
        completions: 3,
        parallelism: 1,
        completionMode: 'Indexed',
        successPolicy: { rules: [{ succeededIndexes: '0' }] },
      },
      { 'kedge.dev/duration': '5s' },
    )
    await pass(8)
    expect(await conditions()).toEqual(['SuccessCriteriaMet SuccessPolicy', 'Complete SuccessPolicy'])
    expect(await counts()).toMatchObject({ completedIndexes: '0', active: 0 })
  })

  test('goes when its time after the end is over', async () => {
    await run({ ttlSecondsAfterFinished: 60 })
    await pass(59)
    expect(await job()).toBeDefined()
    await pass(3)
    expect((await job())?.metadata.deletionTimestamp ?? 'gone').toBeDefined()
    expect(plane.waiting.filter((work) => work.startsWith('job '))).toEqual([])
  })

  test('that is deleted lets its pods go', async () => {
    await run({}, { 'kedge.dev/duration': '100000' })
    await clients.resource(JOBS, 'default').delete(named('work'), { propagationPolicy: 'Background' })
    await pass(5)
    expect(await pods()).toEqual([])
  })

  test.each(['Background', 'Orphan', 'Foreground'])(
    'that is deleted (%s) and made again lets its pods go',
    async (policy) => {
      await run({}, { 'kedge.dev/duration': '100000' })
      const [old] = await pods()
      await clients.resource(JOBS, 'default').delete(named('work'), { propagationPolicy: policy })
      if (policy !== 'Background') await pass(40)
      await run({}, { 'kedge.dev/duration': '100000' })
      await pass(40)
      const left = await pods()
      const isOld = ({ metadata }: (typeof left)[number]) => metadata.uid === old?.metadata.uid
      // orphans run on, and nothing holds them back
      expect(left.filter(isOld).map(({ metadata }) => metadata.finalizers)).toEqual(
        policy === 'Orphan' ? [undefined] : [],
      )
      expect(left.filter((pod) => !isOld(pod)).map(({ metadata }) => metadata.finalizers)).toEqual([
        ['batch.kubernetes.io/job-tracking'],
      ])
      if (policy !== 'Orphan') return
      await clients.resource(PODS, 'default').delete(named(old?.metadata.name ?? ''))
      await pass(40)
      expect((await pods()).filter(isOld)).toEqual([])
    },
  )

  test.each([
    ['of another kind', { kind: 'Other', apiVersion: 'example.com/v1' }],
    ['that somebody else manages', { kind: 'Job', apiVersion: 'batch/v1' }],
  ])('pods of an owner %s keep the finalizer', async (_, owner) => {
    await run({ managedBy: 'example.com/other' })
    const { uid = '' } = (await job())?.metadata ?? {}
    await plane.create(PODS, {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: {
        name: 'p',
        namespace: 'default',
        finalizers: ['batch.kubernetes.io/job-tracking'],
        ownerReferences: [{ ...owner, name: 'work', uid, controller: true }],
      },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    })
    await clients.resource(PODS, 'default').delete(named('p'))
    await pass(5)
    expect((await pods()).map(({ metadata }) => metadata.finalizers)).toEqual([['batch.kubernetes.io/job-tracking']])
  })

  test('waits longer each time that it loses a pod, though nothing is left of the pod', async () => {
    await run({}, { 'kedge.dev/duration': '100000' })
    const waits: number[] = []
    for (let round = 0; round < 3; round++) {
      const [pod] = await pods()
      await clients.resource(PODS, 'default').delete(named(pod?.metadata.name ?? ''), { gracePeriodSeconds: 0 })
      await plane.settle()
      let seconds = 0
      while ((await pods()).filter(({ metadata }) => metadata.uid !== pod?.metadata.uid).length === 0) {
        await pass(1)
        if (++seconds > 100) break
      }
      waits.push(seconds)
    }
    // as observed at kube-controller-manager
    expect(waits).toEqual([10, 20, 40])
    expect(await counts()).toMatchObject({ failed: 3, active: 1 })
    expect([...plane.sightings.keys()].filter((key) => key.startsWith('back-off/'))).toEqual(['back-off/default/work'])
    await clients.resource(JOBS, 'default').delete(named('work'), { propagationPolicy: 'Background' })
    await pass(5)
    expect([...plane.sightings.keys()].filter((key) => key.startsWith('back-off/'))).toEqual([])
  })

  test('of another controller is left alone', async () => {
    await run({ managedBy: 'example.com/other' })
    expect(await pods()).toEqual([])
  })

  test.each([
    ['goes when its time after the end is over', true],
    ['stays when nobody knows when it ended', false],
  ])('of another controller %s', async (_, isKnown) => {
    await run({ managedBy: 'example.com/other', ttlSecondsAfterFinished: 10 })
    const time = plane.now.toISOString().replace(/\.\d+Z/, 'Z')
    const isTrue = { status: 'True', lastProbeTime: time, ...(isKnown ? { lastTransitionTime: time } : {}) }
    const ended = ['SuccessCriteriaMet', 'Complete'].map((type) => ({ type, ...isTrue }))
    await clients.resource(JOBS, 'default').updateStatusWithRetries(named('work'), (object) => {
      object.status = { startTime: time, completionTime: time, conditions: ended }
    })
    await pass(9)
    expect(await job()).toBeDefined()
    await pass(5)
    expect((await job()) === undefined).toBe(isKnown)
  })

  test('that is deleted ends all the same, which its finalizer may wait for', async () => {
    await run({ parallelism: 2 }, { 'kedge.dev/duration': '1h' })
    const finish = async (pod: Pod | undefined) => {
      await clients.resource(PODS, 'default').updateWithRetries(named(pod?.metadata.name ?? ''), ({ metadata }) => {
        metadata.annotations = { 'kedge.dev/duration': '1s' }
      })
      await pass(3)
    }
    const [first, second] = await pods()
    await finish(first)
    const jobs = clients.resource(JOBS, 'default')
    await jobs.updateWithRetries(named('work'), ({ metadata }) => void (metadata.finalizers = ['example.com/queue']))
    await jobs.delete(named('work'), { propagationPolicy: 'Background' })
    await pass(1)
    expect([await conditions(), await counts()]).toMatchObject([[], { succeeded: 1, active: 1 }])
    await finish(second)
    expect([await conditions(), await counts()]).toMatchObject([COMPLETE, { succeeded: 1, active: 0 }])
  })

  test('stops the pod that is ready for the shortest time, whatever its deletion cost', async () => {
    await run({ parallelism: 1, completions: 9 }, { 'kedge.dev/duration': '1h' })
    const [first] = await pods()
    const { name = '' } = first!.metadata
    await clients.resource(PODS, 'default').updateWithRetries(named(name), ({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, 'controller.kubernetes.io/pod-deletion-cost': '-100' }
    })
    await pass(100)
    const scale = async (parallelism: number) => {
      await clients
        .resource(JOBS, 'default')
        .updateWithRetries(named('work'), ({ spec }) => void (spec!.parallelism = parallelism))
      await pass(1)
    }
    await scale(2)
    await pass(20)
    expect(await pods()).toHaveLength(2)
    await scale(1)
    expect((await pods()).map(({ metadata }) => metadata.name)).toEqual([name])
  })

  test('that replaces only failed pods gives no other pod the index of one that is being deleted', async () => {
    await run(
      { parallelism: 2, completions: 4, completionMode: 'Indexed', podReplacementPolicy: 'Failed' },
      { 'kedge.dev/duration': '1h', 'kedge.dev/stop-delay': '25s' },
    )
    const indexes = async () => (await pods()).map(({ spec }) => spec?.hostname).sort()
    const first = (await pods()).find(({ spec }) => spec?.hostname === 'work-0')
    await clients.resource(PODS, 'default').delete(named(first?.metadata.name ?? ''))
    await clients.resource(JOBS, 'default').updateWithRetries(named('work'), ({ spec }) => void (spec!.parallelism = 3))
    await pass(3)
    expect(await indexes()).toEqual(['work-0', 'work-1', 'work-2'])
  })

  test('tells of more pods that succeeded than it wants', async () => {
    const labels = { app: 'old' }
    for (const name of ['a', 'b'])
      await plane.create(PODS, {
        kind: 'Pod',
        apiVersion: 'v1',
        metadata: { name, namespace: 'default', labels, annotations: { 'kedge.dev/duration': '1s' } },
        spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
      })
    await pass(3)
    const template = { metadata: { labels }, spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }
    await run({ manualSelector: true, selector: { matchLabels: labels }, template })
    await pass(3)
    expect(await counts()).toMatchObject({ succeeded: 2 })
    const events: Event[] = await (await plane.client(EVENTS, 'default')).list()
    expect(events.filter(({ involvedObject }) => involvedObject?.kind === 'Job').map(({ reason }) => reason)).toEqual(
      expect.arrayContaining(['TooManySucceededPods', 'Completed']),
    )
  })

  test('keeps the last failed pod of an index, also of failures that do not count', () => {
    const failed = (name: string, ignored: number): Pod => ({
      metadata: {
        name,
        uid: name,
        creationTimestamp: `2026-01-01T00:0${ignored}:00Z`,
        finalizers: ['batch.kubernetes.io/job-tracking'],
        annotations: {
          'batch.kubernetes.io/job-completion-index': '0',
          'batch.kubernetes.io/job-index-failure-count': '0',
          'batch.kubernetes.io/job-index-ignored-failure-count': String(ignored),
        },
      },
      status: { phase: 'Failed' },
    })
    const spec = { completions: 1, completionMode: 'Indexed', backoffLimitPerIndex: 3 }
    for (const all of [
      [failed('a', 1), failed('b', 0)],
      [failed('b', 0), failed('a', 1)],
    ])
      expect(jobState({ metadata: {}, spec }, all, plane.now).delayed.get(0)?.metadata.name).toBe('a')
  })
})

test.each([
  ['of its own counts', '1', 'BackoffLimitExceeded'],
  ['beyond its completions does not count', '2', undefined],
  ['that is none does not count', 'x', undefined],
  ['that is missing does not count', undefined, undefined],
])('a failed pod with an index %s for an indexed Job', (_name, index, reason) => {
  const annotations: Record<string, string> =
    index === undefined ? {} : { 'batch.kubernetes.io/job-completion-index': index }
  const pod: Pod = {
    metadata: { name: 'p', uid: 'p', finalizers: ['batch.kubernetes.io/job-tracking'], annotations },
    status: { phase: 'Failed' },
  }
  const spec = { completions: 2, completionMode: 'Indexed', backoffLimit: 0 }
  const { decision, ended } = jobState({ metadata: {}, spec }, [pod], new Date(0))
  expect([decision?.reason, ended.failed.length]).toEqual([reason, reason === undefined ? 0 : 1])
})

test.each([
  ['', [], [0, 1, 2]],
  ['0', [0], [1, 2, 3]],
  ['0,1', [0, 1], [2, 3, 4]],
  ['1,3-5,7', [1, 3, 4, 5, 7], [0, 2, 6]],
  ['0-7', [0, 1, 2, 3, 4, 5, 6, 7], [8, 9]],
])('indexes %j', (text, indexes, next) => {
  const parsed = Indexes.parse(text, 10)
  expect([...Array(12).keys()].filter((index) => parsed.has(index))).toEqual(indexes)
  expect(parsed.size).toBe(indexes.length)
  expect(Indexes.of(indexes.toReversed()).text).toBe(text)
  expect(parsed.missing(3, 10)).toEqual(next)
  expect(parsed.common(Indexes.parse('1-4', 10))).toBe(indexes.filter((index) => index >= 1 && index <= 4).length)
})

test('two billion indexes take no more than two', async () => {
  const rules = [{ succeededIndexes: '0-1999999998', succeededCount: 2 }]
  await run({ completions: 2_000_000_000, parallelism: 2, completionMode: 'Indexed', successPolicy: { rules } })
  await pass(2)
  expect(await counts()).toMatchObject({ completedIndexes: '0,1', succeeded: 2 })
  expect(await conditions()).toEqual(['SuccessCriteriaMet SuccessPolicy', 'Complete SuccessPolicy'])
  const all = Indexes.parse('0-999999999', 2_000_000_000)
  expect([all.size, all.text, all.missing(2, 2_000_000_000)]).toEqual([1e9, '0-999999999', [1e9, 1e9 + 1]])
})

test('a Job takes in a pod that has no owner, and lets go of one that it selects no more', async () => {
  await run({ parallelism: 2, completions: 4 }, { 'kedge.dev/duration': '1h' })
  const [first] = await pods()
  const { name = '', labels = {}, uid } = first!.metadata
  const tracked = ['batch.kubernetes.io/job-tracking']
  await clients.resource(PODS, 'default').updateWithRetries(named(name), ({ metadata }) => {
    delete metadata.ownerReferences
  })
  await plane.settle()
  expect((await clients.resource(PODS, 'default').get(name))?.metadata).toMatchObject({
    uid,
    finalizers: tracked,
    ownerReferences: [{ kind: 'Job', name: 'work', controller: true }],
  })
  expect(await counts()).toMatchObject({ active: 2 })
  await clients.resource(PODS, 'default').updateWithRetries(named(name), ({ metadata }) => {
    metadata.labels = { left: labels['job-name'] ?? '' }
  })
  await plane.settle()
  const released = (await clients.resource(PODS, 'default').get(name))?.metadata
  expect([released?.ownerReferences ?? [], released?.finalizers ?? []]).toEqual([[], []])
  expect(await pods()).toHaveLength(3)
})
