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

async function ask(method: string, path: string, type?: string) {
  const headers = { Authorization: `Bearer ${TOKEN}`, ...(type && { 'Content-Type': type }) }
  const request = server.request(path, { method, headers, ...(type && { body: '{}' }) })
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
