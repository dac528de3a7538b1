// Plugins without configuration, one after the other. kube-apiserver 1.36.3 gave these answers.
import { describe, expect, test } from 'vitest'
import type { PluginName } from '../../src/configuration/admission-plugins.ts'
import { lineOf, pluginServer, pod } from './plugin-server.ts'

async function serverWith(...plugins: PluginName[]) {
  const server = pluginServer({ KEDGE_ENABLE_ADMISSION_PLUGINS: plugins.join(',') })
  await server.namespace('blue')
  return server
}

const PODS = '/api/v1/namespaces/blue/pods'
const with_ = (container: object) => ({ containers: [{ name: 'c', image: 'i:1', ...container }] })

describe('AlwaysPullImages', () => {
  test('sets the policy of containers and image volumes', async () => {
    const { send } = await serverWith('AlwaysPullImages')
    const spec = {
      ...with_({ imagePullPolicy: 'Never' }),
      initContainers: [{ name: 'd', image: 'j', imagePullPolicy: 'IfNotPresent' }],
      volumes: [{ name: 'v', image: { reference: 'r:1', pullPolicy: 'Never' } }],
    }
    const { body } = await send('POST', PODS, pod(spec))
    expect(body.spec).toMatchObject({
      containers: [{ imagePullPolicy: 'Always' }],
      initContainers: [{ imagePullPolicy: 'Always' }],
      volumes: [{ image: { pullPolicy: 'Always' } }, {}],
    })
  })

  test('leaves a pod alone whose images stay', async () => {
    const server = pluginServer()
    await server.namespace('blue')
    await server.send('POST', PODS, pod(with_({ imagePullPolicy: 'Never' })))
    const later = pluginServer({ KEDGE_ENABLE_ADMISSION_PLUGINS: 'AlwaysPullImages' })
    Object.assign(later.memory.tenant, server.memory.tenant)
    Object.assign(later.memory.env, { SHARDS: server.memory.env.SHARDS })
    const patched = await later.send('PATCH', `${PODS}/p`, { metadata: { labels: { a: 'b' } } })
    expect(patched.body.spec).toMatchObject({ containers: [{ imagePullPolicy: 'Never' }] })
    const other = await later.send('PATCH', `${PODS}/p`, { spec: with_({ image: 'i:2' }) })
    expect(lineOf(other)).toMatch(/^422 /) // the pull policy of a pod cannot be changed
  })
})

describe('LimitPodHardAntiAffinityTopology', () => {
  const anti = (topologyKey: string) => ({
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector: { matchLabels: { a: 'b' } } }],
      },
    },
  })

  test.each([
    ['kubernetes.io/hostname', '201'],
    [
      'zone',
      '403 pods "p" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key kubernetes.io/hostname is allowed',
    ],
  ])('%s', async (key, expected) => {
    const { send } = await serverWith('LimitPodHardAntiAffinityTopology')
    expect(lineOf(await send('POST', PODS, pod(anti(key))))).toBe(expected)
  })
})

describe('ExtendedResourceToleration', () => {
  const asks = (limits: object) => with_({ resources: { limits } })
  const added = (key: string) => ({ key, operator: 'Exists', effect: 'NoSchedule' })

  test.each([
    [
      'of all containers, in order',
      {
        ...asks({ 'example.com/gpu': 1, 'example.com/a': 2 }),
        initContainers: [{ name: 'd', image: 'j', resources: { limits: { 'example.com/z': 1 } } }],
      },
      ['example.com/a', 'example.com/gpu', 'example.com/z'],
    ],
    [
      'beside others',
      { ...asks({ 'example.com/gpu': 1 }), tolerations: [{ key: 'example.com/gpu', operator: 'Equal', value: 'x' }] },
      ['example.com/gpu'],
    ],
    ['once', { ...asks({ 'example.com/gpu': 1 }), tolerations: [added('example.com/gpu')] }, ['example.com/gpu']],
    ['not of what all nodes have', asks({ cpu: 1 }), []],
  ])('%s', async (_, spec, keys) => {
    const { send } = await serverWith('ExtendedResourceToleration')
    const { body } = await send('POST', PODS, pod(spec))
    const tolerations = body.spec['tolerations'] as object[]
    expect(tolerations.filter((one) => 'effect' in one && one.effect === 'NoSchedule')).toEqual(keys.map(added))
  })
})

describe('DenyServiceExternalIPs', () => {
  const service = (externalIPs: string[] | undefined) => ({
    metadata: { name: 's' },
    spec: { ports: [{ port: 80 }], externalIPs },
  })
  const SERVICES = '/api/v1/namespaces/blue/services'
  const REFUSED = '403 services "s" is forbidden: Use of external IPs is denied by admission control'

  test('a Service takes none, and keeps what it has', async () => {
    const { send } = await serverWith('DenyServiceExternalIPs')
    expect(lineOf(await send('POST', SERVICES, service(['1.2.3.4'])))).toBe(REFUSED)
    expect(lineOf(await send('POST', SERVICES, service(undefined)))).toBe('201')
    expect(lineOf(await send('PATCH', `${SERVICES}/s`, { spec: { externalIPs: ['1.2.3.4'] } }))).toBe(REFUSED)
  })
})

describe('NamespaceExists', () => {
  test('stands in for NamespaceLifecycle where that is off', async () => {
    const { send } = pluginServer({
      KEDGE_ENABLE_ADMISSION_PLUGINS: 'NamespaceExists',
      KEDGE_DISABLE_ADMISSION_PLUGINS: 'NamespaceLifecycle',
    })
    const answer = await send('POST', '/api/v1/namespaces/nowhere/configmaps', { metadata: { name: 'a' } })
    expect(lineOf(answer)).toBe('404 namespaces "nowhere" not found')
  })
})

describe('NamespaceAutoProvision', () => {
  const create = '/api/v1/namespaces/new/configmaps'

  test('makes the namespace that a create is about', async () => {
    const { send } = await serverWith('NamespaceAutoProvision')
    expect(lineOf(await send('POST', create, { metadata: { name: 'a' } }))).toBe('201')
    const { body } = await send('GET', '/api/v1/namespaces/new')
    expect(body).toMatchObject({
      metadata: { labels: { 'kubernetes.io/metadata.name': 'new' } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    })
  })

  test('creates no namespace for a dry run, or for an invalid name', async () => {
    const { send } = await serverWith('NamespaceAutoProvision')
    expect(lineOf(await send('POST', `${create}?dryRun=All`, { metadata: { name: 'a' } }))).toBe(
      '404 namespaces "new" not found',
    )
    const refused = lineOf(await send('POST', '/api/v1/namespaces/Bad_/configmaps', { metadata: { name: 'a' } }))
    expect(refused).toMatch(/^403 configmaps "a" is forbidden: Namespace "Bad_" is invalid: /)
  })

  test('asks the admission of namespaces', async () => {
    const { send } = await serverWith('NamespaceAutoProvision')
    const policy = {
      metadata: { name: 'no-namespaces' },
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['namespaces'] }],
        },
        validations: [{ expression: 'false', message: 'ask first' }],
      },
    }
    const group = '/apis/admissionregistration.k8s.io/v1'
    await send('POST', `${group}/validatingadmissionpolicies`, policy)
    await send('POST', `${group}/validatingadmissionpolicybindings`, {
      metadata: { name: 'b' },
      spec: { policyName: 'no-namespaces', validationActions: ['Deny'] },
    })
    const refused = lineOf(await send('POST', create, { metadata: { name: 'a' } }))
    expect(refused).toMatch(/^4\d\d .*ask first/)
  })
})

describe('AlwaysDeny', () => {
  test('denies all writes', async () => {
    const { send } = pluginServer({ KEDGE_ENABLE_ADMISSION_PLUGINS: 'AlwaysDeny' })
    expect(lineOf(await send('POST', '/api/v1/namespaces', { metadata: { name: 'a' } }))).toBe(
      '403 namespaces "a" is forbidden: admission control is denying all modifications',
    )
    expect(lineOf(await send('GET', '/api/v1/namespaces/default'))).toBe('200')
  })
})
