// What a list holds whose reader takes nothing.
import { expect, test } from 'vitest'
import { listAnswer } from '../../durable-objects/list-stream.ts'
import type { Statements } from '../../durable-objects/statements.ts'

const MIB = 1024 * 1024

/** Values of these lengths, and how many of them were read so far. */
function storedValues(lengths: readonly number[]) {
  const read = { values: 0 }
  const values: Statements['values'] = (revisions, most) => {
    const found: { rv: number; k: string; v: string }[] = []
    for (let length = 0; length < most && found.length < revisions.length; read.values++) {
      const rv = revisions[found.length]!
      found.push({ rv, k: `things/${rv}`, v: 'x'.repeat(lengths[rv]!) })
      length += lengths[rv]!
    }
    return found
  }
  // a list asks for nothing else
  return { read, statements: { values } as unknown as Statements }
}

function answer(lengths: readonly number[]) {
  const { read, statements } = storedValues(lengths)
  const revisions = [lengths.map((_, rv) => rv)]
  const call = {
    prefix: 'things',
    selection: [],
    at: { kind: 'latest' },
    limit: 0,
    counted: false,
    start: '',
    shape: { as: 'lines' },
    keep: true,
  } as unknown as Parameters<typeof listAnswer>[1] // only its shape and its prefix count here
  return { read, body: listAnswer({ revision: 1, revisions, isEmpty: false }, call, statements).body! }
}

test('chunks of large values end with the value that fills them, whatever came before', async () => {
  const lengths = [...Array<number>(136).fill(10), ...Array<number>(40).fill(1.5 * MIB)]
  const { body } = answer(lengths)
  const reader = body.getReader()
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    expect(value.length).toBeLessThan(1.8 * MIB)
    bytes += value.length
  }
  expect(bytes).toBe(lengths.reduce((sum, length) => sum + length + 1, 0))
})

test('the first chunk has a limit too', async () => {
  const { read, body } = answer(Array<number>(8).fill(1.5 * MIB))
  const { value } = await body.getReader().read()
  expect(value!.length).toBe(1.5 * MIB + 1)
  expect(read.values).toBe(1)
})

test('nothing is read before somebody wants it', async () => {
  const { read, body } = answer(Array<number>(300).fill(10))
  await new Promise((resolve) => setTimeout(resolve, 0))
  expect(read.values).toBe(0)
  const reader = body.getReader()
  await reader.read()
  await new Promise((resolve) => setTimeout(resolve, 0))
  expect(read.values).toBe(8)
  await reader.cancel()
})

test('a value that is gone breaks the list off', async () => {
  const { statements } = storedValues([1, 1, 1])
  const values: Statements['values'] = (revisions, most) =>
    statements.values(
      revisions.filter((rv) => rv !== 1),
      most,
    )
  // its shape and its prefix are all that counts here
  const call = { prefix: 'things', shape: { as: 'lines' } } as unknown as Parameters<typeof listAnswer>[1]
  const page = { revision: 1, revisions: [[0, 1, 2]], isEmpty: false }
  const { body } = listAnswer(page, call, { values } as unknown as Statements)
  await expect(body!.getReader().read()).rejects.toThrow('versions of a list at 1 were compacted')
})
