// PodTopologyLabels, PodResizeValidator, NodeDeclaredFeatureValidator. kube-apiserver 1.36.3 gave these answers.
import { beforeAll, describe, expect, test } from 'vitest'
import { lineOf, pluginServer, pod } from './plugin-server.ts'

const { send, namespace } = pluginServer()
const PODS = '/api/v1/namespaces/blue/pods'

const resources = (cpu: string, memory: string) => ({ requests: { cpu, memory } })
const sized = (cpu: string, memory: string) => ({
  containers: [{ name: 'c', image: 'i', resources: resources(cpu, memory) }],
})

beforeAll(async () => {
  await namespace('blue')
  const node = async (name: string, labels: object, status: object = {}) => {
    await send('POST', '/api/v1/nodes', { metadata: { name, labels } })
    const allocatable = { cpu: '2', memory: '1Gi', pods: '10' }
    await send('PATCH', `/api/v1/nodes/${name}/status`, { status: { allocatable, capacity: allocatable, ...status } })
  }
  const topology = { 'topology.kubernetes.io/zone': 'eu-1', 'topology.kubernetes.io/region': 'eu' }
  await node('eu', { ...topology, 'topology.kubernetes.io/rack': 'r', 'kubernetes.io/os': 'linux' })
  await node('win', { 'kubernetes.io/os': 'windows' })
  await node('bare', {})
  await node('able', {}, { declaredFeatures: ['InPlacePodVerticalScalingInitContainers'] })
})

const TOPOLOGY = { 'topology.kubernetes.io/region': 'eu', 'topology.kubernetes.io/zone': 'eu-1' }

describe('a pod has the zone and region of its node', () => {
  test.each<[string, object, object, object | undefined]>([
    ['when it is created on it', { nodeName: 'eu' }, {}, TOPOLOGY],
    [
      'in place of the labels that it names',
      { nodeName: 'eu' },
      { 'topology.kubernetes.io/zone': 'mine', a: 'b' },
      { a: 'b', ...TOPOLOGY },
    ],
    ['not of one that is gone', { nodeName: 'gone' }, {}, undefined],
    ['not before it has one', {}, { 'topology.kubernetes.io/zone': 'mine' }, { 'topology.kubernetes.io/zone': 'mine' }],
  ])('%s', async (_, spec, labels, expected) => {
    const { body } = await send('POST', `${PODS}?dryRun=All`, pod(spec, { labels }))
    expect(body.metadata.labels).toEqual(expected)
  })

  test.each<[string, object, object, object]>([
    ['by a binding', { metadata: { name: 'bound' }, target: { kind: 'Node', name: 'eu' } }, {}, TOPOLOGY],
    [
      'not by one without a kind',
      { metadata: { name: 'bound', labels: { x: 'y' } }, target: { name: 'eu' } },
      {},
      { x: 'y' },
    ],
  ])('%s', async (_, binding, labels, expected) => {
    await send('POST', PODS, pod({}, { name: 'bound', labels }))
    expect(lineOf(await send('POST', `${PODS}/bound/binding`, binding))).toBe('201')
    expect((await send('GET', `${PODS}/bound`)).body.metadata.labels).toEqual(expected)
    await send('DELETE', `${PODS}/bound?gracePeriodSeconds=0`)
  })
})

describe('a resize fits the node', () => {
  const forbidden = (why: string) => `403 pods "r" is forbidden: ${why}`
  const init = (cpu: string) => ({ initContainers: [{ name: 'ic', resources: resources(cpu, '50Mi') }] })
  const sidecar = { initContainers: [{ name: 'side', resources: resources('60m', '50Mi') }] }
  const lacks = (node: string) =>
    forbidden(
      `pod update requires features InPlacePodVerticalScalingInitContainers which are not available on node "${node}"`,
    )

  test.each<[node: string, change: object, expected: string, cause?: string]>([
    ['eu', sized('200m', '100Mi'), '200'],
    ['bare', sized('200m', '100Mi'), '200'],
    ['gone', sized('100m', '100Mi'), '200'], // changes nothing
    ['gone', sized('200m', '100Mi'), forbidden('node "gone" not found')],
    [
      'eu',
      sized('4', '100Mi'),
      forbidden("node didn't have enough allocatable resources: cpu, requested: 4050, allocatable: 2000"),
      'NodeCapacity',
    ],
    [
      'eu',
      sized('4', '2Gi'),
      forbidden(
        "node didn't have enough allocatable resources: cpu, requested: 4050, allocatable: 2000; memory, requested: 2199912448, allocatable: 1073741824",
      ),
      'NodeCapacity',
    ],
    [
      'win',
      sized('200m', '100Mi'),
      forbidden('pod resize is only supported on linux nodes, node "win" is "windows"'),
      'UnsupportedPlatform',
    ],
    ['eu', init('60m'), lacks('eu')],
    ['able', init('60m'), '200'],
    ['eu', sidecar, '200'],
  ])('on %s: %j', async (nodeName, spec, expected, cause) => {
    const containers = [
      { name: 'ic', image: 'i', resources: resources('50m', '50Mi') },
      { name: 'side', image: 'i', restartPolicy: 'Always', resources: resources('50m', '50Mi') },
    ]
    const wanted = pod({ ...sized('100m', '100Mi'), nodeName, initContainers: containers }, { name: 'r' })
    expect(lineOf(await send('POST', PODS, wanted))).toBe('201')
    const answer = await send('PATCH', `${PODS}/r/resize`, { spec })
    expect(lineOf(answer)).toBe(expected)
    expect(answer.body.details?.causes).toEqual(cause && [{ reason: cause }])
    await send('DELETE', `${PODS}/r?gracePeriodSeconds=0`)
  })
})
