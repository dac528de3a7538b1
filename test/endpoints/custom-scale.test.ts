/** The scale of custom resources, some of which have no replicas. */
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/api/object.ts'
import { StatusError } from '../../src/api/status.ts'
import { answer } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'

const TOKEN = 'an-administrator-whose-token-is-long-enough'
const PATH = '/apis/example.com/v1/namespaces/default/things'
const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }
const replicas = { type: 'object', properties: { replicas: { type: 'integer' } } }
const versionOf = (spec: JsonObject) => ({
  name: 'v1',
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: 'object', properties: { spec, status: replicas } } },
  subresources: { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
})

const client = async () => (await things(replicas)).ask

async function things(spec: JsonObject, additionalPrinterColumns: JsonObject[] = []) {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
  const conditions = ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' }))
  await server.put('apiextensions.k8s.io', 'customresourcedefinitions', {
    metadata: { name: 'things.example.com', generation: 1 },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names,
      versions: [{ ...versionOf(spec), additionalPrinterColumns }],
    },
    status: { acceptedNames: names, storedVersions: ['v1'], conditions },
  })
  const put = async (spec: JsonObject): Promise<void> => {
    const stored = { ...thing(spec), metadata: { name: 'a', namespace: 'default' } }
    await server.put('example.com', 'things', stored)
  }
  const ask = async (method: string, path: string, body?: object, headers: object = {}): Promise<unknown> => {
    const sent = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', ...headers }
    try {
      const init = { method, headers: sent, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
      return await (await answer(server.request(path, init))).json()
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      return { code: error.code, message: error.message }
    }
  }
  return { ask, put }
}

const MERGE = { 'Content-Type': 'application/merge-patch+json' }
const thing = (spec: JsonObject) => ({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' }, spec })

test.each<[patch: object, spec: object | undefined]>([
  [{}, undefined],
  [{ metadata: { labels: { a: 'b' } } }, undefined],
  [{ spec: { replicas: null } }, { replicas: 0 }],
  [{ spec: null }, { replicas: 0 }],
  [{ spec: { replicas: 2 } }, { replicas: 2 }],
])('a patch %j of the scale of an object without replicas', async (patch, spec) => {
  const ask = await client()
  await ask('POST', PATH, thing({}))
  const answered = await ask('PATCH', `${PATH}/a/scale`, patch, MERGE)
  if (spec === undefined)
    expect(answered).toEqual({ code: 400, message: 'the spec replicas field ".spec.replicas" cannot be empty' })
  expect(await ask('GET', `${PATH}/a`)).toMatchObject({ spec: spec ?? {} })
})

test('a column of the scale shows no replicas where the Scale leaves them out', async () => {
  const ask = await client()
  await ask('POST', PATH, thing({ replicas: 0 }))
  const Accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
  const { rows } = (await ask('GET', `${PATH}/a/scale`, undefined, { Accept })) as { rows: { cells: unknown[] }[] }
  expect(rows.map(({ cells }) => cells.slice(0, 3))).toEqual([['a', null, 0]])
})

test.each(['GET', 'PUT', 'PATCH'])('%s of the scale of an object that holds another value there', async (method) => {
  const { ask, put } = await things({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true })
  await put({ replicas: true })
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a' }, spec: { replicas: 1 } }
  const body = method === 'GET' ? undefined : scale
  expect(await ask(method, `${PATH}/a/scale`, body, method === 'PATCH' ? MERGE : {})).toEqual({
    code: 500,
    message: '.spec.replicas accessor error: true is of the type bool, expected int64',
  })
})

test('a number beyond int64 in a column of integers is the least of them', async () => {
  const { ask, put } = await things({ type: 'object', properties: { replicas: { type: 'number' } } }, [
    { name: 'Size', type: 'integer', jsonPath: '.spec.replicas' },
  ])
  await put({ replicas: 1e21 })
  const Accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
  const { rows } = (await ask('GET', `${PATH}/a`, undefined, { Accept })) as { rows: { cells: unknown[] }[] }
  expect(rows.map(({ cells }) => cells)).toEqual([['a', -(2 ** 63)]])
})

test('replicas at a path that the schema does not declare are written, and not there', async () => {
  const { ask } = await things({ type: 'object', properties: { size: { type: 'integer' } } })
  await ask('POST', PATH, thing({ size: 1 }))
  expect(await ask('PATCH', `${PATH}/a/scale`, { spec: { replicas: 2 } }, MERGE)).toMatchObject({ spec: {} })
  expect(await ask('GET', `${PATH}/a`)).toMatchObject({ metadata: { generation: 2 }, spec: { size: 1 } })
  expect(await ask('GET', `${PATH}/a/scale`)).toMatchObject({ code: 500 })
})
