import { describe, expect, test } from 'vitest'
import type { GroupResource } from '../../src/api/group-version.ts'
import { builtInServed } from '../../src/registry/served/built-in-served.ts'
import { receive } from '../../src/request/receive.ts'
import { collectionOf } from '../../src/storage/collections.ts'
import { answeredHere, notHere } from '../../src/storage/shards/shards-here.ts'
import {
  SnapshotData,
  controlSnapshot,
  freshControlSnapshot,
  snapshotBeforeRefusal,
  noticingControlWrites,
} from '../../src/tenancy/control-snapshot.ts'
import type { MemoryServer } from '../request-in-memory.ts'
import { storageOf } from '../../src/storage/environment-storage.ts'
import { memoryServer } from '../request-in-memory.ts'

const NAMESPACES = { group: '', resource: 'namespaces' }
const ROLES = { group: 'rbac.authorization.k8s.io', resource: 'roles' }
const text = (name: string, namespace?: string) => JSON.stringify({ metadata: { name, namespace } })

const first = SnapshotData.empty.with({
  revision: 10,
  reset: true,
  more: false,
  changed: [
    { key: 'namespaces/b', revision: 1, text: text('b') },
    { key: 'namespaces/a', revision: 2, text: text('a') },
    { key: 'roles.rbac.authorization.k8s.io/a/r', revision: 3, text: text('r', 'a') },
  ],
})

test('types apart, in the order of their keys', () => {
  expect(first.list(NAMESPACES).map(({ metadata }) => metadata.name)).toEqual(['a', 'b'])
  expect(first.inNamespace(ROLES, 'a')).toHaveLength(1)
  expect(first.inNamespace(ROLES, 'b')).toEqual([])
  expect(first.get(ROLES, 'a/r')?.metadata.name).toBe('r')
  expect(first.get(ROLES, 'a/x')).toBeUndefined()
})

test('unchanged lists stay the same value, so that results can be kept beside them', () => {
  const roles = first.list(ROLES)
  const a = first.get(NAMESPACES, 'a')
  const second = first.with({
    revision: 12,
    reset: false,
    more: false,
    changed: [
      { key: 'namespaces/b', revision: 11 },
      { key: 'namespaces/c', revision: 12, text: text('c') },
    ],
  })
  expect(second.revision).toBe(12)
  expect(second.list(NAMESPACES).map(({ metadata }) => metadata.name)).toEqual(['a', 'c'])
  expect(second.list(ROLES)).toBe(roles)
  expect(second.get(NAMESPACES, 'a')).toBe(a)
  expect(first.list(NAMESPACES).map(({ metadata }) => metadata.name)).toEqual(['a', 'b'])
})

test('its size is that of the texts it holds', () => {
  const change = (name: string, value?: string) => ({
    key: `namespaces/${name}`,
    revision: 11,
    ...(value === undefined ? {} : { text: value }),
  })
  const next = { revision: 11, reset: false, more: false }
  const grown = first.with({ ...next, changed: [change('a', text('a') + ' '), change('c', text('c'))] })
  expect(grown.size - first.size).toBe(1 + text('c').length)
  expect(grown.with({ ...next, changed: [change('c'), change('never')] }).size - first.size).toBe(1)
})

test('a reset forgets what was there', () => {
  const second = first.with({ revision: 20, reset: true, more: false, changed: [] })
  expect(second.list(NAMESPACES)).toEqual([])
})

/** A server whose calls for changes are counted, and wait until they are let through. */
function countedServer() {
  const made = memoryServer()
  // calls go through the shards
  const server = Object.assign(made, { storage: storageOf(made.env) })
  const namespace = server.env.SHARDS as unknown as {
    get(name: string): { changes(since?: number, ...more: unknown[]): Promise<unknown> }
  }
  const waiting: (() => void)[] = []
  let calls = 0
  let held = false
  const get = namespace.get
  namespace.get = (name) => {
    const stub = get(name)
    return {
      ...stub,
      async changes(since, ...more) {
        calls++
        if (held) await new Promise<void>((resolve) => waiting.push(resolve))
        return stub.changes(since, ...more)
      },
    }
  }
  return {
    server,
    count: () => calls,
    hold: () => (held = true),
    async letThrough() {
      held = false
      for (const go of waiting.splice(0)) go()
    },
  }
}

test('thirty requests for a fresh snapshot at once need two calls', async () => {
  const { server, count, hold, letThrough } = countedServer()
  await controlSnapshot(server)
  const before = count()
  hold()
  const first = freshControlSnapshot(server)
  const others = Array.from({ length: 30 }, () => freshControlSnapshot(server))
  await Promise.resolve()
  await letThrough()
  await Promise.all([first, ...others])
  expect(count() - before).toBe(2)
})

test('writes before the call are seen, though an older call is in progress', async () => {
  const { server, hold, letThrough } = countedServer()
  await controlSnapshot(server)
  hold()
  const older = freshControlSnapshot(server)
  await Promise.resolve()
  await server.put('', 'namespaces', { metadata: { name: 'late' } })
  const fresh = freshControlSnapshot(server)
  await letThrough()
  await older
  expect((await fresh).get(NAMESPACES, 'late')?.metadata.name).toBe('late')
})

test('the next request sees what this isolate wrote', async () => {
  const { server } = countedServer()
  await controlSnapshot(server)
  const collection = collectionOf(server.tenant, NAMESPACES)
  const value = { text: '{"metadata":{"resourceVersion":"","name":"own"}}', at: 32, uid: 'u' }
  await noticingControlWrites(server.storage).create(collection, 'own', value)
  expect((await controlSnapshot(server)).get(NAMESPACES, 'own')?.metadata.name).toBe('own')
})

describe('a definition that this isolate wrote', () => {
  const DEFINITIONS = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }
  const write = async (server: MemoryServer, resource: GroupResource) => {
    const value = { text: '{"metadata":{"resourceVersion":"","name":"own"}}', at: 32, uid: 'u' }
    await noticingControlWrites(server.storage).create(collectionOf(server.tenant, resource), 'own', value)
  }

  test('is seen by the next request that may be about it, and fetched by no other', async () => {
    const { server, count } = countedServer()
    await controlSnapshot(server)
    await write(server, DEFINITIONS)
    const before = count()
    for (let n = 0; n < 30; n++) await controlSnapshot({ ...server, definitionsMayLag: true })
    expect(count()).toBe(before)
    expect((await controlSnapshot(server)).get(DEFINITIONS, 'own')?.metadata.name).toBe('own')
    expect(count()).toBe(before + 1)
  })

  test('keeps nobody from what else this isolate wrote', async () => {
    const { server } = countedServer()
    await controlSnapshot(server)
    await write(server, NAMESPACES)
    await write(server, DEFINITIONS)
    const snapshot = await controlSnapshot({ ...server, definitionsMayLag: true })
    expect(snapshot.get(NAMESPACES, 'own')?.metadata.name).toBe('own')
  })

  test.each([
    ['/api/v1/pods', true],
    ['/apis/apiextensions.k8s.io/v1/customresourcedefinitions/a', true],
    ['/apis/example.com/v1/things', false],
    ['/apis', false],
    ['/openapi/v2', false],
  ])('may be what %s is about: unless %s', (path, mayLag) => {
    const execution = { waitUntil: () => {}, passThroughOnException: () => {} } as unknown as ExecutionContext
    const { env } = memoryServer()
    const { isBuiltInGroup } = builtInServed(env).resources
    const request = receive(new Request(`https://server${path}`), env, execution, () => 0, isBuiltInGroup)
    expect(request).toMatchObject({ definitionsMayLag: mayLag })
  })
})

test('an object and a request do not wait for each other: each makes its own call', async () => {
  const { server, count, hold, letThrough } = countedServer()
  await freshControlSnapshot(server)
  const before = count()
  hold()
  const ofRequest = freshControlSnapshot(server)
  const ofObject = freshControlSnapshot({ ...server, isObject: true })
  await Promise.resolve()
  expect(count() - before).toBe(2)
  await letThrough()
  await Promise.all([ofRequest, ofObject])
})

describe('where the object of the control shard is in this isolate', () => {
  /** As the object says of itself. */
  async function withObjectHere() {
    const counted = countedServer()
    const { server } = counted
    const { revision } = await controlSnapshot(server)
    const newest = { revision }
    const name = `${server.tenant.uid}/control`
    answeredHere(name, newest, Date.now())
    const before = counted.count()
    return { ...counted, name, newest, calls: () => counted.count() - before }
  }
  const late = (server: MemoryServer) => server.put('', 'namespaces', { metadata: { name: 'late' } })
  const seesLate = async (server: MemoryServer) => (await snapshotBeforeRefusal(server)).get(NAMESPACES, 'late')

  test('a refusal takes no call while that wrote nothing', async () => {
    const { server, calls } = await withObjectHere()
    for (let n = 0; n < 30; n++) await snapshotBeforeRefusal(server)
    expect(calls()).toBe(0)
  })

  // grants of rights and deletions of namespaces are not decided from the object in this isolate
  test('what needs all that was written asks', async () => {
    const { server, calls } = await withObjectHere()
    await late(server)
    expect((await freshControlSnapshot(server)).get(NAMESPACES, 'late')).toBeDefined()
    expect(calls()).toBe(1)
  })

  test('what it wrote since is fetched', async () => {
    const { server, newest, calls } = await withObjectHere()
    await late(server)
    newest.revision += 1
    expect(await seesLate(server)).toBeDefined()
    expect(calls()).toBe(1)
  })

  test.each<[why: string, happens: (name: string, newest: { readonly revision: number }) => void]>([
    ['began anew', (name) => notHere(name)],
    ['answered nothing for a while', (name, newest) => answeredHere(name, newest, Date.now() - 2_001)],
  ])('one that %s is asked', async (_, happens) => {
    const { server, name, newest, calls } = await withObjectHere()
    happens(name, newest)
    await late(server)
    expect(await seesLate(server)).toBeDefined()
    expect(calls()).toBe(1)
  })
})
