import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { noticingControlWrites } from '../../src/tenancy/control-snapshot.ts'
import { readingRecent, recentObject, recentObjects } from '../../src/tenancy/recent-objects.ts'
import { collectionOf } from '../../src/storage/collections.ts'
import { storageOf } from '../../src/storage/environment-storage.ts'
import { memoryServer } from '../request-in-memory.ts'

const LIMITS = { group: '', resource: 'limitranges' }

const limits = (name: string, namespace: string) => ({
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { name, namespace },
  spec: { limits: [] },
})

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

async function serverWith(...names: string[]) {
  const server = memoryServer()
  for (const name of names) await server.put('', 'limitranges', limits(name, 'blue'))
  const namesIn = async (namespace: string) =>
    (await recentObjects(server, LIMITS, namespace)).map(({ metadata }) => metadata.name)
  return { server, namesIn }
}

/** Writes as a request of this isolate does. */
async function writeHere({ env, tenant }: ReturnType<typeof memoryServer>, namespace: string, name: string) {
  const start = '{"metadata":{"resourceVersion":"'
  const text = `${start}",${JSON.stringify({ name, namespace, uid: name }).slice(1)},"spec":{}}`
  const collection = collectionOf(tenant, LIMITS)
  const value = { text, at: start.length, uid: name }
  await noticingControlWrites(storageOf(env)).create(collection, `${namespace}/${name}`, value)
}

test('a write of another isolate is seen a second later', async () => {
  const { server, namesIn } = await serverWith('a')
  expect(await namesIn('blue')).toEqual(['a'])
  await server.put('', 'limitranges', limits('b', 'blue'))
  expect(await namesIn('blue')).toEqual(['a'])
  vi.advanceTimersByTime(1_000)
  expect(await namesIn('blue')).toEqual(['a', 'b'])
})

test('a write of this isolate is seen at once, also after a read that began before', async () => {
  const { server, namesIn } = await serverWith()
  expect(await namesIn('blue')).toEqual([])
  await writeHere(server, 'blue', 'a')
  expect(await namesIn('blue')).toEqual(['a'])
  const early = namesIn('blue')
  await writeHere(server, 'blue', 'b')
  await early
  expect(await namesIn('blue')).toEqual(['a', 'b'])
})

test('namespaces are apart, and so are control planes', async () => {
  const { namesIn } = await serverWith('a')
  const other = await serverWith('b')
  expect([await namesIn('blue'), await namesIn('red'), await other.namesIn('blue')]).toEqual([['a'], [], ['b']])
})

test('that an object is absent is not remembered', async () => {
  const { server } = await serverWith()
  const find = () => recentObject(server, LIMITS, 'blue/a')
  expect(await find()).toBeUndefined()
  await server.put('', 'limitranges', limits('a', 'blue'))
  expect(await find()).toMatchObject({ metadata: { name: 'a' } })
})

test('shared objects cannot be changed', async () => {
  const { server } = await serverWith('a')
  const found = await recentObject<{ spec: { limits: unknown[] } }>(server, LIMITS, 'blue/a')
  expect(() => found!.spec.limits.push({})).toThrow(TypeError)
  expect(() => Object.assign(found!.metadata, { name: 'b' })).toThrow(TypeError)
})

test('what a caller reads by itself and hands over is not read again, for a second', async () => {
  const { server } = await serverWith('a')
  const find = () => recentObject<{ handed: string }>(server, LIMITS, 'blue/a')
  readingRecent(server, LIMITS)('blue/a', { handed: 'over' })
  expect(await find()).toEqual({ handed: 'over' })
  vi.advanceTimersByTime(1_000)
  expect(await find()).toMatchObject({ metadata: { name: 'a' } })
})

test('what is handed over is not known where this isolate wrote since the reading began', async () => {
  const { server } = await serverWith('a')
  const handOver = readingRecent<object>(server, LIMITS)
  await writeHere(server, 'blue', 'b')
  handOver('blue/b', { handed: 'over' })
  expect(await recentObject(server, LIMITS, 'blue/b')).toMatchObject({ metadata: { name: 'b' } })
})

test('what is handed over gives way to what was read later', async () => {
  const { server } = await serverWith('a')
  const handOver = readingRecent<object>(server, LIMITS)
  vi.advanceTimersByTime(10)
  await recentObject(server, LIMITS, 'blue/a')
  handOver('blue/a', { handed: 'over' })
  expect(await recentObject(server, LIMITS, 'blue/a')).toMatchObject({ metadata: { name: 'a' } })
})
