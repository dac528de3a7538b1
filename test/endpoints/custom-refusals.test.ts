/** How kube-apiserver refuses what custom resources do not have. */
import { beforeAll, describe, expect, test } from 'vitest'
import { StatusError } from '../../src/api/status.ts'
import { answer } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'

const TOKEN = 'an-administrator-whose-token-is-long-enough'
const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })

const definition = (plural: string, scope: string) => {
  const names = { plural, singular: plural.slice(0, -1), kind: plural.slice(0, -1), listKind: `${plural}List` }
  const version = { served: true, schema: { openAPIV3Schema: { type: 'object' } } }
  const versions = [
    { ...version, name: 'v1', storage: true },
    { ...version, name: 'v1beta1', storage: false, deprecated: true, deprecationWarning: 'old' },
  ]
  return {
    metadata: { name: `${plural}.example.com`, generation: 1 },
    spec: { group: 'example.com', scope, names, versions },
    status: {
      acceptedNames: names,
      storedVersions: ['v1'],
      conditions: ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' })),
    },
  }
}

beforeAll(async () => {
  for (const one of [definition('things', 'Namespaced'), definition('wholes', 'Cluster')])
    await server.put('apiextensions.k8s.io', 'customresourcedefinitions', one)
})

async function ask(method: string, path: string, type?: string, body: object = {}) {
  const headers = { Authorization: `Bearer ${TOKEN}`, ...(type && { 'Content-Type': type }) }
  const request = server.request(path, { method, headers, ...(type && { body: JSON.stringify(body) }) })
  try {
    const { status } = await answer(request)
    return { code: status, message: '', warnings: request.warnings }
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return { code: error.code, message: error.message, warnings: request.warnings }
  }
}

describe('a patch without a name is refused after its media type', () => {
  test.each([
    ['/apis/example.com/v1/wholes', 'text/plain', 415],
    ['/apis/example.com/v1/wholes', 'application/strategic-merge-patch+json', 415],
    ['/apis/example.com/v1/wholes', 'application/merge-patch+json', 400],
    ['/apis/example.com/v1/namespaces/default/things', 'application/json', 415],
    ['/apis/example.com/v1/namespaces/default/things', 'application/apply-patch+yaml', 400],
  ])('%s as %s: %i', async (path, type, code) => {
    const refusal = await ask('PATCH', path, type)
    expect(refusal.code).toBe(code)
    if (code === 400) expect(refusal.message).toBe('name must be provided')
  })
})

describe('a name that no object can have is refused by the key of the object, after', () => {
  const JSON_TYPE = 'application/json'
  const INVALID = `Name parameter invalid: "a%b": may not contain '%'`
  const things = '/apis/example.com/v1/namespaces/default/things'
  const maps = '/api/v1/namespaces/default/configmaps'
  const thing = (name: string) => ({ apiVersion: 'example.com/v1', kind: 'things', metadata: { name } })
  test.each<
    [string, method: string, path: string, type: string | undefined, body: object, code: number, message: string]
  >([
    ['nothing', 'GET', `${maps}/a%25b`, undefined, {}, 400, INVALID],
    [
      'the media type of the body',
      'PUT',
      `${maps}/a%25b`,
      'text/plain',
      {},
      415,
      'the body of the request was in an unknown format',
    ],
    [
      'that of a patch',
      'PATCH',
      `${things}/a%25b`,
      'text/plain',
      {},
      415,
      'the body of the request was in an unknown format',
    ],
    [
      'the name in the body',
      'PUT',
      `${things}/a%25b`,
      JSON_TYPE,
      thing('a'),
      400,
      'the name of the object (a) does not match the name on the URL (a%b)',
    ],
    ['all that', 'PUT', `${things}/a%25b`, JSON_TYPE, thing('a%b'), 400, INVALID],
    [
      'options',
      'PATCH',
      `${things}/a%25b`,
      'application/apply-patch+yaml',
      thing('a%b'),
      422,
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    ],
    ['all that', 'PATCH', `${things}/a%25b`, 'application/merge-patch+json', {}, 400, INVALID],
    [
      'options of a delete',
      'DELETE',
      `${maps}/a%25b?gracePeriodSeconds=x`,
      undefined,
      {},
      400,
      'strconv.ParseInt: parsing "x": invalid syntax',
    ],
    ['all that', 'DELETE', `${maps}/a%25b`, undefined, {}, 400, INVALID],
  ])('%s: %s %s as %s', async (_, method, path, type, body, code, message) => {
    const refusal = await ask(method, path, type, body)
    expect(refusal.code).toBe(code)
    expect(refusal.message).toContain(message)
  })
})

describe('a patch that changes the version is refused after one that changes', () => {
  const path = '/apis/example.com/v1/namespaces/default/things/versions'
  beforeAll(() =>
    ask('POST', '/apis/example.com/v1/namespaces/default/things', 'application/json', {
      apiVersion: 'example.com/v1',
      kind: 'thing',
      metadata: { name: 'versions' },
    }),
  )
  test.each<[string, apiVersion: string, object, code: number, message: string]>([
    ['nothing', 'example.com/v2', {}, 422, 'apiVersion: Invalid value: "example.com/v2": must be example.com/v1'],
    ['the name', 'example.com/v2', { name: 'b' }, 400, 'the name of the object (b) does not match'],
    ['the namespace', 'x/y', { namespace: 'b' }, 400, 'the namespace of the provided object does not match'],
    ['the name to none', '', { name: null }, 400, 'name must be provided'],
    ['nothing, but takes the version away', '', {}, 500, "Object 'apiVersion' is missing"],
  ])('%s (%s)', async (_, apiVersion, metadata, code, message) => {
    const refusal = await ask('PATCH', path, 'application/merge-patch+json', { apiVersion, metadata })
    expect(refusal.code).toBe(code)
    expect(refusal.message).toContain(message)
  })
})

describe('a patch that changes the kind is refused after one that changes', () => {
  const path = '/apis/example.com/v1/namespaces/default/things/kinds'
  beforeAll(() =>
    ask('POST', '/apis/example.com/v1/namespaces/default/things', 'application/json', {
      apiVersion: 'example.com/v1',
      kind: 'thing',
      metadata: { name: 'kinds' },
    }),
  )
  test.each<[string, object, code: number, message: string]>([
    ['nothing', {}, 422, 'X.example.com "kinds" is invalid: kind: Invalid value: "X": must be thing'],
    ['the name', { name: 'b' }, 400, 'the name of the object (b) does not match the name on the URL (kinds)'],
    ['the version', { resourceVersion: '1' }, 409, 'the object has been modified'],
  ])('%s', async (_, metadata, code, message) => {
    const refusal = await ask('PATCH', path, 'application/merge-patch+json', { kind: 'X', metadata })
    expect(refusal.code).toBe(code)
    expect(refusal.message).toContain(message)
  })
})

describe('a deprecated version warns of itself', () => {
  test.each([
    ['GET', 'wholes', 200, ['old']],
    ['GET', 'wholes/a/status', 404, ['old']],
    ['DELETE', 'wholes/a/status', 404, ['old']],
    ['OPTIONS', 'wholes', 405, ['old']],
    ['PUT', 'wholes', 400, ['old']],
    ['PATCH', 'wholes', 415, ['old']],
    // no such path
    ['GET', 'things/a', 404, []],
    ['GET', 'namespaces/default/wholes', 404, []],
  ])('%s %s is %i, with the warnings %j', async (method, path, code, warnings) => {
    expect(await ask(method, `/apis/example.com/v1beta1/${path}`)).toMatchObject({ code, warnings })
  })
})
