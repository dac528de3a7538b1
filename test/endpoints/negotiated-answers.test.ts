/** Forms that some endpoints do not have, and options without a value, as kube-apiserver answers them. */
import { beforeAll, describe, expect, test } from 'vitest'
import { StatusError } from '../../src/api/status.ts'
import { answer } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'

const TOKEN = 'an-administrator-whose-token-is-long-enough'
const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
const AS = 'v=v1;g=meta.k8s.io'

beforeAll(async () => {
  const metadata = { name: 'a', namespace: 'default', uid: 'u' }
  await server.put('', 'pods', { metadata, spec: { containers: [{ name: 'c' }] } })
  await server.put('', 'configmaps', { metadata })
})

async function ask(method: string, path: string, headers: Readonly<Record<string, string>>) {
  const request = server.request(path, { method, headers: { Authorization: `Bearer ${TOKEN}`, ...headers } })
  try {
    const { status } = await answer(request)
    return { code: status, message: '', warnings: request.warnings }
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return { code: error.code, message: error.message, warnings: request.warnings }
  }
}

test.each([
  ['application/json', 204, ''],
  ['text/plain,application/json', 204, ''],
  ['text/plain', 406, 'only the following media types are accepted: application/json'],
  [`application/json;as=Table;${AS}`, 406, 'only the following media types are accepted: application/json'],
  [`application/json;as=PartialObjectMetadata;${AS}`, 500, 'object does not implement the Object interfaces'],
  [`application/json;as=PartialObjectMetadataList;${AS}`, 406, 'is not a list (*rest.LocationStreamer)'],
])('a log as %s: %i', async (accept, code, message) => {
  const answered = await ask('GET', '/api/v1/namespaces/default/pods/a/log', { Accept: accept })
  expect(answered).toMatchObject({ code, message: expect.stringContaining(message) })
})

describe('a DELETE whose query says', () => {
  test.each([
    ['uid=', 200],
    ['resourceVersion=', 200],
    ['uid=x', 409],
    ['resourceVersion=x', 409],
  ])('%s is %i', async (query, code) => {
    const path = `/api/v1/namespaces/default/configmaps/a?dryRun=All&${query}`
    expect(await ask('DELETE', path, {})).toMatchObject({ code })
  })
})

test('a patch of an unknown media type has no warning, because no endpoint is reached', async () => {
  const path = '/api/v1/namespaces/default/endpoints/a'
  expect(await ask('PATCH', path, { 'Content-Type': 'text/plain' })).toMatchObject({ code: 415, warnings: [] })
})
