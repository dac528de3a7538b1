// Work that pauses after every few items gives the same answer as work done at once. The tests cover each list field of
// each built-in kind, and each kind of patch.
import type { JsonObject } from '../../src/api/object.ts'
import { beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { respondStatus } from '../../src/codec/respond.ts'
import { answer } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'
import type { MemoryServer } from '../request-in-memory.ts'
import { listFields } from './list-fields.ts'

const parts = vi.hoisted(() => ({ are: Infinity, stops: 0 }))

vi.mock('../../src/base/slices.ts', async (importActual) => ({
  ...(await importActual<object>()),
  LARGE: 0, // every body counts as large
}))
vi.mock('../../src/base/parts.ts', async (importActual) => {
  const actual = await importActual<typeof import('../../src/base/parts.ts')>()
  return {
    ...actual,
    *inParts(run: () => unknown) {
      const steps = actual.inParts(run, parts.are)
      for (let next = steps.next(true); ; next = steps.next(true)) {
        if (next.done) return next.value
        parts.stops++
      }
    },
    inPartsAwaiting: (run: () => unknown) => actual.inPartsAwaiting(run, async () => void parts.stops++, parts.are),
  }
})

const TOKEN = 'an-administrator-whose-token-is-long-enough'
const THINGS = '/apis/example.com/v1/namespaces/default/things'
let server: MemoryServer

async function newServer(): Promise<MemoryServer> {
  const made = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
  made.now = new Date('2026-01-01T00:00:00Z')
  const namespace = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'default' } }
  await made.put('', 'namespaces', { ...namespace, status: { phase: 'Active' } })
  const account = { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'default', namespace: 'default' } }
  await made.put('', 'serviceaccounts', account)
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }
  const list = (items: JsonObject, rest: JsonObject = {}) => ({ type: 'array', items, ...rest })
  const keyed = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }
  const element = { type: 'object', properties: { name: { type: 'string' }, size: { type: 'integer', default: 3 } } }
  const spec = {
    type: 'object',
    properties: {
      set: list({ type: 'string' }, { 'x-kubernetes-list-type': 'set' }),
      keyed: list({ ...element, required: ['name'] }, keyed),
      map: { type: 'object', additionalProperties: { type: 'integer' } },
      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
  }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
  const conditions = ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' }))
  await made.put('apiextensions.k8s.io', 'customresourcedefinitions', {
    metadata: { name: 'things.example.com', generation: 1 },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names,
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
    status: { acceptedNames: names, storedVersions: ['v1'], conditions },
  })
  return made
}

beforeAll(async () => void (server = await newServer()))
beforeEach(() => void (parts.are = Infinity))

async function send(method: string, url: string, body: unknown, type = 'application/json', to = server) {
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': type }
  const request = to.request(url, { method, body: JSON.stringify(body), headers })
  const response = await answer(request).catch((error: unknown) => respondStatus(request, error))
  // the server generates these for each object
  const text = (await response.text()).replaceAll(/"(uid|resourceVersion)":"[^"]*"|kube-api-access-\w+/g, '"$1"')
  return { status: response.status, text, warnings: request.warnings }
}

test.each(listFields())('$path', async ({ url, object }) => {
  // an element that repeats an earlier one stands in a later part
  for (const distinct of [40, 15]) {
    parts.are = Infinity
    const whole = await send('POST', url, object(40, distinct))
    for (const size of [1, 7]) {
      parts.are = size
      expect(await send('POST', url, object(40, distinct))).toEqual(whole)
    }
  }
})

const times = <T>(n: number, one: (at: number) => T): T[] => Array.from({ length: n }, (_, at) => one(at))
const named = (from: number) => Object.fromEntries(times(30, (at) => [`k${99 - at - from}`, at]))
const thing = (from: number) => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'a', labels: { a: `${from}` } },
  spec: {
    set: times(30, (at) => `e${at + from}`),
    keyed: times(30, (at) => ({ name: `k${at + from}` })),
    map: named(from),
    free: { a: times(20, () => ({ b: [1, { c: {} }] })), ...named(from) },
  },
})
const pod = (from: number) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', labels: Object.fromEntries(times(20, (at) => [`l${at}`, `${from}`])) },
  spec: {
    containers: [{ name: 'a', image: 'b', env: times(30, (at) => ({ name: `V${at + from}`, value: 'v' })) }],
    tolerations: times(10, (at) => ({ key: `k${at}`, operator: 'Exists' })),
  },
})
const PODS = '/api/v1/namespaces/default/pods'
const labels = Object.fromEntries(times(30, (at) => [`m${at}`, at % 3 === 0 ? null : `${at}`]))

const writes: readonly (readonly [
  what: string,
  url: string,
  made: object,
  method: string,
  type: string,
  body: unknown,
])[] = [
  [
    'a merge patch of a thing',
    THINGS,
    thing(0),
    'PATCH',
    'application/merge-patch+json',
    { ...thing(5), metadata: { labels } },
  ],
  ['a merge patch of a Pod', PODS, pod(0), 'PATCH', 'application/merge-patch+json', { metadata: { labels } }],
  [
    'a JSON patch of a thing',
    THINGS,
    thing(0),
    'PATCH',
    'application/json-patch+json',
    [
      ...times(40, (at) => ({ op: 'add', path: `/spec/map/x${at}`, value: at })),
      ...times(5, () => ({ op: 'remove', path: '/spec/set/0' })),
      { op: 'copy', from: '/spec/free/a', path: '/spec/free/b' },
      { op: 'test', path: '/spec/map/x1', value: 1 },
    ],
  ],
  [
    'a JSON patch of a Pod',
    PODS,
    pod(0),
    'PATCH',
    'application/json-patch+json',
    times(30, (at) => ({ op: 'add', path: `/metadata/annotations`, value: { [`a${at}`]: '<' } })),
  ],
  [
    'a strategic merge patch',
    PODS,
    pod(0),
    'PATCH',
    'application/strategic-merge-patch+json',
    { metadata: { labels } },
  ],
  [
    'an apply of a Pod',
    PODS,
    pod(0),
    'PATCH',
    'application/apply-patch+yaml',
    { ...pod(0), metadata: { labels: { own: 'v' } } },
  ],
  ['an apply of a thing', THINGS, thing(0), 'PATCH', 'application/apply-patch+yaml', thing(20)],
]

test.each(writes)('%s', async (_, url, made, method, type, body) => {
  const changed = async (size: number) => {
    parts.are = size
    const fresh = await newServer()
    const created = await send('POST', url, made, 'application/json', fresh)
    const query = method === 'PATCH' ? '?fieldManager=m&force=true' : '?fieldManager=m'
    const force = type.includes('apply') ? query : '?fieldManager=m'
    return [created, await send(method, `${url}/a${force}`, body, type, fresh)]
  }
  const whole = await changed(Infinity)
  expect(whole.map(({ status }) => status)).toEqual([201, 200])
  for (const size of [1, 3, 20]) {
    const before = parts.stops
    expect(await changed(size)).toEqual(whole)
    expect(parts.stops - before).toBeGreaterThan(10)
  }
})
