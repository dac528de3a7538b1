import { expect, test } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { resourceScope } from '../../../src/registry/scope.ts'
import { servedResources } from '../../../src/registry/served/served.ts'
import { withoutAdmission } from '../../../src/registry/write/admission.ts'
import { createObject } from '../../../src/registry/write/create-object.ts'
import type { StorageErrorCode } from '../../../src/storage/errors.ts'
import { StorageError } from '../../../src/storage/errors.ts'
import { memoryServer } from '../../request-in-memory.ts'

/** Creates a ConfigMap in a storage that fails, after admission reserved something that `undo` releases. */
async function failingCreate(
  code: StorageErrorCode,
  undo: () => Promise<void>,
  more: KubeObject['metadata'] = {},
): Promise<unknown> {
  const server = memoryServer()
  const request = server.request('/api/v1/namespaces/blue/configmaps')
  const entry = (await servedResources(request)).find('', 'v1', 'configmaps')!
  const scope = resourceScope(request, entry, { name: '', subresource: '', namespace: 'blue' })
  const create = () => Promise.reject(new StorageError(code))
  const storage = new Proxy(scope.storage, {
    get: (target, name) => (name === 'create' ? create : (Reflect.get(target, name) as unknown)),
  })
  const object: KubeObject = {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'a', namespace: 'blue', ...more },
  }
  const admission = { ...withoutAdmission, validate: () => Promise.resolve(undo) }
  return createObject({ ...scope, storage }, object, { options: { dryRun: false }, admission }).catch(
    (error: unknown) => error,
  )
}

test.each<[StorageErrorCode, number]>([
  ['KeyExists', 1],
  ['TooLarge', 1],
  ['Full', 1],
  ['Unavailable', 1],
  ['Uncertain', 0],
])('what admission took is given back when a write fails, and kept when nobody knows: %s', async (code, times) => {
  let undone = 0
  expect(
    await failingCreate(code, () => {
      undone++
      return Promise.resolve()
    }),
  ).toBeInstanceOf(Error)
  expect(undone).toBe(times)
})

test('a write is answered with its own error where nothing could be given back', async () => {
  const error = await failingCreate('KeyExists', () => Promise.reject(new Error('no storage')))
  expect(error).toMatchObject({ code: 409, status: { reason: 'AlreadyExists' } })
})

test.each<[string, KubeObject['metadata'], RegExp]>([
  ['generated from a prefix', { name: '', generateName: 'a-' }, /^configmaps "a-[a-z0-9]{5}" already exists, the/],
  ['given beside a prefix', { generateName: 'a-' }, /^configmaps "a" already exists, the/],
])('a name that exists and was %s is refused in other words, with a time to wait', async (_what, more, message) => {
  const error = await failingCreate('KeyExists', () => Promise.resolve(), more)
  expect(error).toMatchObject({ code: 409, status: { reason: 'AlreadyExists', details: { retryAfterSeconds: 1 } } })
  expect((error as Error).message).toMatch(message)
  expect((error as Error).message).toMatch(/ server was not able to generate a unique name for the object$/)
})
