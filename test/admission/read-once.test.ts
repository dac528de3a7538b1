import { expect, test } from 'vitest'
import type { Attributes } from '../../src/admission/attributes.ts'
import { readOnce } from '../../src/admission/read-once.ts'
import { memoryServer } from '../request-in-memory.ts'

const READ = 'limitranges blue'

function reader() {
  const server = memoryServer()
  // the reads of a request are all that it looks at
  const attributes = { request: server.request('/') } as unknown as Attributes
  let reads = 0
  return {
    pass: (milliseconds: number) => (server.now = new Date(server.now.getTime() + milliseconds)),
    read: () => readOnce(attributes, READ, async () => ++reads),
  }
}

test('the phases of a quick write share a read', async () => {
  const { pass, read } = reader()
  expect(await read()).toBe(1)
  pass(999)
  expect(await read()).toBe(1)
})

test('after a slow body or webhook admission judges by what holds then', async () => {
  const { pass, read } = reader()
  expect(await read()).toBe(1)
  pass(1_000)
  expect(await read()).toBe(2)
  pass(500)
  expect(await read()).toBe(2)
  pass(30_000)
  expect(await read()).toBe(3)
})
