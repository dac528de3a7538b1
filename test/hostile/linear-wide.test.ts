// The work of every verb grows linearly with the parts of an object (labels, finalizers and the like), from the request
// to the answer.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { JsonObject } from '../../src/api/object.ts'
import { answer } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'
import { CountedWork } from './counted-work.ts'

const TOKEN = 'an-administrator-whose-token-is-long-enough'
const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
let work: CountedWork
beforeAll(async () => {
  vi.stubGlobal('IdentityTransformStream', TransformStream) // workerd has it, Node does not
  const namespace = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'default' } }
  await server.put('', 'namespaces', { ...namespace, status: { phase: 'Active' } })
  work = await CountedWork.start()
})
afterAll(() => work.stop())

const many = <One>(n: number, one: (at: number) => One): One[] => Array.from({ length: n }, (_, at) => one(at))
const map = (n: number, value: string): JsonObject => Object.fromEntries(many(n, (at) => [`k${at}`, `${value}${at}`]))
const UID = (at: number): string => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`

interface Wide {
  /** Members of the metadata, or of the object. Another `value` changes each part that may change. */
  readonly metadata?: (n: number, value: string) => JsonObject
  readonly rest?: (n: number, value: string) => JsonObject
}
const shapes: Readonly<Record<string, Wide>> = {
  labels: { metadata: (n, value) => ({ labels: map(n, value) }) },
  annotations: { metadata: (n, value) => ({ annotations: map(n, value) }) },
  keys: { rest: (n, value) => ({ data: map(n, value) }) },
  finalizers: { metadata: (n) => ({ finalizers: many(n, (at) => `e.com/f${at}`) }) },
  owners: {
    metadata: (n) => ({
      ownerReferences: many(n, (at) => ({ apiVersion: 'e.com/v1', kind: `K${at}`, name: `o${at}`, uid: UID(at) })),
    }),
  },
  managers: {
    metadata: (n) => ({
      managedFields: many(n, (at) => ({
        manager: `m${at}`,
        operation: 'Apply',
        apiVersion: 'v1',
        time: '2026-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { [`f:k${at}`]: {} } },
      })),
    }),
    rest: (n) => ({ data: map(n, 'v') }),
  },
}

let names = 0
const COLLECTION = '/api/v1/namespaces/default/configmaps'

function objectOf({ metadata, rest }: Wide, name: string, n: number, value: string): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, ...metadata?.(n, value) },
    ...rest?.(n, value),
  }
}

interface Verb {
  readonly method: string
  /** The query after the name of the object. If absent, the request goes to the collection. */
  readonly query?: string
  readonly type?: string
  readonly accept?: string
  readonly body?: (object: JsonObject) => unknown
}
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const METADATA = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
const APPLY = 'application/apply-patch+yaml'
const whole = (object: JsonObject): JsonObject => object
const small = (): JsonObject => ({ metadata: { labels: { a: 'b' } } })
const applied = ({ metadata, ...rest }: JsonObject): JsonObject => {
  const { managedFields: _, ...sent } = metadata as JsonObject
  return { ...rest, metadata: sent }
}
const verbs: Readonly<Record<string, Verb>> = {
  create: { method: 'POST', body: whole },
  get: { method: 'GET', query: '' },
  'get, YAML': { method: 'GET', query: '', accept: 'application/yaml' },
  'get, protobuf': { method: 'GET', query: '', accept: 'application/vnd.kubernetes.protobuf' },
  'get, Table': { method: 'GET', query: '', accept: TABLE },
  'get, metadata': { method: 'GET', query: '', accept: METADATA },
  update: { method: 'PUT', query: '', body: whole },
  'JSON patch': {
    method: 'PATCH',
    query: '',
    type: 'application/json-patch+json',
    body: ({ metadata, ...rest }) => [
      ...Object.entries(metadata as JsonObject).map(([name, value]) => [`/metadata/${name}`, value]),
      ...Object.entries(rest).map(([name, value]) => [`/${name}`, value]),
    ].map(([path, value]) => ({ op: 'add', path, value })), // prettier-ignore
  },
  'merge patch': { method: 'PATCH', query: '', type: 'application/merge-patch+json', body: whole },
  'small merge patch': { method: 'PATCH', query: '', type: 'application/merge-patch+json', body: small },
  'strategic merge patch': {
    method: 'PATCH',
    query: '',
    type: 'application/strategic-merge-patch+json',
    body: whole,
  },
  'small strategic merge patch': {
    method: 'PATCH',
    query: '',
    type: 'application/strategic-merge-patch+json',
    body: small,
  },
  apply: { method: 'PATCH', query: '?fieldManager=m&force=true', type: APPLY, body: applied },
  delete: { method: 'DELETE', query: '' },
}

const request = (
  path: string,
  { method, type = 'application/json', accept = 'application/json' }: Verb,
  body?: unknown,
) =>
  server.request(path, {
    method,
    headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': type, Accept: accept },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

/** The most growth that passes: linear work gives 2, quadratic work gives 4. */
const LINEAR = 3.3

/**
 * Measures the work of n, 2n and 4n.
 * @param prepare its own work is not counted
 * @returns the growth of the work without its constant part
 */
async function growth(n: number, prepare: (n: number) => Promise<() => Promise<unknown>>): Promise<number> {
  await (
    await prepare(n)
  )()
  const works: number[] = []
  for (const times of [1, 2, 4]) {
    const run = await prepare(n * times)
    await work.of(() => {})
    works.push(await work.of(run))
  }
  const [once, twice, fourTimes] = works as [number, number, number] // one for each size
  return twice - once < 50 ? 1 : (fourTimes - twice) / (twice - once)
}

/** Work jumps once, at the size from which it goes in parts. Quadratic work exceeds the limit at the next size, too. */
async function expectLinear(prepare: Parameters<typeof growth>[1]): Promise<void> {
  const first = await growth(60, prepare)
  expect(first < LINEAR ? first : await growth(240, prepare)).toBeLessThan(LINEAR)
}

describe.each(Object.entries(shapes))('many %s', (_, shape) => {
  test.each(Object.entries(verbs))('%s', async (_name, verb) => {
    await expectLinear(async (n) => {
      const name = `o${++names}`
      const isThere = verb.query !== undefined
      const before = objectOf(shape, name, n, 'v')
      const metadata = { ...(before['metadata'] as JsonObject), namespace: 'default', name, generation: 1 }
      if (isThere) await server.put('', 'configmaps', { ...before, metadata })
      const body = verb.body?.(objectOf(shape, name, n, 'w'))
      const asked = request(isThere ? `${COLLECTION}/${name}${verb.query}` : COLLECTION, verb, body)
      return async () => {
        const response = await answer(asked)
        expect(response.status).toBeLessThan(300)
        return response.arrayBuffer()
      }
    })
  })
})

describe('many conditions', () => {
  const conditions = (n: number, status: string) =>
    many(n, (at) => ({ type: `T${at}`, status, lastTransitionTime: '2026-01-01T00:00:00Z' }))
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  const pod = (name: string, n: number, status: string): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec,
    status: { conditions: conditions(n, status) },
  })
  const ofStatus = Object.entries(verbs).filter(([, { method, body }]) => method !== 'POST' && body !== undefined)
  test.each(ofStatus)('%s of the status', async (_, verb) => {
    await expectLinear(async (n) => {
      const name = `o${++names}`
      const before = pod(name, n, 'True')
      await server.put('', 'pods', { ...before, metadata: { name, namespace: 'default' } } as never)
      const path = `/api/v1/namespaces/default/pods/${name}/status${verb.query}`
      const asked = request(path, verb, verb.body?.(pod(name, n, 'False')))
      return async () => {
        const response = await answer(asked)
        expect(response.status, await response.clone().text()).toBeLessThan(300)
      }
    })
  })
})

describe('many items', () => {
  const lists: Readonly<Record<string, Verb>> = {
    list: { method: 'GET' },
    'list, YAML': { method: 'GET', accept: 'application/yaml' },
    'list, protobuf': { method: 'GET', accept: 'application/vnd.kubernetes.protobuf' },
    'list, Table': { method: 'GET', accept: TABLE },
    'list, metadata': { method: 'GET', accept: METADATA.replace('Metadata;', 'MetadataList;') },
    deletecollection: { method: 'DELETE' },
  }
  test.each(Object.entries(lists))('%s', async (_, verb) => {
    await expectLinear(async (n) => {
      const label = `l${++names}`
      for (let at = 0; at < n; at++) {
        const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: `${label}-${at}`, labels: { of: label } } }
        await answer(request('/api/v1/namespaces/default/secrets', { method: 'POST' }, secret))
      }
      const asked = request(`/api/v1/namespaces/default/secrets?labelSelector=of%3D${label}`, verb)
      return async () => {
        const response = await answer(asked)
        expect(response.status).toBe(200)
        return response.arrayBuffer()
      }
    })
  })
})
