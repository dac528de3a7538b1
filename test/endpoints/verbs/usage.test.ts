import { beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject, KubeObject } from '../../../src/api/object.ts'
import { StatusError } from '../../../src/api/status.ts'
import { answer, steps } from '../../../src/server.ts'
import { memoryServer } from '../../request-in-memory.ts'

const TOKEN = 'an-administrator-whose-token-is-long-enough'
const VERSION = '/apis/metrics.k8s.io/v1beta1'
const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN, KEDGE_WORKLOADS: 'simulated' })
const without = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN, KEDGE_WORKLOADS: 'controllers' })

async function ask(path: string, { method = 'GET', accept = 'application/json', on = server } = {}) {
  const headers = { Authorization: `Bearer ${TOKEN}`, Accept: accept }
  const response = await answer(on.request(path, { method, headers }), steps).catch((error: unknown) => {
    if (!(error instanceof StatusError)) throw error
    return Response.json({ message: error.message }, { status: error.code })
  })
  const text = await response.text()
  // an answer in JSON
  const body = (text.startsWith('{') ? JSON.parse(text) : text) as JsonObject & { items: (KubeObject & JsonObject)[] }
  return { status: response.status, body }
}

interface Given {
  readonly node?: string
  readonly phase?: string
  readonly id?: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly requests?: Readonly<Record<string, string>>
}

function pod(name: string, namespace: string, { node = 'node-1', phase = 'Running', ...more }: Given = {}) {
  const { id = 'simulated://1/main/0', annotations = {}, requests } = more
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, namespace, labels: { app: name }, annotations },
    spec: { nodeName: node, containers: [{ name: 'main', image: 'a', ...(requests && { resources: { requests } }) }] },
    status: {
      phase,
      containerStatuses: [{ name: 'main', containerID: id, state: { running: { startedAt: '2026-01-01T00:00:00Z' } } }],
    },
  } as unknown as KubeObject & JsonObject
}

const node = (name: string, isSimulated: boolean) =>
  ({
    kind: 'Node',
    apiVersion: 'v1',
    metadata: { name, labels: { zone: name, ...(isSimulated ? { 'kedge.dev/simulated': 'true' } : {}) } },
  }) as unknown as KubeObject & JsonObject

beforeAll(async () => {
  for (const [name, isSimulated] of [
    ['node-1', true],
    ['node-2', true],
    ['real', false],
  ] as const)
    await server.put('', 'nodes', node(name, isSimulated))
  const pods = [
    pod('said', 'default', { annotations: { 'kedge.dev/usage-cpu': '250m', 'kedge.dev/usage-memory.main': '1Gi' } }),
    pod('asks', 'default', { requests: { cpu: '1', memory: '64Mi' } }),
    pod('silent', 'other', { node: 'node-2', annotations: { 'kedge.dev/usage-cpu': 'much' } }),
    pod('waits', 'default', { phase: 'Pending' }),
    pod('real', 'default', { node: 'real', id: 'containerd://1' }),
  ]
  for (const one of pods) await server.put('', 'pods', one)
})

const brief = (items: readonly JsonObject[]) =>
  items.map(({ metadata, containers, usage }) => [
    (metadata as JsonObject)['name'],
    usage ?? (containers as JsonObject[]).map(({ name, usage: used }) => [name, used]),
  ])
const main = (cpu: string, memory: string) => [['main', { cpu, memory }]]

describe('usage', () => {
  test('of pods is what annotations say, half of what is requested, or a little', async () => {
    const { status, body } = await ask(`${VERSION}/pods`)
    expect({ status, kind: body['kind'], version: body['apiVersion'] }).toEqual({
      status: 200,
      kind: 'PodMetricsList',
      version: 'metrics.k8s.io/v1beta1',
    })
    expect(brief(body.items)).toEqual([
      ['asks', main('500m', '32Mi')],
      ['said', main('250m', '1Gi')],
      ['silent', main('1m', '8Mi')],
    ])
    expect(body.items[0]).toMatchObject({ kind: 'PodMetrics', window: '15s', metadata: { labels: { app: 'asks' } } })
  })

  test('of nodes is that of their pods, on simulated ones', async () => {
    const { body } = await ask(`${VERSION}/nodes`)
    expect(brief(body.items)).toEqual([
      ['node-1', { cpu: '750m', memory: '1056Mi' }],
      ['node-2', { cpu: '1m', memory: '8Mi' }],
    ])
  })

  test.each([
    ['namespaces/other/pods', ['silent']],
    ['pods?labelSelector=app%3Dsaid', ['said']],
    ['pods?labelSelector=app%20in%20(said,asks)', ['asks', 'said']],
    ['pods?fieldSelector=metadata.name%3Dasks', ['asks']],
    ['pods?fieldSelector=metadata.namespace!%3Ddefault', ['silent']],
    ['nodes?labelSelector=zone%3Dnode-2', ['node-2']],
  ])('of %s', async (path, names) => {
    const { body } = await ask(`${VERSION}/${path}`)
    expect(body.items.map(({ metadata }) => metadata.name)).toEqual(names)
  })

  test.each([
    ['nodes/node-1', 'NodeMetrics'],
    ['namespaces/default/pods/said', 'PodMetrics'],
  ])('of one: %s', async (path, kind) => {
    const { status, body } = await ask(`${VERSION}/${path}`)
    expect({ status, kind: body['kind'] }).toEqual({ status: 200, kind })
  })

  test.each([
    ['nodes/real', 404, 'nodes.metrics.k8s.io "real" not found'],
    ['nodes/absent', 404, 'nodes.metrics.k8s.io "absent" not found'],
    ['namespaces/default/pods/waits', 404, 'pods.metrics.k8s.io "waits" not found'],
    ['namespaces/default/pods/real', 404, 'pods.metrics.k8s.io "real" not found'],
    ['pods?fieldSelector=spec.nodeName%3Da', 400, /field/],
  ])('of %s is refused', async (path, status, message) => {
    const answered = await ask(`${VERSION}/${path}`)
    expect(answered.status).toBe(status)
    expect(answered.body['message']).toMatch(message)
  })

  test.each([
    ['POST', 'namespaces/default/pods'],
    ['DELETE', 'namespaces/default/pods/said'],
    ['PATCH', 'nodes/node-1'],
    ['GET', 'pods?watch=true'],
  ])('%s %s is nothing it does', async (method, path) => {
    expect((await ask(`${VERSION}/${path}`, { method })).status).toBe(405)
  })

  test('has a table', async () => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    const { body } = await ask(`${VERSION}/nodes`, { accept })
    const { columnDefinitions, rows } = body as unknown as {
      columnDefinitions: { name: string }[]
      rows: { cells: unknown[] }[]
    }
    expect(columnDefinitions.map(({ name }) => name)).toEqual(['Name', 'CPU', 'Memory', 'Window'])
    expect(rows.map(({ cells }) => cells)).toContainEqual(['node-2', '1m', '8Mi', '15s'])
  })
})

describe('discovery', () => {
  test('lists it as that of metrics-server', async () => {
    const { body } = await ask(VERSION)
    expect(body['resources']).toEqual([
      { name: 'nodes', singularName: '', namespaced: false, kind: 'NodeMetrics', verbs: ['get', 'list'] },
      { name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs: ['get', 'list'] },
    ])
    expect(JSON.stringify((await ask('/apis')).body)).toContain('"metrics.k8s.io"')
    expect((await ask('/openapi/v3/apis/metrics.k8s.io/v1beta1')).status).toBe(200)
  })

  test('of a server that simulates no nodes lacks it', async () => {
    expect((await ask(VERSION, { on: without })).status).toBe(404)
    expect((await ask(`${VERSION}/nodes`, { on: without })).status).toBe(404)
  })
})

test('an APIService of that version is asked instead', async () => {
  const other = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN, KEDGE_WORKLOADS: 'simulated' })
  await other.put('', 'nodes', node('node-1', true))
  await other.put('apiregistration.k8s.io', 'apiservices', {
    kind: 'APIService',
    apiVersion: 'apiregistration.k8s.io/v1',
    metadata: { name: 'v1beta1.metrics.k8s.io' },
    spec: {
      group: 'metrics.k8s.io',
      version: 'v1beta1',
      service: { name: 'metrics-server', namespace: 'kube-system' },
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
  } as unknown as KubeObject & JsonObject)
  // it is not available, and nobody speaks for it
  expect(await ask(`${VERSION}/nodes`, { on: other })).toMatchObject({ status: 503 })
})

test.each(['nodes/a%2Cb', 'nodes/a=b', 'nodes/!', 'namespaces/default/pods/a%2Cb'])('%s is not there', async (path) => {
  expect((await ask(`${VERSION}/${path}`)).status).toBe(404)
})

test('what a definition of that group defines is served instead', async () => {
  const defined = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN, KEDGE_WORKLOADS: 'simulated' })
  const names = { plural: 'pods', singular: 'pod', kind: 'Measured', listKind: 'MeasuredList' }
  await defined.put('apiextensions.k8s.io', 'customresourcedefinitions', {
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1',
    metadata: { name: 'pods.metrics.k8s.io' },
    spec: {
      group: 'metrics.k8s.io',
      scope: 'Namespaced',
      names,
      versions: [{ name: 'v1beta1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
    status: {
      acceptedNames: names,
      conditions: [{ type: 'Established', status: 'True' }],
      storedVersions: ['v1beta1'],
    },
  } as unknown as KubeObject & JsonObject)
  expect((await ask(`${VERSION}/pods`, { on: defined })).body).toMatchObject({ kind: 'MeasuredList', items: [] })
  expect((await ask(`${VERSION}/nodes`, { on: defined })).status).toBe(404)
})
