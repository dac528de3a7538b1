import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test, vi } from 'vitest'
import { cloneJson } from '../../../src/json/clone-json.ts'
import type { JsonObject, KubeObject } from '../../../src/api/object.ts'
import { parseStoredObject } from '../../../src/codec/stored-object.ts'
import { parsedOnce } from '../../../src/controllers/work/parsed-once.ts'

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

const withFields = pod('1').replace(
  '"labels"',
  '"finalizers":["e.com/f"],"managedFields":[{"manager":"m","fieldsV1":{"f:spec":{}}}],"labels"',
)

test('managedFields are there for who asks, and in every copy', () => {
  const { object } = reader('fields')(withFields)
  const whole = parseStoredObject(withFields)
  expect(object).toEqual(whole)
  expect(object.metadata.managedFields).toEqual(whole.metadata.managedFields)
  expect(JSON.parse(JSON.stringify(object))).toEqual(whole)
  expect({ ...object.metadata }).toEqual(whole.metadata)
  expect(cloneJson(object as unknown as JsonObject)).toEqual(whole)
  expect(Object.isFrozen(object.metadata.finalizers)).toBe(true)
})

test('managedFields take no memory', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void // of the flag above
  const fields: WeakRef<object>[] = []
  const objects: KubeObject[] = []
  for (let n = 0; n < 10; n++) {
    const text = withFields.replace('"u"', `"u${n}"`)
    const parse = (): KubeObject => {
      const object = parseStoredObject(text)
      fields.push(new WeakRef(object.metadata.managedFields!))
      return object
    }
    objects.push(parsedOnce({ uid: 'memory' }, text, parse))
  }
  await new Promise((resolve) => setTimeout(resolve, 10)) // a WeakRef holds its object until the turn is over
  collectGarbage()
  expect(fields.filter((one) => one.deref() !== undefined)).toHaveLength(0)
  expect(objects[9]!.metadata.managedFields).toHaveLength(1)
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
