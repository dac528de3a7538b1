/** Objects that a write reads beside its own, like the quotas of its namespace. Clients make as many as they like. */
import { expect, test, vi } from 'vitest'
import { MOST_TOGETHER, eachStoredObject, objectsTogether, storedObjects } from '../../src/tenancy/stored-objects.ts'
import { memoryServer } from '../request-in-memory.ts'

const QUOTAS = { group: '', resource: 'resourcequotas' }
const LONG = 'x'.repeat(MOST_TOGETHER / 4)

async function withQuotas(count: number, text: string) {
  const server = memoryServer({})
  for (let at = 0; at < count; at++) {
    const metadata = { name: `q${at}`, namespace: 'a', annotations: { text } }
    await server.put('', 'resourcequotas', { apiVersion: 'v1', kind: 'ResourceQuota', metadata })
  }
  return server.request('/')
}

const names = (objects: readonly { readonly metadata: { readonly name?: string } }[]) =>
  objects.map(({ metadata }) => metadata.name)

test('more than a request may hold are refused', async () => {
  const request = await withQuotas(4, LONG)
  await expect(storedObjects(request, QUOTAS, 'a')).rejects.toMatchObject({
    code: 403,
    message: 'resourcequotas is forbidden: all resourcequotas of namespace "a" have more than 4194304 characters',
  })
  expect(await objectsTogether(request, QUOTAS, { namespace: 'a' })).toBe('too much')
})

test('as many as a request may hold are read', async () => {
  const request = await withQuotas(3, LONG)
  expect(names(await storedObjects(request, QUOTAS, 'a'))).toEqual(['q0', 'q1', 'q2'])
  expect(await storedObjects(request, QUOTAS, 'b')).toEqual([])
})

test('more than the caller wants are too many', async () => {
  const request = await withQuotas(3, '')
  expect(await objectsTogether(request, QUOTAS, { most: 2 })).toBe('too many')
  expect(names((await objectsTogether(request, QUOTAS, { most: 3 })) as { metadata: object }[])).toHaveLength(3)
})

test('they are parsed once the memory has room for all of them', async () => {
  const request = await withQuotas(3, LONG)
  const seen: (string | number)[] = []
  request.takeRoom = async (value, size) => void seen.push(value, size)
  const { parse } = JSON
  const spied = vi.spyOn(JSON, 'parse').mockImplementation((text: string) => {
    if (text.includes('xxxxx')) seen.push('parsed')
    return parse(text) as unknown
  })
  await storedObjects(request, QUOTAS, 'a').finally(() => spied.mockRestore())
  expect(seen).toEqual(['others', expect.any(Number), 'parsed', 'parsed', 'parsed'])
  expect(seen[1]).toBeGreaterThan(3 * LONG.length)
})

test('one after the other there may be more', async () => {
  const request = await withQuotas(5, LONG)
  const found: unknown[] = []
  for await (const { metadata } of eachStoredObject(request, QUOTAS, 'a')) found.push(metadata.name)
  expect(found).toHaveLength(5)
})
