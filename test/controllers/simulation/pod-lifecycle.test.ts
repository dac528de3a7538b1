import { describe, expect, test } from 'vitest'
import type { Container, Pod } from '../../../src/api/core/v1.ts'
import { duration } from '../../../src/validation/pod/simulation-annotations.ts'
import { addressesOf, freePodRanges, podAddresses } from '../../../src/controllers/simulation/addresses.ts'
import { advance } from '../../../src/controllers/simulation/pod-lifecycle.ts'

const START = Date.parse('2026-01-01T00:00:00Z')
const at = (seconds: number) => new Date(START + seconds * 1000)

interface Given {
  readonly annotations?: Record<string, string>
  readonly restartPolicy?: string
  readonly initContainers?: Container[]
  readonly hostNetwork?: boolean
  readonly command?: string[]
  readonly activeDeadlineSeconds?: number
}

const bound = ({
  annotations = {},
  restartPolicy = 'Always',
  initContainers = [],
  hostNetwork = false,
  command,
  activeDeadlineSeconds,
}: Given = {}): Pod => ({
  metadata: { name: 'p', namespace: 'default', uid: 'u', generation: 1, annotations },
  spec: {
    nodeName: 'n',
    restartPolicy,
    initContainers,
    hostNetwork,
    containers: [{ name: 'c', image: 'i', ...(command && { command }) }],
    ...(activeDeadlineSeconds === undefined ? {} : { activeDeadlineSeconds }),
  },
  status: {
    phase: 'Pending',
    conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
  },
})

/** What it says of itself each time that its node looks, until it stays. @param until seconds */
function story(pod: Pod, until = 600): string[] {
  const told: string[] = []
  let current = pod
  for (let now = 0, looks = 0; now <= until && looks < 100; looks++) {
    const { status, after } = advance(current, { hostIPs: ['172.18.0.1'], allocateIP: () => '10.244.0.2' }, at(now))
    if (status !== undefined) {
      current = { ...current, status }
      const container = status.containerStatuses?.[0]
      const { running, waiting, terminated } = container?.state ?? {}
      const state = running ? 'running' : (waiting?.reason ?? `${terminated?.reason} ${terminated?.exitCode}`)
      told.push(`${now}s ${status.phase} ${state}${container?.ready ? ' ready' : ''}`)
    }
    if (after === undefined) break
    now += after / 1000
  }
  return told
}

describe('a path within a volume', () => {
  const mounting = (subPathExpr: string, env: NonNullable<Container['env']> = []): Pod => {
    const pod = bound({ annotations: { path: 'logs' } })
    const volumeMounts = [{ name: 'v', mountPath: '/v', subPathExpr }]
    return { ...pod, spec: { ...pod.spec, containers: [{ name: 'c', image: 'i', env, volumeMounts }] } }
  }
  const annotation = (name: string) => ({ valueFrom: { fieldRef: { fieldPath: `metadata.annotations['${name}']` } } })
  const outcome = (pod: Pod): string | undefined => {
    const { status } = advance(pod, { hostIPs: ['172.18.0.1'], allocateIP: () => '10.244.0.2' }, at(0))
    const waiting = status?.containerStatuses?.[0]?.state?.waiting
    return waiting === undefined ? status?.phase : `${waiting.reason}: ${waiting.message}`
  }
  test.each<[string, Pod, string]>([
    [
      'is made of variables',
      mounting('$(A)/$(B)', [
        { name: 'A', ...annotation('path') },
        { name: 'B', value: '$(A)' },
      ]),
      'Running',
    ],
    ['may have a dollar', mounting('$$(A)', []), 'Running'],
    [
      'is no longer than a file system allows, whatever its variables make of it',
      mounting('$(V30)', [
        { name: 'V0', value: 'x'.repeat(100) },
        ...Array.from({ length: 30 }, (_, n) => ({ name: `V${n + 1}`, value: `$(V${n})`.repeat(10) })),
      ]),
      'CreateContainerConfigError: failed to create subPath directory for volumeMount "v" of container "c"',
    ],
    [
      'has variables that are too much together, which count as unknown',
      mounting('$(W)', [
        { name: 'V', value: 'x'.repeat(4096) },
        ...Array.from({ length: 300 }, (_, n) => ({ name: `V${n}`, value: '$(V)' })),
        { name: 'W', value: '/' },
      ]),
      'Running',
    ],
    [
      'may be of a Secret',
      mounting('$(A)', [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }]),
      'Running',
    ],
    [
      'is not absolute',
      mounting('$(A)/b', [{ name: 'A', ...annotation('none') }]),
      'CreateContainerConfigError: error SubPath `/b` must not be an absolute path',
    ],
    [
      'does not go up',
      mounting('$(A)', [{ name: 'A', value: 'a/..' }]),
      "CreateContainerConfigError: unable to provision SubPath `a/..`: must not contain '..'",
    ],
    ['names what is there', mounting('$(A)'), 'CreateContainerConfigError: missing value for "A"'],
  ])('%s', (_, pod, expected) => expect(outcome(pod)).toBe(expected))
})

describe('a pod on a simulated node', () => {
  test.each<[string, Pod, readonly string[]]>([
    ['runs at once', bound(), ['0s Running running ready']],
    ['ends as its command does', bound({ command: ['/bin/false'], restartPolicy: 'Never' }), ['0s Failed Error 1']],
    [
      'ends after its command',
      bound({ command: ['sleep', '5'], restartPolicy: 'Never' }),
      ['0s Running running ready', '5s Succeeded Completed 0'],
    ],
    [
      'waits for the command of an init container',
      bound({ initContainers: [{ name: 'i', image: 'i', command: ['sleep', '7'] }] }),
      ['0s Pending PodInitializing', '7s Running running ready'],
    ],
    [
      'never starts after an init container that fails',
      bound({ initContainers: [{ name: 'i', image: 'i', command: ['/bin/false'] }], restartPolicy: 'Never' }),
      ['0s Failed PodInitializing'],
    ],
    [
      'is ended at its deadline',
      bound({ activeDeadlineSeconds: 30 }),
      ['0s Running running ready', '30s Failed Error 137'],
    ],
    [
      'ends before its deadline',
      bound({ activeDeadlineSeconds: 30, command: ['sleep', '5'], restartPolicy: 'Never' }),
      ['0s Running running ready', '5s Succeeded Completed 0'],
    ],
    ['starts later', bound({ annotations: { 'kedge.dev/start-delay': '5s' } }), ['5s Running running ready']],
    [
      'gets ready later',
      bound({ annotations: { 'kedge.dev/ready-delay': '7' } }),
      ['0s Running running', '7s Running running ready'],
    ],
    ['never gets ready', bound({ annotations: { 'kedge.dev/ready': 'false' } }), ['0s Running running']],
    [
      'ends after a while',
      bound({ restartPolicy: 'Never', annotations: { 'kedge.dev/duration': '10s' } }),
      ['0s Running running ready', '10s Succeeded Completed 0'],
    ],
    ['fails', bound({ restartPolicy: 'Never', annotations: { 'kedge.dev/exit-code': '3' } }), ['0s Failed Error 3']],
    [
      'fails again and again, and waits longer each time',
      bound({ annotations: { 'kedge.dev/exit-code.c': '1', 'kedge.dev/duration': '1s' } }),
      [
        '0s Running running ready',
        '1s Running running ready',
        '2s Running CrashLoopBackOff',
        '12s Running running ready',
        '13s Running CrashLoopBackOff',
        '33s Running running ready',
        '34s Running CrashLoopBackOff',
      ],
    ],
    [
      'cannot pull its image',
      bound({ annotations: { 'kedge.dev/image-pull': 'fail' } }),
      ['0s Pending ImagePullBackOff'],
    ],
    [
      'runs its init containers first',
      bound({
        initContainers: [{ name: 'i', image: 'i' }],
        annotations: { 'kedge.dev/duration.i': '4s' },
      }),
      ['0s Pending PodInitializing', '4s Running running ready'],
    ],
    [
      'is over when an init container fails and nothing is tried again',
      bound({
        restartPolicy: 'Never',
        initContainers: [{ name: 'i', image: 'i' }],
        annotations: { 'kedge.dev/exit-code.i': '1' },
      }),
      ['0s Failed PodInitializing'],
    ],
    [
      'does not wait for the end of a sidecar',
      bound({ initContainers: [{ name: 'i', image: 'i', restartPolicy: 'Always' }] }),
      ['0s Running running ready'],
    ],
  ])('%s', (_, pod, expected) => {
    expect(story(pod).slice(0, expected.length)).toEqual(expected)
  })

  const noFacts = { hostIPs: ['h'], allocateIP: () => 'a' }
  const seen = (pod: Pod, more: object = {}, now = 0) => advance(pod, { ...noFacts, ...more }, at(now)).status
  const withSpec = (pod: Pod, spec: object): Pod => ({ ...pod, spec: { ...pod.spec, ...spec } })

  test('cannot pull an image that is said to be missing', () => {
    const [status] = seen(bound(), { isMissing: (image: string) => image === 'i' })?.containerStatuses ?? []
    expect(status?.state?.waiting?.reason).toBe('ImagePullBackOff')
    expect(seen(bound(), { isMissing: () => false })?.phase).toBe('Running')
  })

  test.each([
    [1, 'In', [1], 'Running'],
    [1, 'In', [2], 'Failed'],
    [1, 'NotIn', [2], 'Running'],
    [0, 'In', [0], 'Running'],
    [0, 'In', [1], 'Succeeded'],
  ])('that ends with %s, where %s %s is restarted, is %s', (code, operator, values, phase) => {
    const pod = bound({ restartPolicy: 'Never', annotations: { 'kedge.dev/exit-code': String(code) } })
    const restartPolicyRules = [{ action: 'Restart', exitCodes: { operator, values } }]
    const ruled = withSpec(pod, { containers: [{ name: 'c', image: 'i', restartPolicy: 'Never', restartPolicyRules }] })
    expect(seen(ruled)?.phase).toBe(phase)
  })

  test('ends its sidecars when it is over', () => {
    const pod = bound({
      restartPolicy: 'Never',
      initContainers: [{ name: 's', image: 'i', restartPolicy: 'Always' }],
      annotations: { 'kedge.dev/exit-code.c': '0', 'kedge.dev/duration.c': '5' },
    })
    const first = seen(pod)
    expect(first?.initContainerStatuses?.[0]?.state).toHaveProperty('running')
    const last = seen({ ...pod, status: first ?? {} }, {}, 5)
    expect([last?.phase, last?.initContainerStatuses?.[0]?.state?.terminated?.exitCode]).toEqual(['Succeeded', 0])
  })

  test('runs ephemeral containers beside the others', () => {
    const pod = withSpec(bound(), { ephemeralContainers: [{ name: 'debug', image: 'busybox' }] })
    expect(seen(pod)).toMatchObject({
      phase: 'Running',
      ephemeralContainerStatuses: [{ name: 'debug', state: { running: {} } }],
    })
  })

  test('has what it asks for, also when that changes', () => {
    const sized = (cpu: string) =>
      withSpec(bound(), { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu }, limits: { cpu } } }] })
    const first = seen(sized('1'))
    const resized = seen({ ...sized('2'), status: first ?? {} }, {}, 1)
    const given = (cpu: string) => ({ allocatedResources: { cpu }, resources: { requests: { cpu }, limits: { cpu } } })
    expect([first, resized].map((status) => status?.containerStatuses?.[0])).toMatchObject([given('1'), given('2')])
    expect(resized?.containerStatuses?.[0]?.restartCount).toBe(0)
  })

  const policies = [
    { resourceName: 'cpu', restartPolicy: 'NotRequired' },
    { resourceName: 'memory', restartPolicy: 'RestartContainer' },
  ]
  test.each([
    ['restarts where its memory changes and says so', { memory: '2Gi' }, 1],
    ['goes on where its memory is written in another way', { memory: '1024Mi' }, 0],
    ['goes on where its CPU changes', { cpu: '2' }, 0],
  ])('that may only be restarted for memory %s', (_what, change, restarts) => {
    const sized = (limits: Record<string, string>) => {
      const container = { name: 'c', image: 'i', resizePolicy: policies, resources: { limits } }
      const sidecar = { ...container, name: 's', restartPolicy: 'Always' }
      return withSpec(bound(), { initContainers: [sidecar], containers: [container] })
    }
    const given = { cpu: '1', memory: '1Gi' }
    const first = seen(sized(given))
    const changed = { ...sized({ ...given, ...change }), status: first ?? {} }
    const { status, news = [] } = advance(changed, noFacts, at(5))
    const own = (status ?? first)?.containerStatuses?.[0]
    for (const container of [own, (status ?? first)?.initContainerStatuses?.[0]])
      expect(container).toMatchObject({
        restartCount: restarts,
        ready: true,
        resources: { limits: { ...given, ...change } },
        state: { running: { startedAt: restarts === 0 ? '2026-01-01T00:00:00Z' : '2026-01-01T00:00:05Z' } },
      })
    expect(own?.lastState).toEqual(
      restarts === 0 ? {} : { terminated: expect.objectContaining({ finishedAt: '2026-01-01T00:00:05Z' }) as unknown },
    )
    expect(news.map(({ message }) => message)).toEqual(
      restarts === 0 ? [] : ['Container s resize requires restart', 'Container c resize requires restart'],
    )
    const kept = advance({ ...changed, status: status ?? first ?? {} }, noFacts, at(6))
    expect(kept.status).toBeUndefined()
  })

  test.each(['Always', 'Never'])('gets a new container for a new image with the restart policy %s', (restartPolicy) => {
    const pod = bound({ restartPolicy })
    const first = seen(pod)
    const changed = withSpec({ ...pod, status: first ?? {} }, { containers: [{ name: 'c', image: 'other' }] })
    const { status, news = [] } = advance(changed, noFacts, at(5))
    expect(status?.containerStatuses).toMatchObject([
      { image: 'other', imageID: 'simulated://other', restartCount: 1, ready: true, state: { running: {} } },
    ])
    expect(news).toMatchObject([{ reason: 'Killing', message: 'Container c definition changed, will be restarted' }])
    expect(advance({ ...changed, status: status ?? {} }, noFacts, at(6)).status).toBeUndefined()
  })

  test('keeps the image that another program gave its container', () => {
    const first = seen(bound())
    const containerStatuses = first?.containerStatuses?.map((one) => ({ ...one, image: 'b', containerID: 'runc://1' }))
    const status = { ...first, ...(containerStatuses && { containerStatuses }) }
    expect(seen({ ...bound(), status }, {}, 5)?.containerStatuses ?? status.containerStatuses).toMatchObject([
      { image: 'b', restartCount: 0 },
    ])
  })

  test('waits for its readiness gates', () => {
    const pod = withSpec(bound(), { readinessGates: [{ conditionType: 'example.com/ok' }] })
    const ready = (status: Pod['status']) => status?.conditions?.find(({ type }) => type === 'Ready')?.status
    const first = seen(pod)
    const conditions = [...(first?.conditions ?? []), { type: 'example.com/ok', status: 'True' }]
    expect([ready(first), ready(seen({ ...pod, status: { ...first, conditions } }, {}, 1))]).toEqual(['False', 'True'])
  })

  test('has an address of its node where it shares its network', () => {
    const facts = { hostIPs: ['172.18.0.1'], allocateIP: () => '10.244.0.2' }
    expect(advance(bound(), facts, at(0)).status?.podIP).toBe('10.244.0.2')
    expect(advance(bound({ hostNetwork: true }), facts, at(0)).status?.podIP).toBe('172.18.0.1')
  })

  test.each<[string, Record<string, string>, number, object]>([
    ['leaves at once', {}, 0, { isGone: true }],
    ['takes its time', { 'kedge.dev/stop-delay': '5s' }, 2, { after: 3_000 }],
    ['takes no longer than its grace', { 'kedge.dev/stop-delay': '5m' }, 30, { isGone: true }],
  ])('that is deleted %s', (_, annotations, now, expected) => {
    const pod = bound({ annotations })
    pod.metadata.deletionTimestamp = '2026-01-01T00:00:30Z'
    pod.metadata.deletionGracePeriodSeconds = 30
    expect(advance(pod, { hostIPs: [''], allocateIP: () => undefined }, at(now))).toEqual(expected)
  })
})

test.each<[string, Partial<Pod['metadata']>, string, string | undefined]>([
  ['that nothing keeps is gone as it is', {}, 'Running', undefined],
  ['that a finalizer keeps has failed', { finalizers: ['example.com/kept'] }, 'Running', 'Failed'],
  ['that a finalizer keeps from its begin has failed', { finalizers: ['example.com/kept'] }, 'Pending', 'Failed'],
  ['that has ended keeps its end', { finalizers: ['example.com/kept'] }, 'Succeeded', undefined],
])('a deleted pod %s', (_, metadata, phase, expected) => {
  const pod = bound()
  Object.assign(pod.metadata, metadata, { deletionTimestamp: at(0).toISOString(), deletionGracePeriodSeconds: 0 })
  pod.status = { ...pod.status, phase }
  const { status, isGone } = advance(pod, { hostIPs: [''], allocateIP: () => undefined }, at(1))
  expect([isGone, status?.phase, status?.containerStatuses?.[0]?.state?.terminated?.exitCode]).toEqual([
    true,
    expected,
    expected && 137,
  ])
})

test.each([
  ['5', 5_000],
  ['1.5s', 1_500],
  ['2m', 120_000],
  ['1h2m3s', 3_723_000],
  ['250ms', 250],
  ['', undefined],
  ['soon', undefined],
  [undefined, undefined],
])('the duration %s', (text, expected) => {
  expect(duration(text)).toBe(expected)
})

test('addresses are given out once, and ranges too', () => {
  const next = addressesOf('10.244.7.0/24', new Set(['10.244.7.2', '10.244.7.4']))
  expect([next(), next(), next()]).toEqual(['10.244.7.3', '10.244.7.5', '10.244.7.6'])
  expect(addressesOf('fd00::/64', new Set())()).toBeUndefined()
  const having = (podCIDR: string) => ({ metadata: {}, spec: { podCIDR } })
  const nodes = [having('10.244.0.0/24'), having('10.0.0.0/24'), having('fd00:10:244:3::/64')]
  expect(freePodRanges(nodes, ['IPv4'])).toEqual(['10.244.1.0/24'])
  expect(freePodRanges([...nodes, having('10.244.1.0/24')], ['IPv6', 'IPv4'])).toEqual([
    'fd00:10:244:4::/64',
    '10.244.3.0/24',
  ])
})

test.each([
  [['10.244.7.0/24'], '10.244.7.16', ['10.244.7.16']],
  [['10.244.16.0/24', 'fd00:10:244:11::/64'], '10.244.16.254', ['10.244.16.254', 'fd00:10:244:11::fe']],
  [['fd00:10:244:11::/64', '10.244.16.0/24'], 'fd00:10:244:11::fe', ['fd00:10:244:11::fe', '10.244.16.254']],
  [['10.244.16.0/24', 'fd00:10:244:11::/64'], '192.168.0.7', ['192.168.0.7']],
  [['10.0.0.0/16', 'fd01::/64'], '10.0.0.2', ['10.0.0.2']],
])('a pod on a node with the ranges %j and the address %s has %j', (podCIDRs, ip, expected) => {
  const [podCIDR = ''] = podCIDRs
  expect(podAddresses({ metadata: {}, spec: { podCIDR, podCIDRs } }, ip)).toEqual(expected)
})

const ENDED = 20

test.each([
  ['as long as the longest of its hooks sleeps', [2, 5], {}, 1, { after: 4_000 }],
  ['no longer than its grace', [300], {}, 30, { isGone: true }],
  ['without the hooks of containers that have ended', [2, ENDED], {}, 1, { after: 1_000 }],
  ['as long as the annotation says', [5], { 'kedge.dev/stop-delay': '9s' }, 1, { after: 8_000 }],
])('a pod with preStop hooks ends %s', (_, sleeps, annotations, now, expected) => {
  const pod: Pod = {
    metadata: { deletionTimestamp: at(30).toISOString(), deletionGracePeriodSeconds: 30, annotations },
    spec: {
      containers: sleeps.map((seconds, n) => ({ name: `c${n}`, lifecycle: { preStop: { sleep: { seconds } } } })),
    },
    status: {
      phase: 'Running',
      containerStatuses: sleeps.map((seconds, n) => ({
        name: `c${n}`,
        state: seconds === ENDED ? { terminated: { exitCode: 0 } } : { running: {} },
      })),
    },
  } as Pod
  expect(advance(pod, { hostIPs: [''], allocateIP: () => undefined }, at(now))).toEqual(expected)
})

test.each([
  ['a command that sleeps', ['sleep', '4'], 1, { after: 3_000 }],
  ['a script that sleeps', ['/bin/sh', '-c', 'sleep 3 && sleep 1'], 1, { after: 3_000 }],
  ['a command that sleeps for ever', ['sleep', 'infinity'], 1, { after: 29_000 }],
  ['a command that is not simulated', ['/wait-shutdown'], 1, { isGone: true }],
])('a pod whose preStop hook is %s takes that long to end', (_, command, now, expected) => {
  const pod = {
    metadata: { deletionTimestamp: at(30).toISOString(), deletionGracePeriodSeconds: 30 },
    spec: { containers: [{ name: 'c', lifecycle: { preStop: { exec: { command } } } }] },
    status: { phase: 'Running', containerStatuses: [{ name: 'c', state: { running: {} } }] },
  } as Pod
  expect(advance(pod, { hostIPs: [''], allocateIP: () => undefined }, at(now))).toEqual(expected)
})

test.each<[string, Container[], string]>([
  [
    'one that fails',
    [
      { name: 'a', command: ['true'] },
      { name: 'b', command: ['false'] },
    ],
    '[b]',
  ],
  ['those behind it, too', [{ name: 'a', command: ['sleep', '9'] }, { name: 'b' }], '[a b]'],
  [
    'no sidecar that runs',
    [
      { name: 'a', restartPolicy: 'Always' },
      { name: 'b', command: ['sleep', '9'] },
    ],
    '[b]',
  ],
])('of the init containers those are incomplete that are waited for: %s', (_, initContainers, names) => {
  const pod = bound({ initContainers, restartPolicy: 'Never' })
  const { status } = advance(pod, { hostIPs: ['172.18.0.1'], allocateIP: () => '10.244.0.2' }, at(0))
  expect(status?.conditions?.find(({ type }) => type === 'Initialized')).toMatchObject({
    status: 'False',
    message: `containers with incomplete status: ${names}`,
  })
})
