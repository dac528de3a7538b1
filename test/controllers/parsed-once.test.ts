import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test, vi } from 'vitest'
import { parseStoredObject } from '../../src/codec/stored-object.ts'
import { parsedOnce } from '../../src/controllers/parsed-once.ts'

const pod = (version: string, uid = 'u') =>
  `{"kind":"Pod","metadata":{"name":"a","uid":"${uid}","resourceVersion":"${version}","labels":{"version":"${version}"}}}`

/** Parses it for a tenant, and says whether it had to. */
function reader(uid: string) {
  return (text: string) => {
    const parse = vi.fn(() => parseStoredObject(text))
    const object = parsedOnce({ uid }, text, parse)
    return { object, parses: parse.mock.calls.length }
  }
}

test('each version is parsed once', () => {
  const read = reader('each-version')
  const first = read(pod('1'))
  expect(first.parses).toBe(1)
  expect(read(pod('1'))).toEqual({ object: first.object, parses: 0 })
  expect(read(pod('2'))).toMatchObject({ object: { metadata: { resourceVersion: '2' } }, parses: 1 })
  expect(read(pod('1'))).toMatchObject({ object: { metadata: { resourceVersion: '1' } }, parses: 1 })
})

test('another object, and that of another control plane, is another', () => {
  const read = reader('one-plane')
  read(pod('1'))
  expect(read(pod('1', 'other'))).toMatchObject({ object: { metadata: { uid: 'other' } }, parses: 1 })
  expect(reader('other-plane')(pod('1')).parses).toBe(1)
})

test('nobody changes what others see', () => {
  const { object } = reader('frozen')(pod('1'))
  expect(() => Object.assign(object.metadata, { name: 'b' })).toThrow(TypeError)
  expect(() => Object.assign(object.metadata.labels!, { version: '2' })).toThrow(TypeError)
})

test('a text that was cut from a long one does not keep the long one', () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void // of the flag above
  const heap = () => (collectGarbage(), process.memoryUsage().heapUsed)
  const before = heap()
  for (let n = 0; n < 50; n++) {
    const long = new TextDecoder().decode(new TextEncoder().encode(`${pod('1', `u${n}`)}\n${'x'.repeat(1_000_000)}`))
    const text = long.slice(0, long.indexOf('\n'))
    parsedOnce({ uid: 'cut' }, text, () => parseStoredObject(text))
  }
  expect(heap() - before).toBeLessThan(5_000_000)
})
