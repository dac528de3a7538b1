/**
 * The contract of a storage, which every implementation must keep. The suite runs on the storage in memory and on the
 * Durable Object, which it restarts between steps because a Durable Object's memory is only a cache.
 */
import { beforeEach, describe, expect, it } from 'vitest'
import type { StorageErrorCode } from '../src/storage/errors.ts'
import { parseFieldSelector } from '../src/storage/selectors/field-selector.ts'
import { parseLabelSelector } from '../src/storage/selectors/label-selector.ts'
import { revisionAt, TICKS } from '../src/storage/revisions/revision.ts'
import type { FieldPlace, Selection } from '../src/storage/selectors/selection.ts'
import { everything } from '../src/storage/selectors/selection.ts'
import type {
  Collection,
  ListAt,
  ListQuery,
  NewValue,
  RestoredValue,
  Revision,
  Selectable,
  Storage,
  StoredValue,
  Watch,
  WatchMessage,
} from '../src/storage/storage.ts'

export interface StorageSubject {
  readonly storage: Storage
  /** Drops the states that only revisions before `floor` need. */
  compact(collection: Collection, floor: Revision): Promise<void>
  /** Ends the instance; durable data remains. */
  restart(collection: Collection): Promise<void>
}

/** A JSON text like those of the API, with a place for the revision. */
export function valueOf(
  name: string,
  content: string,
  selectable: Selectable = {},
  uid: string = `uid-of-${name}`,
): NewValue {
  const head = `{"kind":"Thing","apiVersion":"v1","metadata":{"name":${JSON.stringify(name)},"uid":"${uid}","resourceVersion":"`
  return {
    ...selectable,
    text: `${head}"},"content":${JSON.stringify(content)}}`,
    at: head.length,
    uid,
  }
}

export const labelled = (selector: string): Selection => ({ ...everything, labels: parseLabelSelector(selector) })
export const fielded = (selector: string): Selection => ({ ...everything, fields: parseFieldSelector(selector) })
/** By a field of the value, which a write may have kept beside the key. */
export const placed = (selector: string, place: FieldPlace = { names: ['content'] }): Selection => ({
  ...everything,
  fields: parseFieldSelector(selector).map((one) => ({ ...one, place })),
})

interface Parsed {
  readonly metadata: { readonly name: string; readonly resourceVersion: string }
  readonly content: string
}
const parsed = (text: string): Parsed => JSON.parse(text) as Parsed

/** `NAME=CONTENT` of each value. */
export async function listed(storage: Storage, things: Collection, query: Partial<ListQuery> = {}) {
  const list = await storage.list(things, { selection: everything, at: { kind: 'latest' }, counted: true, ...query })
  const text = await new Response(list.values).text()
  const values = text.split('\n').filter((line) => line !== '')
  expect(values.length).toBe(list.count)
  expect(values.length === 0).toBe(list.isEmpty)
  return {
    ...list,
    values: values.map((value) => `${parsed(value).metadata.name}=${parsed(value).content}`).join(' '),
  }
}

/** Reads messages of a watch until `enough` of them came; fails after `milliseconds`. */
export async function take(watch: Watch, enough: number, milliseconds = 5_000): Promise<string[]> {
  const messages: string[] = []
  const iterator = watch.messages[Symbol.asyncIterator]()
  const late = new Promise<'late'>((resolve) => setTimeout(resolve, milliseconds, 'late'))
  while (messages.length < enough) {
    const next = await Promise.race([iterator.next(), late])
    if (next === 'late') throw new Error(`only ${messages.length} of ${enough} messages came: ${messages.join(', ')}`)
    if (next.done === true) break
    messages.push(...[...next.value].map(messageText))
  }
  return messages
}

/** `ADDED NAME=CONTENT`, after checking that the revision is also in the text. */
function messageText(message: WatchMessage): string {
  if (message.kind !== 'event') return message.kind
  const { metadata, content } = parsed(message.text)
  expect(metadata.resourceVersion).toBe(String(message.revision))
  return `${message.type} ${metadata.name}=${content}`
}

/** @param isSealed where the shard cannot read values */
export function storageSuite(name: string, open: () => Promise<StorageSubject>, isSealed = false): void {
  describe(name, () => {
    let subject: StorageSubject
    let storage: Storage
    let things: Collection
    let test = 0

    beforeEach(async () => {
      subject = await open()
      storage = subject.storage
      things = { tenant: `suite-${test++}`, shard: 'things', prefix: 'things.example.com' }
    })

    const create = (key: string, content = '1', selectable?: Selectable) =>
      storage.create(things, key, valueOf(nameOf(key), content, selectable))
    const update = (key: string, content: string, stored: StoredValue, selectable?: Selectable) =>
      storage.update(things, key, valueOf(nameOf(key), content, selectable), stored.revision)
    const remove = (key: string, content: string, stored: StoredValue, selectable?: Selectable) =>
      storage.delete(things, key, valueOf(nameOf(key), content, selectable), stored.revision)
    const refusal = (code: StorageErrorCode, revision?: Revision) =>
      expect.objectContaining({ code, ...(revision === undefined ? {} : { revision }) })
    const watch = (from?: Revision, selection: Selection = everything, namespace?: string) =>
      storage.watch(things, { from, selection, namespace })

    describe('single values', () => {
      it('come back with their revision in them', async () => {
        const stored = await create('ns/a', 'x')
        expect(parsed(stored.text)).toMatchObject({
          metadata: { resourceVersion: String(stored.revision) },
          content: 'x',
        })
        expect(await storage.get(things, 'ns/a')).toEqual(stored)
        expect(await storage.get(things, 'ns/b')).toBeUndefined()
      })

      it('are created once; the same request sent twice is one', async () => {
        const stored = await create('ns/a')
        expect(await create('ns/a')).toEqual(stored)
        const other = { ...valueOf('a', '1'), uid: 'another' }
        await expect(storage.create(things, 'ns/a', other)).rejects.toEqual(refusal('KeyExists'))
      })

      it('are updated and deleted at the revision expected only', async () => {
        await expect(update('ns/a', '2', { revision: 5, text: '' })).rejects.toEqual(refusal('KeyNotFound'))
        const first = await create('ns/a')
        const second = await update('ns/a', '2', first)
        expect(second.revision).toBeGreaterThan(first.revision)
        await expect(update('ns/a', '3', first)).rejects.toEqual(refusal('Conflict', second.revision))
        await expect(remove('ns/a', '2', first)).rejects.toEqual(refusal('Conflict', second.revision))
        const last = await remove('ns/a', '2', second)
        expect(parsed(last.text)).toMatchObject({ metadata: { resourceVersion: String(last.revision) }, content: '2' })
        expect(await storage.get(things, 'ns/a')).toBeUndefined()
        await expect(remove('ns/a', '2', second)).rejects.toEqual(refusal('KeyNotFound'))
        expect((await create('ns/a', 'again')).revision).toBeGreaterThan(last.revision)
      })

      it('of one writer win when several write at once', async () => {
        const stored = await create('ns/a')
        const outcomes = await Promise.allSettled(
          ['2', '3', '4', '5'].map((content) => update('ns/a', content, stored)),
        )
        expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
        const names = await Promise.allSettled(
          ['x', 'x', 'y'].map((name, uid) =>
            storage.create(things, `ns/${name}`, { ...valueOf(name, '1'), uid: `other-${uid}` }),
          ),
        )
        const [first, second, other] = names.map(({ status }) => status)
        // Either of the two may be first, since a value may be encrypted before it is written.
        expect([first, second].sort()).toEqual(['fulfilled', 'rejected'])
        expect(other).toBe('fulfilled')
      })

      it('have a size that a row can hold', async () => {
        const large = await create('ns/large', 'x'.repeat(1_500_000))
        expect((await storage.get(things, 'ns/large'))?.text).toBe(large.text)
        await expect(create('ns/larger', 'x'.repeat(1_600_000))).rejects.toEqual(refusal('TooLarge'))
        await expect(create('ns/wide', '€'.repeat(600_000))).rejects.toEqual(refusal('TooLarge'))
        expect(await storage.get(things, 'ns/larger')).toBeUndefined()
      })

      it('keep any text exactly', async () => {
        const odd = '\u2028 € 𝒳 \u0000 \\ " \ud800 \n'
        const stored = await create('ns/a', odd)
        await subject.restart(things)
        expect(parsed((await storage.get(things, 'ns/a'))!.text).content).toBe(odd)
        expect((await update('ns/a', odd, stored)).revision).toBeGreaterThan(stored.revision)
      })

      it('survive a restart, as does the order of revisions', async () => {
        const stored = await create('ns/a')
        await subject.restart(things)
        expect(await storage.get(things, 'ns/a')).toEqual(stored)
        const next = await update('ns/a', '2', stored)
        expect(next.revision).toBeGreaterThan(stored.revision)
      })
    })

    describe('revisions', () => {
      it('of an empty shard are never 0', async () => {
        expect(await storage.revision(things)).toBeGreaterThanOrEqual(1)
        expect((await listed(storage, things)).revision).toBeGreaterThanOrEqual(1)
      })

      it('before the first request are too old, unless they may be those of another shard', async () => {
        await create('ns/a')
        const minutesAgo = (minutes: number) => revisionAt(Date.now() - minutes * 60_000)
        const at = (revision: Revision) => listed(storage, things, { at: { kind: 'exact', revision } })
        expect((await at(minutesAgo(4))).values).toBe('')
        expect(await take(await watch(minutesAgo(4)), 1)).toEqual(['ADDED a=1'])
        await expect(at(1)).rejects.toEqual(refusal('Compacted', 1))
        await expect(watch(minutesAgo(6))).rejects.toEqual(refusal('Compacted'))
      })

      it('that the clock has passed are reached, and nothing is written below them', async () => {
        const stored = await create('ns/a')
        const promised = revisionAt(Date.now())
        expect(promised).toBeGreaterThan(stored.revision - TICKS)
        const list = await listed(storage, things, { at: { kind: 'notOlderThan', revision: promised } })
        expect(list.revision).toBeGreaterThanOrEqual(promised)
        await subject.restart(things)
        expect(await storage.revision(things)).toBeGreaterThanOrEqual(promised)
        expect((await create('ns/b')).revision).toBeGreaterThan(promised)
      })

      it('of the future are refused', async () => {
        const revision = revisionAt(Date.now() + 3_600_000)
        const future = refusal('FutureRevision', revision)
        await expect(listed(storage, things, { at: { kind: 'exact', revision } })).rejects.toEqual(future)
        await expect(storage.get(things, 'ns/a', revision)).rejects.toEqual(future)
      }, 15_000)
    })

    it('tells which namespaces have objects of a type', async () => {
      for (const key of ['x/b', 'x-a/c', 'x0/d', 'y/a']) await create(key, '1')
      await storage.create({ ...things, prefix: 'others' }, 'z/a', valueOf('a', '1'))
      const of = async (...namespaces: string[]) => (await storage.occupied(things, namespaces)).join(' ')
      expect(await of('x0', 'none', 'x', 'x-', 'z', 'x', '')).toBe('x0 x x')
      const { revision } = await create('w/a', '1')
      expect(await of('w')).toBe('w')
      await storage.delete(things, 'w/a', valueOf('a', '1'), revision)
      expect(await of('w', 'y')).toBe('y')
    })

    it('reads many keys, of which some exist', async () => {
      for (const key of ['x/b', 'x/c', 'y/a']) await create(key, '1')
      const of = async (...keys: string[]) => {
        const found = await Array.fromAsync(storage.several(things, keys))
        for (const [key, stored] of found) expect(stored).toEqual(await storage.get(things, key))
        return found.map(([key]) => key).join(' ')
      }
      expect(await of('x/c', 'x/none', 'x/b', 'x', '', 'x/c', 'y/a/')).toBe('x/c x/b x/c')
      const many = Array.from({ length: 1_200 }, (_, n) => `x/${n}`)
      expect(await of('y/a', ...many, 'x/b')).toBe('y/a x/b')
      const large = Array.from({ length: 10 }, (_, n) => `z/${n}`)
      for (const key of large) await create(key, 'x'.repeat(100_000))
      expect(await of(...large)).toBe(large.join(' '))
    })

    describe('lists', () => {
      it('are in the order of the bytes of keys', async () => {
        for (const key of ['x/b', 'x-a/c', 'x0/d', 'x/a', 'x/a.b', 'x/a-b']) await create(key, '1')
        expect((await listed(storage, things)).values).toBe('c=1 a=1 a-b=1 a.b=1 b=1 d=1')
        expect((await listed(storage, things, { namespace: 'x' })).values).toBe('a=1 a-b=1 a.b=1 b=1')
        expect((await listed(storage, things, { namespace: 'none' })).values).toBe('')
        expect((await listed(storage, { ...things, prefix: 'things.example' })).values).toBe('')
      })

      it('of cluster-scoped things have keys without a namespace', async () => {
        await create('b')
        await create('a')
        expect((await listed(storage, things)).values).toBe('a=1 b=1')
        expect((await listed(storage, things, { selection: fielded('metadata.name=b') })).values).toBe('b=1')
      })

      it('keep resource types of one shard apart', async () => {
        await create('ns/a')
        const others = { ...things, prefix: 'others' }
        await storage.create(others, 'ns/b', valueOf('b', '1'))
        expect((await listed(storage, things)).values).toBe('a=1')
        expect((await listed(storage, others)).values).toBe('b=1')
      })

      it('select by labels, fields, names and owners', async () => {
        await create('ns/a', '1', { labels: { app: 'web', 'k"': 'v"' }, fields: { 'status.phase': 'Running' } })
        await create('ns/b', '1', { labels: { app: 'db' }, owners: ['uid-of-a'] })
        await create('other/b', '1', { labels: { apps: 'web' }, fields: { 'status.phase': 'Failed' } })
        const select = async (selection: Selection, namespace?: string) =>
          (await listed(storage, things, { selection, namespace })).values
        expect(await select(labelled('app=web'))).toBe('a=1')
        expect(await select(labelled('app in (web,db)'))).toBe('a=1 b=1')
        expect(await select(labelled('app notin (web)'))).toBe('b=1 b=1')
        expect(await select(labelled('app'))).toBe('a=1 b=1')
        expect(await select(labelled('!app'))).toBe('b=1')
        expect(await select(fielded('status.phase=Running'))).toBe('a=1')
        expect(await select(fielded('status.phase!=Running'))).toBe('b=1 b=1')
        expect(await select(fielded('status.phase='))).toBe('b=1')
        expect(await select(fielded('metadata.name=b'))).toBe('b=1 b=1')
        expect(await select(fielded('metadata.name=b'), 'other')).toBe('b=1')
        expect(await select(fielded('metadata.name=b,metadata.name=a'), 'other')).toBe('')
        expect(await select(fielded('metadata.namespace=other'))).toBe('b=1')
        expect(await select({ ...everything, owner: 'uid-of-a' })).toBe('b=1')
        expect(await select({ ...labelled('app=web'), fields: parseFieldSelector('metadata.name=b') })).toBe('')
      })

      it.skipIf(isSealed)('select by a field of the value that was not kept beside the key', async () => {
        const a1 = await create('ns/a', 'red')
        await create('ns/b', 'blue', { fields: { content: 'blue' } })
        await create('ns/c', '', { fields: { content: '' } })
        const select = async (selection: Selection, more: Partial<ListQuery> = {}) =>
          (await listed(storage, things, { selection, ...more })).values
        expect(await select(placed('content=red'))).toBe('a=red')
        expect(await select(placed('content!=red'))).toBe('b=blue c=')
        expect(await select(placed('content='))).toBe('c=')
        expect(await select(placed('content=red'), { limit: 1 })).toBe('a=red')
        expect(await select(placed('tier=gold', { names: ['tier'], filled: [true] }))).toBe('a=red b=blue c=')
        expect(await select(placed('tier!=gold', { names: ['tier'], filled: [true] }))).toBe('')
        expect(await select(placed('a.b=', { names: ['metadata', 'b'], filled: [false, true] }))).toBe(
          'a=red b=blue c=',
        )
        const before = await storage.revision(things)
        const a2 = await update('ns/a', 'blue', a1)
        await create('ns/d', 'red')
        await remove('ns/a', 'blue', a2)
        const at = { kind: 'exact', revision: before } as const
        expect(await select(placed('content=red'), { at })).toBe('a=red')
        expect(await select(placed('content=blue'), { at })).toBe('b=blue')
        expect(await select(placed('content=red'))).toBe('d=red')
      })

      it('show any revision as it was', async () => {
        const a1 = await create('ns/a', '1', { labels: { l: 'x' } })
        const b1 = await create('ns/b', '1')
        const a2 = await update('ns/a', '2', a1, { labels: { l: 'y' } })
        const gone = await remove('ns/b', '1', b1)
        const b2 = await create('ns/b', 'again')
        const at = async (revision: Revision, selection = everything) =>
          (await listed(storage, things, { at: { kind: 'exact', revision }, selection })).values
        await subject.restart(things)
        expect(await at(a1.revision)).toBe('a=1')
        expect(await at(b1.revision)).toBe('a=1 b=1')
        expect(await at(a2.revision)).toBe('a=2 b=1')
        expect(await at(gone.revision)).toBe('a=2')
        expect(await at(b2.revision)).toBe('a=2 b=again')
        expect(await at(b1.revision, labelled('l=x'))).toBe('a=1')
        expect(await at(b2.revision, labelled('l=x'))).toBe('')
        const { revision, values } = await listed(storage, things, {
          at: { kind: 'notOlderThan', revision: a1.revision },
        })
        expect([revision, values]).toEqual([b2.revision, 'a=2 b=again'])
      })

      it('come in pages of one snapshot', async () => {
        const stored: StoredValue[] = []
        for (const name of ['a', 'b', 'c', 'd', 'e']) stored.push(await create(`ns/${name}`))
        const first = await listed(storage, things, { namespace: 'ns', limit: 2 })
        expect([first.values, first.continueAfter, first.remaining]).toEqual(['a=1 b=1', 'ns/b', 3])
        await update('ns/c', '2', stored[2]!)
        await remove('ns/d', '1', stored[3]!)
        await create('ns/bb')
        const at = { kind: 'exact', revision: first.revision } as const
        const second = await listed(storage, things, { namespace: 'ns', limit: 2, at, start: 'ns/b\0' })
        expect([second.values, second.continueAfter, second.remaining]).toEqual(['c=1 d=1', 'ns/d', 1])
        expect(second.revision).toBe(first.revision)
        const third = await listed(storage, things, { namespace: 'ns', limit: 2, at, start: 'ns/d\0' })
        expect([third.values, third.continueAfter, third.remaining]).toEqual(['e=1', undefined, undefined])
        const now = await listed(storage, things, { namespace: 'ns', limit: 2, start: 'ns/b\0' })
        expect([now.values, now.continueAfter, now.remaining]).toEqual(['bb=1 c=2', 'ns/c', 1])
      })

      it('that select do not tell how many remain', async () => {
        for (const name of ['a', 'b', 'c', 'd'])
          await create(`ns/${name}`, '1', { labels: { even: String(name > 'b') } })
        const pagesAt = async (at: ListAt): Promise<Revision> => {
          const page = await listed(storage, things, { at, limit: 1, selection: labelled('even=true') })
          expect([page.values, page.continueAfter, page.remaining]).toEqual(['c=1', 'ns/c', undefined])
          const exact = await listed(storage, things, { at, limit: 2, selection: labelled('even=true') })
          expect([exact.values, exact.continueAfter]).toEqual(['c=1 d=1', undefined])
          // A full page sets continueAfter while keys remain, even if no remaining key matches.
          const selection = labelled('even=false')
          const full = await listed(storage, things, { at, limit: 2, selection })
          expect([full.values, full.continueAfter]).toEqual(['a=1 b=1', 'ns/b'])
          const empty = await listed(storage, things, { at, limit: 2, selection, start: 'ns/b\0' })
          expect([empty.values, empty.continueAfter]).toEqual(['', undefined])
          return page.revision
        }
        const revision = await pagesAt({ kind: 'latest' })
        // as a past state: what was written since is no part of it
        await create('ns/e', '1', { labels: { even: 'false' } })
        await pagesAt({ kind: 'exact', revision })
      })

      it('write items without what lists leave out', async () => {
        await create('ns/a')
        await create('ns/b')
        const shape = { as: 'items', without: '{"kind":"Thing","apiVersion":"v1",' } as const
        const list = await storage.list(things, { selection: everything, at: { kind: 'latest' }, shape })
        const items: unknown = JSON.parse(`[${await new Response(list.values).text()}]`)
        expect(items).toEqual([
          expect.objectContaining({ metadata: expect.objectContaining({ name: 'a' }) as unknown }),
          expect.objectContaining({ metadata: expect.objectContaining({ name: 'b' }) as unknown }),
        ])
        expect(items).not.toEqual([expect.objectContaining({ kind: 'Thing' }), expect.anything()])
      })

      it('write one member of each value', async () => {
        await create('ns/a', '}"{')
        await create('ns/b')
        const before = '{"kind":"Thing","apiVersion":"v1","metadata":'
        const shape = { as: 'members', before, head: '{"only":', tail: ',"more":1}' } as const
        const list = await storage.list(things, { selection: everything, at: { kind: 'latest' }, shape })
        const items: unknown = JSON.parse(`[${await new Response(list.values).text()}]`)
        expect(items).toEqual([
          { only: expect.objectContaining({ name: 'a' }) as unknown, more: 1 },
          { only: expect.objectContaining({ name: 'b' }) as unknown, more: 1 },
        ])
      })

      it('may be long', async () => {
        await Promise.all(Array.from({ length: 700 }, (_, i) => create(`ns/n${1000 + i}`, 'x'.repeat(i * 10))))
        const list = await listed(storage, things)
        expect(list.count).toBe(700)
        expect(list.values.startsWith('n1000= n1001=xxxxxxxxxx n1002=')).toBe(true)
      }, 30_000)

      it('stay one snapshot however slowly they are read', async () => {
        const key = (i: number) => `ns/n${1000 + i}`
        const made = await Promise.all(Array.from({ length: 700 }, (_, i) => create(key(i), 'x'.repeat(2_000))))
        const before = await listed(storage, things)
        const { isEmpty, values } = await storage.list(things, { selection: everything, at: { kind: 'latest' } })
        await remove(key(690), '', made[690]!)
        await update(key(691), 'changed', made[691]!)
        await create(`${key(692)}-new`)
        expect(isEmpty).toBe(false)
        const lines = (await new Response(values).text()).split('\n').slice(0, -1)
        expect(lines.map((line) => `${parsed(line).metadata.name}=${parsed(line).content}`).join(' ')).toBe(
          before.values,
        )
      }, 30_000)

      it('at a revision that was compacted are refused', async () => {
        const a1 = await create('ns/a', '1')
        const b1 = await create('ns/b', '1')
        const a2 = await update('ns/a', '2', a1)
        const gone = await remove('ns/b', '1', b1)
        await subject.compact(things, a2.revision)
        const at = (revision: Revision) => listed(storage, things, { at: { kind: 'exact', revision } })
        await expect(at(b1.revision)).rejects.toEqual(refusal('Compacted', b1.revision))
        expect((await at(a2.revision)).values).toBe('a=2 b=1')
        await subject.compact(things, gone.revision)
        await subject.restart(things)
        await expect(at(a2.revision)).rejects.toEqual(refusal('Compacted', a2.revision))
        expect((await at(gone.revision)).values).toBe('a=2')
        expect(await storage.revision(things)).toBe(gone.revision)
      })
    })

    describe('watches', () => {
      it('tell what happens after a revision, in order', async () => {
        const a1 = await create('ns/a', '1')
        const b1 = await create('ns/b', '1')
        const a2 = await update('ns/a', '2', a1)
        const watched = await watch(a1.revision)
        await update('ns/a', '3', a2)
        await remove('ns/b', '1', b1)
        await create('ns/b', 'again')
        expect(await take(watched, 5)).toEqual([
          'ADDED b=1',
          'MODIFIED a=2',
          'MODIFIED a=3',
          'DELETED b=1',
          'ADDED b=again',
        ])
      })

      it('without a revision tell first what exists', async () => {
        await create('ns/b')
        const a1 = await create('ns/a')
        const watched = await watch()
        await update('ns/a', '2', a1)
        expect(await take(watched, 4)).toEqual(['ADDED a=1', 'ADDED b=1', 'synced', 'MODIFIED a=2'])
        expect(await take(await watch(undefined, labelled('none')), 1)).toEqual(['synced'])
      })

      it('see objects enter and leave their selection', async () => {
        const from = await storage.revision(things)
        const selection = labelled('on')
        const live = await watch(from, selection)
        const a1 = await create('ns/a', '1')
        const a2 = await update('ns/a', '2', a1, { labels: { on: '' } })
        const a3 = await update('ns/a', '3', a2, { labels: { on: 'y' } })
        const a4 = await update('ns/a', '4', a3)
        const a5 = await update('ns/a', '5', a4)
        const a6 = await update('ns/a', '6', a5, { labels: { on: '' } })
        await remove('ns/a', '6', a6, { labels: { on: '' } })
        const events = ['ADDED a=2', 'MODIFIED a=3', 'DELETED a=3', 'ADDED a=6', 'DELETED a=6']
        expect(await take(live, 5)).toEqual(events)
        await subject.restart(things)
        expect(await take(await watch(from, selection), 5)).toEqual(events)
      })

      it.skipIf(isSealed)('by a field that was not kept show objects that come and go', async () => {
        const from = await storage.revision(things)
        const live = await watch(from, placed('content=red'))
        const a1 = await create('ns/a', 'blue')
        const a2 = await update('ns/a', 'red', a1)
        const a3 = await update('ns/a', 'red', a2)
        const a4 = await update('ns/a', 'blue', a3)
        const a5 = await update('ns/a', 'red', a4, { fields: { content: 'red' } })
        await remove('ns/a', 'red', a5)
        const events = ['ADDED a=red', 'MODIFIED a=red', 'DELETED a=red', 'ADDED a=red', 'DELETED a=red']
        expect(await take(live, 5)).toEqual(events)
        await subject.restart(things)
        expect(await take(await watch(from, placed('content=red')), 5)).toEqual(events)
      })

      it('are of one namespace, or one name, or one type', async () => {
        const from = await storage.revision(things)
        const inNamespace = await watch(from, everything, 'x')
        const named = await watch(from, fielded('metadata.name=b'))
        await storage.create({ ...things, prefix: 'others' }, 'x/z', valueOf('z', '1'))
        for (const key of ['x-a/a', 'x/b', 'y/b', 'x/c']) await create(key, key)
        expect(await take(inNamespace, 2)).toEqual(['ADDED b=x/b', 'ADDED c=x/c'])
        expect(await take(named, 2)).toEqual(['ADDED b=x/b', 'ADDED b=y/b'])
      })

      it('show a deleted object as its deleter left it', async () => {
        const a1 = await create('ns/a', '1')
        const watched = await watch(a1.revision)
        await remove('ns/a', 'last words', a1)
        expect(await take(watched, 1)).toEqual(['DELETED a=last words'])
      })

      it('go on when the instance ends', async () => {
        const a1 = await create('ns/a', '1')
        const watched = await watch(a1.revision)
        const a2 = await update('ns/a', '2', a1)
        await subject.restart(things)
        const a3 = await update('ns/a', '3', a2)
        await subject.restart(things)
        await remove('ns/a', '3', a3)
        expect(await take(watched, 3)).toEqual(['MODIFIED a=2', 'MODIFIED a=3', 'DELETED a=3'])
      })

      it('begin anywhere in a long past', async () => {
        let stored = await create('ns/a', '0')
        const from = stored.revision
        for (let i = 1; i <= 30; i++) stored = await update('ns/a', `${i} ${'x'.repeat(100_000)}`, stored)
        const events = await take(await watch(from), 30)
        expect(events.map((event) => event.slice(0, 'MODIFIED a=99'.length).trim())).toEqual(
          Array.from({ length: 30 }, (_, i) => `MODIFIED a=${i + 1}`),
        )
      }, 30_000)

      it('tell how far they are when asked', async () => {
        const a1 = await create('ns/a', '1')
        const watched = await watch(a1.revision, labelled('none'))
        await update('ns/a', '2', a1)
        await new Promise((resolve) => setTimeout(resolve, 50))
        watched.ping()
        expect(await take(watched, 1)).toEqual(['progress'])
      })

      it('from a revision that was compacted are refused', async () => {
        const a1 = await create('ns/a', '1')
        const a2 = await update('ns/a', '2', a1)
        await subject.compact(things, a2.revision)
        await expect(watch(a1.revision)).rejects.toEqual(refusal('Compacted', a1.revision))
        const watched = await watch(a2.revision)
        await remove('ns/a', '2', a2)
        expect(await take(watched, 1)).toEqual(['DELETED a=2'])
      })

      it('may begin in the future', async () => {
        const watched = await watch(revisionAt(Date.now() + 3_600_000))
        await create('ns/a', '1')
        await expect(take(watched, 1, 300)).rejects.toThrow('only 0 of 1')
      })

      it('end when cancelled', async () => {
        const watched = await watch()
        watched.cancel()
        expect((await take(watched, 9)).length).toBeLessThanOrEqual(1)
      })
    })

    describe('a restore', () => {
      const backup = async () => {
        const a = await create('ns/a', 'x', { labels: { l: '1' } })
        const b = await create('ns/b', 'y')
        const values = [a, b].map(({ revision }, n) => {
          const [key, content, labels] = n === 0 ? ['ns/a', 'x', { l: '1' }] : ['ns/b', 'y', undefined]
          return { key: key as string, revision, value: valueOf(nameOf(key as string), content as string, { labels }) }
        })
        return { a, b, values, other: { ...things, tenant: `${things.tenant}-restored` } }
      }

      const ID = 1_000
      const restore = async (shard: Collection, values: readonly RestoredValue[], cut: Revision) => {
        await storage.lock(shard, ID)
        await storage.clear(shard, ID)
        await storage.restore(shard, ID, values)
        await storage.unlock(shard, ID, cut)
      }

      it('puts back what was, at the revision it had, and selects it as before', async () => {
        const { a, b, values, other } = await backup()
        await restore(other, values, b.revision)
        await subject.restart(other)
        expect(await storage.get(other, 'ns/a')).toEqual(a)
        expect((await listed(storage, other)).values).toBe('a=x b=y')
        expect((await listed(storage, other, { selection: labelled('l=1') })).values).toBe('a=x')
      })

      it('leaves no history, and writes go on above it', async () => {
        const { a, b, values, other } = await backup()
        const before = await storage.create(other, 'ns/c', valueOf('c', 'gone'))
        await restore(other, values, b.revision)
        expect((await listed(storage, other)).values).toBe('a=x b=y')
        await expect(storage.watch(other, { from: before.revision, selection: everything })).rejects.toEqual(
          refusal('Compacted'),
        )
        await expect(storage.watch(other, { from: b.revision, selection: everything })).rejects.toEqual(
          refusal('Compacted'),
        )
        expect(await storage.changes(other, before.revision)).toMatchObject({ reset: true })
        const next = await storage.update(other, 'ns/a', valueOf('a', 'z'), a.revision)
        expect(next.revision).toBeGreaterThan(Math.max(b.revision, before.revision))
      })

      it('is alone with the shard, from beginning to end and over a restart', async () => {
        const a = await create('ns/a', '1')
        await storage.lock(things, ID)
        await subject.restart(things)
        const all = { selection: everything, at: { kind: 'latest' } } as const
        const calls: (() => Promise<unknown>)[] = [
          () => storage.get(things, 'ns/a'),
          () => storage.create(things, 'ns/b', valueOf('b', '1')),
          () => storage.createMissing(things, [{ key: 'things.example.com/ns/c', value: valueOf('c', '1') }]),
          () => storage.update(things, 'ns/a', valueOf('a', '2'), a.revision),
          () => storage.delete(things, 'ns/a', valueOf('a', '1'), a.revision),
          () => storage.list(things, all),
          () => storage.occupied(things, ['ns']),
          () => Array.fromAsync(storage.several(things, ['ns/a'])),
          () => storage.watch(things, { selection: everything }),
          () => storage.watch(things, { from: a.revision, selection: everything }),
          () => storage.changes(things, a.revision),
        ]
        for (const call of calls) await expect(call()).rejects.toEqual(refusal('Restoring'))
        expect(await storage.lockedKeys(things, ID)).toEqual(['ns/a'])
        await storage.clear(things, ID)
        await expect(storage.get(things, 'ns/a')).rejects.toEqual(refusal('Restoring'))
        await storage.unlock(things, ID, 0)
        expect(await storage.get(things, 'ns/a')).toBeUndefined()
        expect((await listed(storage, things)).values).toBe('')
      })

      it('ends watches: what comes next is of another state', async () => {
        const watched = await watch()
        await create('ns/a', '1')
        await take(watched, 1)
        await storage.lock(things, ID)
        await expect(take(watched, 9)).rejects.toEqual(refusal('Compacted'))
      })

      it('gives way to a later one', async () => {
        await storage.lock(things, ID)
        await storage.lock(things, ID + 1)
        const { values } = { values: [{ key: 'ns/z', revision: 7, value: valueOf('z', '1') }] }
        for (const call of [
          () => storage.lock(things, ID),
          () => storage.clear(things, ID),
          () => storage.restore(things, ID, values),
          () => storage.unlock(things, ID, 0),
        ])
          await expect(call()).rejects.toEqual(refusal('Superseded'))
        await storage.restore(things, ID + 1, values)
        await storage.unlock(things, ID + 1, 7)
        expect((await listed(storage, things)).values).toContain('z=1')
      })

      it('refuses an object or a version that is there already', async () => {
        const { a, b, values, other } = await backup()
        await storage.lock(other, ID)
        await storage.clear(other, ID)
        await storage.restore(other, ID, values)
        const again = { key: 'ns/a', revision: b.revision + 1, value: valueOf('a', 'z') }
        const sameVersion = { key: 'ns/c', revision: a.revision, value: valueOf('c', 'z') }
        for (const one of [again, sameVersion])
          await expect(storage.restore(other, ID, [one])).rejects.toEqual(refusal('KeyExists'))
        await storage.unlock(other, ID, b.revision)
        expect((await listed(storage, other)).values).toBe('a=x b=y')
      })

      it('does not begin where something was written that it has not seen', async () => {
        const a = await create('ns/a', '1')
        const b = await create('ns/b', '1')
        await expect(storage.lock(things, ID, a.revision)).rejects.toEqual(refusal('Conflict'))
        expect(await storage.get(things, 'ns/b')).toEqual(b)
        await storage.lock(things, ID, b.revision)
      })
    })

    it('a backup holds what is readable at its revision, for its time', async () => {
      const a = await create('ns/a', '1')
      await update('ns/a', '2', a)
      const later = await create('ns/b', '1')
      const atA = { selection: everything, at: { kind: 'exact', revision: a.revision } } as const
      await storage.hold(things, 'backup', a.revision, 60_000)
      await subject.compact(things, later.revision)
      expect((await listed(storage, things, atA)).values).toBe('a=1')
      await storage.hold(things, 'backup', a.revision, 0)
      await subject.compact(things, later.revision)
      await expect(storage.list(things, atA)).rejects.toEqual(refusal('Compacted'))
    })

    it('what is held is whole, also at a revision that the clock has not reached', async () => {
      const a = await create('ns/a', '1')
      const minutes = a.revision + 600_000 * TICKS
      await storage.hold(things, 'backup', minutes, 60_000)
      const b = await create('ns/b', '1')
      expect(b.revision).toBeGreaterThan(minutes)
      const before = { selection: everything, at: { kind: 'exact', revision: minutes } } as const
      expect((await listed(storage, things, before)).values).toBe('a=1')
      await subject.restart(things)
      expect((await listed(storage, things, before)).values).toBe('a=1')
      await storage.hold(things, 'backup', minutes, 0)
    })

    it('what several hold goes with the last of them', async () => {
      const a = await create('ns/a', '1')
      const second = await update('ns/a', '2', a)
      const third = await update('ns/a', '3', second)
      const later = await create('ns/b', '1')
      const at = (revision: number) => ({ selection: everything, at: { kind: 'exact', revision } }) as const
      await storage.hold(things, 'one', a.revision, 60_000)
      await storage.hold(things, 'other', second.revision, 60_000)
      await subject.compact(things, later.revision)
      expect((await listed(storage, things, at(a.revision))).values).toBe('a=1')
      await storage.hold(things, 'one', a.revision, 0)
      await subject.compact(things, later.revision)
      await expect(storage.list(things, at(a.revision))).rejects.toEqual(refusal('Compacted'))
      expect((await listed(storage, things, at(second.revision))).values).toBe('a=2')
      await storage.hold(things, 'other', second.revision, 0)
      await subject.compact(things, later.revision)
      await expect(storage.list(things, at(third.revision))).rejects.toEqual(refusal('Compacted'))
    })

    describe('changes of a shard', () => {
      it('are the latest state of each key that changed', async () => {
        const a1 = await create('ns/a', '1')
        const b1 = await create('ns/b', '1')
        const all = await storage.changes(things)
        expect(all).toMatchObject({ revision: b1.revision, reset: true, more: false })
        expect(all.changed.map(({ key }) => key)).toEqual(['things.example.com/ns/a', 'things.example.com/ns/b'])
        await remove('ns/b', '1', b1)
        await update('ns/a', '3', await update('ns/a', '2', a1))
        const news = await storage.changes(things, all.revision)
        expect(news.reset).toBe(false)
        expect(news.changed.map(({ key, text }) => [key.slice(-1), text && parsed(text).content])).toEqual([
          ['b', undefined],
          ['a', '3'],
        ])
        expect(await storage.changes(things, news.revision)).toMatchObject({ revision: news.revision, changed: [] })
        await subject.compact(things, news.revision)
        expect(await storage.changes(things, all.revision)).toMatchObject({
          reset: true,
          changed: [{ revision: news.revision }],
        })
      })
    })
  })
}

const nameOf = (key: string): string => key.slice(key.lastIndexOf('/') + 1)
