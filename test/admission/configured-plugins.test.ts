// PodSecurity and ResourceQuota with an AdmissionConfiguration. kube-apiserver 1.36.3 gave these answers.
import { describe, expect, test } from 'vitest'
import { lineOf, pluginServer, pod } from './plugin-server.ts'

const HOST = { hostNetwork: true }
const warned = (standard: string) => [expect.stringContaining(`would violate PodSecurity "${standard}"`)]

describe('PodSecurity', () => {
  const setting = {
    apiVersion: 'pod-security.admission.config.k8s.io/v1',
    kind: 'PodSecurityConfiguration',
    defaults: { enforce: 'baseline', 'enforce-version': 'latest', warn: 'restricted', 'warn-version': 'v1.30' },
    exemptions: { usernames: ['trusted'], namespaces: ['exempt'], runtimeClasses: ['sandbox'] },
  }
  const server = async () => {
    const made = pluginServer({}, { PodSecurity: setting })
    await made.namespace('blue')
    await made.namespace('exempt')
    const binding = {
      metadata: { name: 'trusted' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'User', name: 'trusted', apiGroup: 'rbac.authorization.k8s.io' }],
    }
    await made.send('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', binding)
    await made.send('POST', '/apis/node.k8s.io/v1/runtimeclasses', { metadata: { name: 'sandbox' }, handler: 'h' })
    return made
  }

  test.each<[string, object, string | undefined, string, unknown[]]>([
    [
      'blue',
      HOST,
      undefined,
      '403 pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)',
      [],
    ],
    ['blue', {}, undefined, '201', warned('restricted:v1.30')],
    ['blue', HOST, 'trusted', '201', []],
    ['blue', { ...HOST, runtimeClassName: 'sandbox' }, undefined, '201', []],
    ['exempt', HOST, undefined, '201', []],
  ])('in %s: %j by %s', async (name, spec, user, expected, warnings) => {
    const { send } = await server()
    const answer = await send('POST', `/api/v1/namespaces/${name}/pods`, pod(spec), user)
    expect(lineOf(answer)).toBe(expected)
    expect(answer.warnings).toEqual(warnings)
  })

  test('a workload is looked at like its pods', async () => {
    const { send } = await server()
    const template = { metadata: { labels: { a: 'b' } }, spec: { ...HOST, containers: [{ name: 'c', image: 'i' }] } }
    const deployment = { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } }
    const create = (name: string) => send('POST', `/apis/apps/v1/namespaces/${name}/deployments`, deployment)
    expect((await create('blue')).warnings).toEqual(warned('restricted:v1.30'))
    expect((await create('exempt')).warnings).toEqual([])
  })

  test('labels of an exempt namespace are noted to be without effect', async () => {
    const { send } = await server()
    const label = (name: string, level: string) =>
      send('PATCH', `/api/v1/namespaces/${name}`, {
        metadata: { labels: { 'pod-security.kubernetes.io/enforce': level } },
      })
    expect((await label('exempt', 'restricted')).warnings).toEqual([
      'namespace "exempt" is exempt from Pod Security, and the policy (enforce=restricted:latest) will be ignored',
    ])
    expect((await label('exempt', 'privileged')).warnings).toEqual([])
    expect((await label('blue', 'restricted')).warnings).toEqual([])
  })

  test('a stricter level is not warned of for pods of an exempt runtime class', async () => {
    const { send } = await server()
    const label = (level: string) =>
      send('PATCH', '/api/v1/namespaces/blue', {
        metadata: { labels: { 'pod-security.kubernetes.io/enforce': level } },
      })
    await send('POST', '/api/v1/namespaces/blue/pods', pod({ ...HOST, runtimeClassName: 'sandbox' }))
    expect((await label('restricted')).warnings).toEqual([])
    await label('privileged')
    await send('POST', '/api/v1/namespaces/blue/pods', pod(HOST, { name: 'q' }))
    expect((await label('baseline')).warnings).toEqual([
      'existing pods in namespace "blue" violate the new PodSecurity enforce level "baseline:latest"',
      'q: host namespaces',
    ])
  })
})

describe('ResourceQuota', () => {
  const setting = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'ResourceQuotaConfiguration',
    limitedResources: [
      { resource: 'persistentvolumeclaims', matchContains: ['gold.storageclass.storage.k8s.io/requests.storage'] },
      { resource: 'pods', matchScopes: [{ scopeName: 'PriorityClass', operator: 'In', values: ['vip'] }] },
      { apiGroup: 'apps', resource: 'deployments', matchContains: ['count/deployments.apps'] },
    ],
  }
  const claim = (storageClassName: string) => ({
    metadata: { name: 'v' },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage: '1Gi' } } },
  })
  const CLAIMS = '/api/v1/namespaces/blue/persistentvolumeclaims?dryRun=All'
  const PODS = '/api/v1/namespaces/blue/pods?dryRun=All'
  const vip = pod({ priorityClassName: 'vip' })

  const server = async (quotas: readonly object[] = []) => {
    const made = pluginServer({}, { ResourceQuota: setting })
    await made.namespace('blue')
    await made.send('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: 'vip' }, value: 5 })
    for (const [index, { hard, ...spec }] of (quotas as { hard: Record<string, string> }[]).entries()) {
      const name = `q${index}`
      const used = Object.fromEntries(Object.keys(hard).map((one) => [one, '0']))
      await made.send('POST', '/api/v1/namespaces/blue/resourcequotas', { metadata: { name }, spec: { hard, ...spec } })
      const status = `/api/v1/namespaces/blue/resourcequotas/${name}/status`
      await made.send('PATCH', status, { status: { hard, used } })
    }
    return made
  }

  test.each<[string, string, object, string]>([
    [
      'a class of storage',
      CLAIMS,
      claim('gold'),
      '403 persistentvolumeclaims "v" is forbidden: insufficient quota to consume: gold.storageclass.storage.k8s.io/requests.storage',
    ],
    ['another class', CLAIMS, claim('silver'), '201'],
    ['a scope', PODS, vip, '500 insufficient quota to match these scopes: [{PriorityClass In [vip]}]'],
    ['outside of the scope', PODS, pod(), '201'],
  ])('%s without a quota', async (_, path, object, expected) => {
    const { send } = await server()
    expect(lineOf(await send('POST', path, object))).toBe(expected)
  })

  test('a resource that a quota covers may be used', async () => {
    const { send } = await server([
      { hard: { 'gold.storageclass.storage.k8s.io/requests.storage': '5Gi' } },
      {
        hard: { pods: '2' },
        scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['vip'] }] },
      },
    ])
    expect(lineOf(await send('POST', CLAIMS, claim('gold')))).toBe('201')
    expect(lineOf(await send('POST', PODS, vip))).toBe('201')
  })

  test('an update into the scope of a quota needs cover for all that the object uses', async () => {
    const limitedResources = [{ resource: 'pods', matchContains: ['requests.cpu'] }]
    const made = pluginServer({}, { ResourceQuota: { ...setting, limitedResources } })
    await made.namespace('blue')
    const quotas = [
      { name: 'brief', spec: { hard: { pods: '5' }, scopes: ['Terminating'] } },
      { name: 'long', spec: { hard: { pods: '5', 'requests.cpu': '5' }, scopes: ['NotTerminating'] } },
    ]
    for (const { name, spec } of quotas)
      await made.send('POST', '/api/v1/namespaces/blue/resourcequotas', { metadata: { name }, spec })
    const resources = { requests: { cpu: '1' } }
    const object = pod({ containers: [{ name: 'c', image: 'i', resources }] })
    expect(lineOf(await made.send('POST', '/api/v1/namespaces/blue/pods', object))).toBe('201')
    const change = (body: object) => made.send('PATCH', '/api/v1/namespaces/blue/pods/p', body)
    expect(lineOf(await change({ metadata: { labels: { a: 'b' } } }))).toBe('200')
    expect(lineOf(await change({ spec: { activeDeadlineSeconds: 60 } }))).toBe(
      '403 pods "p" is forbidden: insufficient quota to consume: requests.cpu',
    )
  })
})
