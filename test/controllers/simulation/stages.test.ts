// Stages in the form of KWOK's, played with the pods of a simulated node.
import { describe, expect, test, vi } from 'vitest'
import type { Pod } from '../../../src/api/core/v1.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { PODS } from '../../../src/controllers/workloads/pods/pod-control.ts'
import { typedResource } from '../../../src/controllers/client/clientset.ts'
import { definition } from '../definition.ts'
import { SimulatedPlane } from '../workloads/simulated-plane.ts'
import { named, ResourceClient } from '../../../src/controllers/client/resource-client.ts'
import { StatusError } from '../../../src/api/status.ts'
import { StorageError } from '../../../src/storage/errors.ts'
import { statusFor } from '../../../src/storage/storage-status.ts'

const STAGES = typedResource<KubeObject>('kwok.x-k8s.io', 'stages')

const established = definition('stages', 'kwok.x-k8s.io', { uid: 'stages' }) as unknown as { spec: object }
Object.assign(established.spec, {
  scope: 'Cluster',
  versions: [
    {
      name: 'v1alpha1',
      served: true,
      storage: true,
      schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    },
  ],
})
Object.assign((established as unknown as { status: object }).status, { storedVersions: ['v1alpha1'] })

async function planeWith(...stages: readonly [name: string, spec: object][]): Promise<SimulatedPlane> {
  const plane = await SimulatedPlane.start('n')
  await plane.plane.server.put('apiextensions.k8s.io', 'customresourcedefinitions', established as never)
  for (const [name, spec] of stages) await writeStage(plane, name, spec)
  await plane.plane.settle()
  return plane
}

async function writeStage({ plane }: SimulatedPlane, name: string, spec: object): Promise<void> {
  const resourceRef = { apiGroup: 'v1', kind: 'Pod' }
  const stages = await plane.client(STAGES, '')
  await stages.create({
    kind: 'Stage',
    apiVersion: 'kwok.x-k8s.io/v1alpha1',
    metadata: { name },
    spec: { resourceRef, ...spec },
  } as KubeObject)
}

const run = async (plane: SimulatedPlane, metadata: object = {}): Promise<void> => {
  await plane.clients.resource(PODS, 'default').create({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'p', namespace: 'default', ...metadata },
    spec: {
      nodeName: 'n',
      containers: [
        { name: 'a', image: 'one' },
        { name: 'b', image: 'two' },
      ],
    },
  } as KubeObject & Pod)
  await plane.plane.settle()
}

const podOf = async (plane: SimulatedPlane): Promise<Pod | undefined> => (await plane.pods())[0]

const isMissing = (key: string) => ({ key, operator: 'DoesNotExist' })
const is = (key: string, ...values: string[]) => ({ key, operator: 'In', values })

const pending = {
  selector: { matchExpressions: [isMissing('.status.podIP'), isMissing('.metadata.deletionTimestamp')] },
  next: {
    event: { type: 'Normal', reason: 'Made', message: 'made by a stage' },
    statusTemplate: `
      {{ $now := Now }}
      conditions:
      - lastTransitionTime: {{ $now | Quote }}
        status: "False"
        type: Ready
      containerStatuses:
      {{ range .spec.containers }}
      - name: {{ .name | Quote }}
        image: {{ .image | Quote }}
        ready: false
        restartCount: 0
        state:
          waiting:
            reason: ContainerCreating
      {{ end }}
      hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
      podIP: {{ PodIPWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) | Quote }}
      podIPs:
      {{ range PodIPsWith .spec.nodeName }}
      - ip: {{ . | Quote }}
      {{ end }}
      phase: Pending
    `,
  },
}
const ready = {
  selector: {
    matchExpressions: [
      is('.status.phase', 'Pending'),
      { key: '.status.conditions.[] | select( .type == "Ready" ) | .status', operator: 'NotIn', values: ['True'] },
      { key: '.status.podIP', operator: 'Exists' },
    ],
  },
  delay: { durationMilliseconds: 3000, durationFrom: { expressionFrom: '.metadata.annotations["ready/after"]' } },
  next: {
    statusTemplate: `
      {{ $root := . }}
      conditions:
      - lastTransitionTime: {{ Now | Quote }}
        status: "True"
        type: Ready
      containerStatuses:
      {{ range $index, $item := .spec.containers }}
      {{ $origin := index $root.status.containerStatuses $index }}
      - name: {{ $origin.name }}
        image: {{ $item.image }}
        ready: true
        restartCount: 0
        state: { running: { startedAt: {{ Now | Quote }} } }
      {{ end }}
      phase: Running
    `,
  },
}

test('a pod goes from stage to stage, each after its delay', async () => {
  const plane = await planeWith(['made', pending], ['ready', ready])
  await run(plane)
  expect((await podOf(plane))?.status).toMatchObject({
    phase: 'Pending',
    podIP: '10.244.0.2',
    podIPs: [{ ip: '10.244.0.2' }],
    hostIP: '172.18.0.1',
    containerStatuses: [
      { name: 'a', state: { waiting: { reason: 'ContainerCreating' } } },
      { name: 'b', image: 'two' },
    ],
  })
  expect(await plane.said('Pod')).toContain('Normal kubelet Made: made by a stage')
  await plane.plane.pass(2_900)
  expect((await podOf(plane))?.status?.phase).toBe('Pending')
  await plane.plane.pass(200)
  const { status } = (await podOf(plane))!
  expect(status).toMatchObject({
    phase: 'Running',
    podIP: '10.244.0.2',
    containerStatuses: [
      { ready: true, state: { running: {} } },
      { name: 'b', image: 'two' },
    ],
  })
  await plane.plane.pass(60_000)
  expect(plane.plane.waiting).toEqual([])
  // and it goes as any other
  await plane.clients.resource(PODS, 'default').delete(named('p'))
  await plane.plane.settle()
  expect(await plane.pods()).toEqual([])
})

test('what a stage made of a pod stays, also where it would be otherwise without', async () => {
  const plane = await planeWith([
    'unready',
    {
      selector: { matchExpressions: [is('.status.phase', 'Pending')] },
      next: { statusTemplate: 'phase: Running\nconditions: [{ type: Ready, status: "False", reason: Staged }]' },
    },
  ])
  await run(plane)
  await plane.plane.pass(60_000)
  const { conditions = [] } = (await podOf(plane))!.status!
  expect(conditions.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'False', reason: 'Staged' })
})

test('the delay is what an expression says, where it finds something', async () => {
  const plane = await planeWith(['made', pending], ['ready', ready])
  await run(plane, { annotations: { 'ready/after': '1m30s' } })
  await plane.plane.pass(89_000)
  expect((await podOf(plane))?.status?.phase).toBe('Pending')
  await plane.plane.pass(2_000)
  expect((await podOf(plane))?.status?.phase).toBe('Running')
})

test('pods of before follow a stage that comes later, and others go on by themselves', async () => {
  const plane = await planeWith()
  await run(plane, { labels: { fails: 'true' } })
  expect((await podOf(plane))?.status?.phase).toBe('Running')
  await writeStage(plane, 'fail', {
    selector: { matchLabels: { fails: 'true' }, matchExpressions: [is('.status.phase', 'Running')] },
    next: { statusTemplate: 'phase: Failed\nreason: {{ or .metadata.labels.why "Chaos" }}\n' },
  })
  await plane.plane.settle()
  expect((await podOf(plane))?.status).toMatchObject({ phase: 'Failed', reason: 'Chaos' })
})

test('steps change finalizers and the pod itself, and delete it', async () => {
  const plane = await planeWith(
    [
      'all',
      {
        selector: { matchAnnotations: { go: 'yes' } },
        steps: [
          { finalizers: { add: [{ value: 'example.com/kept' }] } },
          { patch: { root: 'metadata', type: 'merge', template: 'labels: { seen: {{ .metadata.name }} }' } },
          { patch: { type: 'json', root: 'metadata', template: '- { op: remove, path: /annotations/go }' } },
          { delete: true },
          { event: { type: 'Warning', reason: 'Left', message: 'it goes' } },
        ],
      },
    ],
    [
      'gone',
      {
        selector: { matchExpressions: [{ key: '.metadata.deletionTimestamp', operator: 'Exists' }] },
        delay: { durationMilliseconds: 60_000 },
        next: { finalizers: { empty: true } },
      },
    ],
  )
  await run(plane, { annotations: { go: 'yes' } })
  const { metadata } = (await podOf(plane))!
  expect(metadata).toMatchObject({ labels: { seen: 'p' }, finalizers: ['example.com/kept'] })
  expect([metadata.annotations, metadata.deletionTimestamp]).toEqual([undefined, expect.any(String)])
  expect(await plane.said('Pod')).toContain('Warning kubelet Left: it goes')
  await plane.plane.pass(60_000)
  expect(await plane.pods()).toEqual([])
})

describe('what cannot be done', () => {
  test.each([
    ['makes no YAML', 'phase: [', 'what the template makes is no YAML'],
    ['fails in its template', '{{ index .status.missing 1 }}', 'index of what is no list and no map'],
    ['makes what no pod may be', 'phase: { not: a text }', 'stage wrong: '],
  ])('a stage that %s is told as an Event, once', async (_, statusTemplate, why) => {
    const plane = await planeWith(['wrong', { selector: {}, next: { statusTemplate } }])
    await run(plane)
    await plane.plane.pass(3_600_000)
    const said = (await plane.said('Pod')).filter((line) => line.includes('StageFailed'))
    expect(said).toHaveLength(1)
    expect(said[0]).toContain(why)
    expect(plane.plane.waiting).toEqual([])
  })
})

test.each([404, 409, 500])('a stage whose patch a webhook refuses with %i is told as an Event', async (code) => {
  const plane = await planeWith(['ends', { selector: {}, next: { statusTemplate: 'phase: Failed' } }])
  vi.spyOn(ResourceClient.prototype, 'patch').mockRejectedValueOnce(new StatusError(code, undefined, 'refused'))
  await run(plane)
  expect(await plane.said('Pod')).toEqual(['Warning kubelet StageFailed: stage ends: refused'])
})

test('a stage whose patch the storage did not take is played again', async () => {
  const plane = await planeWith(['ends', { selector: {}, next: { statusTemplate: 'phase: Failed' } }])
  const failed = statusFor(new StorageError('Failed'), { group: '', resource: 'pods' }, 'p')
  vi.spyOn(ResourceClient.prototype, 'patch').mockRejectedValueOnce(failed)
  await run(plane).catch((error: unknown) => expect(error).toBe(failed))
  await plane.plane.pass(60_000)
  expect((await podOf(plane))?.status?.phase).toBe('Failed')
  expect(await plane.said('Pod')).toEqual([])
})

test('a stage that comes back at once takes ten steps, and then one a second', async () => {
  const plane = await planeWith([
    'loop',
    {
      selector: {},
      next: {
        patches: [
          {
            root: 'metadata',
            template: 'annotations: { count: {{ add 1 (int (or .metadata.annotations.count 0)) | Quote }} }',
          },
        ],
      },
    },
  ])
  await run(plane)
  const count = async () => Number((await podOf(plane))?.metadata.annotations?.['count'])
  expect(await count()).toBe(10)
  for (let second = 0; second < 5; second++) await plane.plane.pass(1_000)
  expect(await count()).toBe(15)
})

test('of several stages one is drawn by weight, the same whenever it is looked at', async () => {
  const named = (weight: number, name: string) => ({
    selector: { matchExpressions: [isMissing('.metadata.labels.drawn')] },
    weight,
    weightFrom: { expressionFrom: `.metadata.annotations["${name}"]` },
    next: { patches: [{ root: 'metadata', template: `labels: { drawn: ${name} }` }] },
  })
  const plane = await planeWith(
    ['never', named(0, 'never')],
    ['often', named(3, 'often')],
    ['seldom', named(1, 'seldom')],
  )
  for (let index = 0; index < 40; index++) await run(plane, { name: `p-${index}` })
  const drawn = (await plane.pods()).map(({ metadata }) => metadata.labels?.['drawn'])
  const often = drawn.filter((name) => name === 'often').length
  expect(drawn.filter((name) => name === 'never' || name === undefined)).toEqual([])
  expect(often).toBeGreaterThan(20)
  expect(often).toBeLessThan(40)
  await run(plane, { name: 'one', annotations: { often: '0', never: '5', seldom: '0' } })
  expect((await plane.pods()).find(({ metadata }) => metadata.name === 'one')?.metadata.labels).toEqual({
    drawn: 'never',
  })
})

test('a Stage beyond those that are played has an Event that says so', async () => {
  const plane = await planeWith(['made', pending])
  for (let n = 0; n < 200; n++) await writeStage(plane, `many-${n}`, { resourceRef: { kind: 'Node' } })
  await writeStage(plane, 'zzz', ready)
  await run(plane)
  await plane.plane.pass(60_000)
  expect((await podOf(plane))?.status?.phase).toBe('Pending')
  expect(await plane.said('Stage')).toContain(
    'Warning simulated-kubelet StageNotPlayed: the first 200 Stages by name are played, as long as they have 1000000 characters together',
  )
})

/** As the Stages that keep nodes alive with KWOK: one that fills in a status, and one that renews it for ever. */
const ofNodes: [string, object][] = [
  [
    'node-initialize',
    {
      resourceRef: { apiGroup: 'v1', kind: 'Node' },
      selector: { matchExpressions: [{ key: '.status.conditions', operator: 'DoesNotExist' }] },
      next: { statusTemplate: 'phase: Running\naddresses: [{ type: InternalIP, address: {{ NodeIP | Quote }} }]' },
    },
  ],
  [
    'node-heartbeat',
    {
      resourceRef: { apiGroup: 'v1', kind: 'Node' },
      selector: { matchExpressions: [{ key: '.status.phase', operator: 'In', values: ['Running'] }] },
      delay: { durationMilliseconds: 20_000, jitterDurationMilliseconds: 25_000 },
      next: {
        statusTemplate:
          'conditions: [{{ range NodeConditions }}{ type: {{ .type }}, status: {{ .status | Quote }} },{{ end }}]',
      },
    },
  ],
]

test('Stages of Nodes keep nobody awake: a node is as it was, and nothing waits', async () => {
  const plane = await planeWith(...ofNodes)
  const node = async () => plane.plane.get({ group: '', resource: 'nodes' }, '', 'n')
  const before = await node()
  await run(plane)
  await plane.plane.pass(3_600_000)
  expect(await node()).toEqual(before)
  expect(plane.plane.waiting).toEqual([])
})

describe('hostile Stages', () => {
  const at = (place: string) => ({ matchExpressions: [is('.metadata.annotations.at', place)] })
  const goTo = (place: string) => ({ patches: [{ root: 'metadata', template: `annotations: { at: ${place} }` }] })
  const versionOf = async (plane: SimulatedPlane) => (await podOf(plane))!.metadata.resourceVersion

  test('a circle without delays goes one step a second, and the pod has an Event that says so', async () => {
    const circle = ['one', 'two', 'three']
    const plane = await planeWith(
      ...circle.map((place, n): [string, object] => [place, { selector: at(place), next: goTo(circle[(n + 1) % 3]!) }]),
    )
    const looks = () => plane.plane.tried.filter((topic) => topic === 'simulated-pods').length
    await run(plane, { annotations: { at: 'one' } })
    const atFirst = looks()
    expect(atFirst).toBeLessThan(30)
    for (let second = 0; second < 60; second++) await plane.plane.pass(1_000)
    // one for the time that has come, and one for what that wrote
    expect(looks() - atFirst).toBeLessThanOrEqual(3 * 60)
    const said = (await plane.said('Pod')).filter((line) => line.includes('StagePaced'))
    expect(said.length).toBeGreaterThan(0)
    expect(said.length).toBeLessThanOrEqual(circle.length)
    expect(said[0]).toMatch(/stage \w+ waits: a pod takes 10 steps at once, and then one each 1 s$/)
  })

  test('one that is for every pod and changes nothing is done once', async () => {
    const plane = await planeWith(['always', { selector: {}, next: { statusTemplate: 'phase: Running' } }])
    await run(plane)
    const before = await versionOf(plane)
    await plane.plane.pass(3_600_000)
    expect(await versionOf(plane)).toBe(before)
    expect(plane.plane.waiting).toEqual([])
  })

  test('the steps of a pod are counted, whichever of many Stages takes them', async () => {
    const places = Array.from({ length: 150 }, (_, n) => `place-${n}`)
    const plane = await planeWith(
      ...places.map((place, n): [string, object] => [
        place,
        { selector: at(place), next: goTo(places[n + 1] ?? 'end') },
      ]),
    )
    await run(plane, { annotations: { at: 'place-0' } })
    const place = async () => (await podOf(plane))!.metadata.annotations?.['at']
    expect(await place()).toBe('place-10')
    for (let second = 0; second < 140; second++) await plane.plane.pass(1_000)
    expect(await place()).toBe('end')
    await plane.plane.pass(60_000)
    expect(plane.plane.waiting).toEqual([])
  })

  test('pods that are more than are known one by one take their steps together', async () => {
    const plane = await planeWith(['mark', { selector: at('start'), next: goTo('end') }])
    const others = Array.from({ length: 4000 }, (_, n) => [`other/p-${n}`, ['1', 0, 0, 0, `u-${n}`]])
    plane.plane.sightings.set('stages/', { record: JSON.stringify(others), time: 0 })
    const stepped = async () =>
      (await plane.pods()).filter(({ metadata }) => metadata.annotations?.['at'] === 'end').length
    for (let n = 0; n < 130; n++) await run(plane, { name: `p-${n}`, annotations: { at: 'start' } })
    expect(await stepped()).toBe(100)
    await plane.plane.pass(100)
    expect(await stepped()).toBe(110)
    await plane.plane.pass(10_000)
    expect(await stepped()).toBe(130)
    const { record = '[]' } = plane.plane.sightings.get('stages/') ?? {}
    expect(JSON.parse(record).length).toBeLessThanOrEqual(4000)
  })

  test.each([
    ['runs for ever', '{{ range 20000 }}{{ range 20000 }}{{ end }}{{ end }}', 'more than 20000 steps'],
    [
      'makes more than a pod',
      'reason: {{ range 9000 }}abcdefghijklmnopqrstuvwxyz{{ end }}',
      'more than 200000 characters',
    ],
  ])('a template that %s ends, with an Event', async (_, statusTemplate, why) => {
    const plane = await planeWith(['large', { selector: {}, next: { statusTemplate } }])
    await run(plane)
    await plane.plane.pass(3_600_000)
    expect((await plane.said('Pod')).filter((line) => line.includes('StageFailed'))).toEqual([
      expect.stringContaining(why),
    ])
    expect(plane.plane.waiting).toEqual([])
  })

  test('selectors that look at more than they may match no pod, with an Event', async () => {
    // each visits some 20,000 values
    const squared = '.metadata.annotations[] == .metadata.annotations[]'
    const wide = { matchExpressions: Array.from({ length: 600 }, () => ({ key: squared, operator: 'Exists' })) }
    const absent = { matchExpressions: [...wide.matchExpressions, isMissing('.metadata.annotations')] }
    const plane = await planeWith(
      ['a', { selector: wide, next: { statusTemplate: 'phase: Failed' } }],
      ['b', { selector: absent, next: { statusTemplate: 'phase: Failed' } }],
    )
    const annotations = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`a-${n}`, 'x']))
    await run(plane, { annotations })
    expect((await podOf(plane))?.status?.phase).toBe('Running')
    expect(await plane.said('Pod')).toContainEqual(
      expect.stringContaining('StageFailed: the expressions of all stages'),
    )
  })

  test('a Stage of more than 64 Ki is not played', async () => {
    const large = { selector: {}, next: { statusTemplate: `phase: Failed # ${'x'.repeat(70_000)}` } }
    const plane = await planeWith(['large', large])
    await run(plane)
    expect((await podOf(plane))?.status?.phase).toBe('Running')
  })
})
