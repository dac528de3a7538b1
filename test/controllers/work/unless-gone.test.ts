import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { ConfigMap } from '../../../src/api/core/v1.ts'
import { StatusError } from '../../../src/api/status.ts'
import { typedResource } from '../../../src/controllers/client/clientset.ts'
import { clientsetFor } from '../../../src/controllers/client/clientset.ts'
import type { ResourceClient } from '../../../src/controllers/client/resource-client.ts'
import {
  createUnlessThere,
  deleteIfThere,
  isOvertaken,
  isTold,
  unlessGone,
} from '../../../src/controllers/work/unless-gone.ts'
import { ControlPlaneInMemory } from '../control-plane.ts'

const CONFIG_MAPS = typedResource<ConfigMap>('', 'configmaps')

let configMaps: ResourceClient<ConfigMap>
let object: ConfigMap

beforeEach(async () => {
  const clients = clientsetFor(await new ControlPlaneInMemory().context(), 'somebody')
  configMaps = clients.resource(CONFIG_MAPS, 'default')
  object = await configMaps.create({ metadata: { name: 'a' } })
})

/** As a webhook may refuse. */
const refusal = (code: number) => new StatusError(code, undefined, `refused with ${code}`)
const ignored = (error: unknown) => unlessGone(configMaps, object, error).then(() => true)

describe('a write that is refused', () => {
  test.each([404, 409])(
    'with %i is ignored where its object is gone or replaced, and not where it is there',
    async (code) => {
      await expect(ignored(refusal(code))).rejects.toThrow(`refused with ${code}`)
      await configMaps.delete(object)
      expect(await ignored(refusal(code))).toBe(true)
      await configMaps.create({ metadata: { name: 'a' } })
      expect(await ignored(refusal(code))).toBe(true)
    },
  )

  test.each([403, 500])('with %i is not ignored', async (code) => {
    await configMaps.delete(object)
    await expect(ignored(refusal(code))).rejects.toThrow(`refused with ${code}`)
  })
})

test.each([404, 409])('a write that fails with %i is overtaken where its object has changed, too', async (code) => {
  const overtaken = (error: unknown) => isOvertaken(configMaps, object, error)
  expect(await overtaken(refusal(code))).toBe(false)
  await configMaps.updateWithRetries(object, ({ metadata }) => void (metadata.labels = { a: 'b' }))
  expect(await overtaken(refusal(code))).toBe(true)
  expect(await overtaken(refusal(403))).toBe(false)
  await configMaps.delete(object)
  expect(await overtaken(refusal(code))).toBe(true)
  await configMaps.create({ metadata: { name: 'a' } })
  expect(await overtaken(refusal(code))).toBe(true)
})

test('an object is created unless it is there, and a refusal where it is absent is no success', async () => {
  const add = vi.spyOn(configMaps, 'add').mockRejectedValue(refusal(409))
  expect(await createUnlessThere(configMaps, object)).toBeUndefined()
  await configMaps.delete(object)
  await expect(createUnlessThere(configMaps, object)).rejects.toThrow('refused with 409')
  add.mockRestore()
  await createUnlessThere(configMaps, { metadata: { name: 'a' } })
  expect(await configMaps.get('a')).toBeDefined()
})

test('a deletion tells whether the object was there', async () => {
  expect(await deleteIfThere(configMaps, object)).toBe('deleted')
  expect(await deleteIfThere(configMaps, object)).toBe('gone')
  const other = await configMaps.create({ metadata: { name: 'a' } })
  expect(await deleteIfThere(configMaps, object)).toBe('gone')
  expect(await configMaps.get('a')).toEqual(other)
})

test.each([
  [404, 0, false],
  [409, 0, false],
  [404, 1, true],
  [403, 0, true],
  [500, 0, true],
])('the log tells of a failure with %i after %i others: %s', (code, attempts, told) => {
  expect(isTold(refusal(code), attempts)).toBe(told)
})
