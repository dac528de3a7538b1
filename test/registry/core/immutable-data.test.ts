import { expect, test } from 'vitest'
import { StatusError } from '../../../src/api/status.ts'
import { answer } from '../../../src/server.ts'
import { memoryServer } from '../../request-in-memory.ts'

const ADMINISTRATOR = 'an-administrator-whose-token-is-long-enough'

// kube-apiserver's rule tells a map that was sent empty from an absent one
test.each([
  ['/api/v1/namespaces/a/secrets', { immutable: true }, { data: {} }, 'data'],
  ['/api/v1/namespaces/a/configmaps', { immutable: true }, { data: {} }, 'data'],
  ['/api/v1/namespaces/a/configmaps', { immutable: true }, { binaryData: {} }, 'binaryData'],
  ['/api/v1/namespaces/a/configmaps', { immutable: true }, { data: null }, undefined],
  ['/api/v1/namespaces/a/configmaps', { immutable: true, data: { a: 'b' } }, { data: { a: 'b' } }, undefined],
])('at %s an object of %j refuses the patch %j: %s', async (path, object, patch, refused) => {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: ADMINISTRATOR })
  await server.put('', 'namespaces', { metadata: { name: 'a' } })
  const send = (method: string, path: string, type: string, body: object): Promise<Response> => {
    const headers = { Authorization: `Bearer ${ADMINISTRATOR}`, 'Content-Type': type }
    return answer(server.request(path, { method, headers, body: JSON.stringify(body) }))
  }
  await send('POST', path, 'application/json', { metadata: { name: 'x' }, ...object })
  const changed = send('PATCH', `${path}/x`, 'application/merge-patch+json', patch)
  if (refused === undefined) expect((await changed).status).toBe(200)
  else {
    const error: unknown = await changed.catch((error: unknown) => error)
    expect(error).toBeInstanceOf(StatusError)
    expect((error as StatusError).message).toContain(`${refused}: Forbidden: field is immutable when`)
  }
})
