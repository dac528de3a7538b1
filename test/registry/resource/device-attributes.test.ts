import { expect, test } from 'vitest'
import { StatusError } from '../../../src/api/status.ts'
import { answer } from '../../../src/server.ts'
import { memoryServer } from '../../request-in-memory.ts'

const ADMINISTRATOR = 'an-administrator-whose-token-is-long-enough'
const AT = 'spec.devices[0].attributes[a]'

const create = async (gates: string, attribute: object) => {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: ADMINISTRATOR, KEDGE_FEATURE_GATES: gates })
  const headers = { Authorization: `Bearer ${ADMINISTRATOR}`, 'Content-Type': 'application/json' }
  const pool = { name: 'p', generation: 1, resourceSliceCount: 1 }
  const spec = { driver: 'd.example.com', pool, allNodes: true, devices: [{ name: 'x', attributes: { a: attribute } }] }
  const body = JSON.stringify({ metadata: { name: 's' }, spec })
  const path = '/apis/resource.k8s.io/v1/resourceslices'
  try {
    return [(await answer(server.request(path, { method: 'POST', headers, body }))).status]
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return [error.code, ...(error.status.details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`)]
  }
}

test('a list of values that is there must not be empty', async () => {
  expect(await create('DRAListTypeAttributes=true', { ints: [] })).toEqual([
    422,
    `${AT}.ints: Invalid value: []: must not be empty if specified`,
  ])
  expect(await create('DRAListTypeAttributes=true', { bool: true, strings: [] })).toEqual([
    422,
    `${AT}.strings: Invalid value: []: must not be empty if specified`,
    `${AT}: Invalid value: {"IntValue":null,"BoolValue":true,"StringValue":null,"VersionValue":null,"IntValues":null,` +
      `"BoolValues":null,"StringValues":[],"VersionValues":null}: exactly one value must be specified`,
  ])
})

test('where lists of values are switched off, an empty one is dropped like any other', async () => {
  expect(await create('DRAListTypeAttributes=false', { bool: true, strings: [] })).toEqual([201])
  expect(await create('DRAListTypeAttributes=false', { ints: [] })).toEqual([
    422,
    `${AT}: Invalid value: "": exactly one value must be specified`,
  ])
})
