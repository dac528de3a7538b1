/**
 * Random histories on a real shard against the model: writes alone and at once, lists of now and of the past, pages,
 * watches that begin anywhere, while the instance sleeps, crashes, loses its sockets and compacts. A failure prints its
 * seed; `KEDGE_SEED=N KEDGE_SEEDS=1 npx vitest run model` runs it again, `KEDGE_SEEDS=1000` runs many.
 */
import { env } from 'cloudflare:workers'
import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import type { Env } from '../../src/env.ts'
import { StorageError } from '../../src/storage/errors.ts'
import { revisionAt } from '../../src/storage/revision.ts'
import type { Selection } from '../../src/storage/selection.ts'
import { everything } from '../../src/storage/selection.ts'
import { shardStorage } from '../../src/storage/shard-client.ts'
import type { Collection, Revision, Selectable, Storage, Watch } from '../../src/storage/storage.ts'
import { fielded, labelled, valueOf } from '../storage-suite.ts'
import type { Query, Seen, Write } from './model.ts'
import { History } from './model.ts'

const { SHARDS, KEDGE_SEED, KEDGE_SEEDS } = env as unknown as Env & { KEDGE_SEED: string; KEDGE_SEEDS: string }

const PREFIXES = ['things.example.com', 'things']
const KEYS = ['a/x', 'a/y', 'a/z', 'a-b/x', 'b/x', 'b/y']
const LABELS: readonly Selectable[] = [
  {},
  { labels: { l: '1' } },
  { labels: { l: '2', m: 'x' } },
  { labels: { l: '12' }, fields: { f: 'on' } },
]
const SELECTIONS: readonly Selection[] = [
  everything,
  labelled('l'),
  labelled('!l'),
  labelled('l=1'),
  labelled('l in (1,2),m!=x'),
  labelled('l>1'),
  fielded('f=on'),
  fielded('metadata.name=x'),
]

describe('random histories', () => {
  const first = KEDGE_SEED === '' ? Math.floor(Math.random() * 1e9) : Number(KEDGE_SEED)
  it.each(Array.from({ length: Number(KEDGE_SEEDS) }, (_, i) => first + i))(
    'seed %i',
    async (seed) => {
      const run = new Run(seed)
      await run.begin()
      for (let step = 0; step < 60; step++) await run.step()
      await run.finish()
    },
    60_000,
  )
})

interface Watched {
  readonly watch: Watch
  readonly query: Query
  readonly from: Revision | undefined
  readonly seen: Seen[]
  synced: Revision | undefined
  failure: unknown
}

class Run {
  private readonly random: () => number
  private readonly history = new History()
  private readonly watches: Watched[] = []
  private readonly storage: Storage = shardStorage(SHARDS)
  private readonly shard: { readonly tenant: string; readonly shard: string }
  private readonly log: string[] = []
  private floor: Revision = 0
  private content = 0

  constructor(seed: number) {
    this.random = mulberry32(seed)
    this.shard = { tenant: `model-${seed}`, shard: 'things' }
  }

  async begin(): Promise<void> {
    this.floor = await this.storage.revision(this.collection(PREFIXES[0]!))
  }

  private readonly steps: readonly (readonly [weight: number, run: () => Promise<void>])[] = [
    [10, () => this.writes(1)],
    [6, () => this.writes(2 + this.below(4))],
    [3, () => this.staleWrite()],
    [5, () => this.list()],
    [3, () => this.pages()],
    [4, () => this.watch()],
    [2, () => this.sleep('hibernate')],
    [1, () => this.sleep('close')],
    [1, () => this.crash()],
    [1, () => this.crashWhileWriting()],
    [2, () => this.compact()],
    [1, () => this.promise()],
    [1, () => this.cancelWatch()],
  ]

  async step(): Promise<void> {
    let at = this.random() * this.steps.reduce((sum, [weight]) => sum + weight, 0)
    const [, step] = this.steps.find(([weight]) => (at -= weight) < 0)!
    await step()
  }

  private below(n: number): number {
    return Math.floor(this.random() * n)
  }
  private one<T>(of: readonly T[]): T {
    return of[this.below(of.length)]!
  }
  private collection(prefix: string): Collection {
    return { ...this.shard, prefix }
  }
  private get stub() {
    return SHARDS.getByName(`${this.shard.tenant}/${this.shard.shard}`)
  }
  private query(): Query {
    const namespace = this.one([undefined, 'a', 'b'])
    return {
      prefix: this.one(PREFIXES),
      selection: this.one(SELECTIONS),
      ...(namespace === undefined ? {} : { namespace }),
    }
  }
  private get last(): Revision {
    return this.history.revisions.at(-1) ?? 0
  }

  /** A write to a key as it is now; different keys when several are made at once. */
  private plan(key: string, prefix: string) {
    const live = this.history.snapshot(this.last, { prefix }).find((write) => write.key === key)
    const type = live === undefined ? 'create' : this.random() < 0.3 ? 'delete' : 'update'
    const selectable = type === 'delete' ? live!.selectable : this.one(LABELS)
    const content = type === 'delete' ? live!.content : this.newContent()
    const value = valueOf(key, content, selectable, `uid-${content.slice(0, 9)}`)
    const collection = this.collection(prefix)
    const send = () =>
      type === 'create'
        ? this.storage.create(collection, key, value)
        : type === 'update'
          ? this.storage.update(collection, key, value, live!.revision)
          : this.storage.delete(collection, key, value, live!.revision)
    return { send, write: { type, prefix, key, content, selectable } as const }
  }

  /** Now and then so long that the past of a watch is more than one message. */
  private newContent(): string {
    return `${this.content++}${this.random() < 0.08 ? 'x'.repeat(300_000) : ''}`
  }

  private plans(count: number) {
    const prefix = this.one(PREFIXES)
    const keys = [...KEYS].sort(() => this.random() - 0.5).slice(0, count)
    return keys.map((key) => this.plan(key, prefix))
  }

  private async writes(count: number): Promise<void> {
    const plans = this.plans(count)
    const stored = await Promise.all(plans.map(({ send }) => send()))
    this.record(plans.map(({ write }, index) => ({ ...write, revision: stored[index]!.revision })))
  }

  private record(writes: readonly Write[]): void {
    for (const { revision } of writes) expect(revision).toBeGreaterThan(this.last)
    this.history.add(...writes)
    this.log.push(
      ...writes.map(
        ({ type, prefix, key, content, revision }) => `${type} ${prefix}/${key}=${content.slice(0, 9)} @${revision}`,
      ),
    )
  }

  private async staleWrite(): Promise<void> {
    const prefix = this.one(PREFIXES)
    const live = this.history.snapshot(this.last, { prefix })
    if (live.length === 0) return
    const { key } = this.one(live)
    const value = valueOf(key, 'stale', {}, 'stale')
    const collection = this.collection(prefix)
    await expect(this.storage.create(collection, key, value)).rejects.toMatchObject({ code: 'KeyExists' })
    await expect(this.storage.update(collection, key, value, 7)).rejects.toMatchObject({ code: 'Conflict' })
    await expect(this.storage.delete(collection, key, value, 7)).rejects.toMatchObject({ code: 'Conflict' })
    await expect(this.storage.update(collection, 'a/none', value, 7)).rejects.toMatchObject({ code: 'KeyNotFound' })
  }

  /** A revision between the first and the last, which need not be one of a write. */
  private pastRevision(): Revision {
    const revision = this.one([...this.history.revisions, this.floor])
    return Math.min(revision + this.below(3), Math.max(this.last, this.floor))
  }

  private async list(): Promise<void> {
    const query = this.query()
    const revision = this.pastRevision()
    if (this.random() < 0.5) {
      const list = await this.read(query, { kind: 'latest' })
      expect(list.values).toEqual(texts(this.history.list(this.last, query)))
      expect(list.revision).toBeGreaterThanOrEqual(this.last)
    } else if (revision < this.floor) {
      await expect(this.read(query, { kind: 'exact', revision })).rejects.toMatchObject({ code: 'Compacted' })
    } else {
      const list = await this.read(query, { kind: 'exact', revision })
      expect(list.values).toEqual(texts(this.history.list(revision, query)))
      expect(list.revision).toBe(revision)
    }
  }

  private async read(
    query: Query,
    at: Parameters<Storage['list']>[1]['at'],
    page: { limit?: number; start?: string } = {},
  ) {
    const { prefix, ...rest } = query
    const list = await this.storage.list(this.collection(prefix), { ...rest, at, ...page })
    const lines = (await new Response(list.values).text()).split('\n').slice(0, -1)
    return { ...list, values: lines.map(contentOf) }
  }

  private async pages(): Promise<void> {
    const query = this.query()
    const limit = 1 + this.below(3)
    const values: string[] = []
    let page = await this.read(query, { kind: 'latest' }, { limit })
    const expected = this.history.list(this.last, query)
    const { revision } = page
    for (;;) {
      values.push(...page.values)
      if (page.remaining !== undefined) expect(page.remaining).toBe(expected.length - values.length)
      if (page.continueAfter === undefined) break
      if (this.random() < 0.5) await this.writes(1)
      const start = `${page.continueAfter}\0`
      page = await this.read(query, { kind: 'exact', revision }, { limit, start })
      expect(page.revision).toBe(revision)
    }
    expect(values).toEqual(texts(expected))
  }

  private async watch(): Promise<void> {
    const query = this.query()
    const { prefix, ...rest } = query
    const from = this.random() < 0.4 ? undefined : this.random() < 0.3 ? this.last : this.pastRevision()
    const opened = this.storage.watch(this.collection(prefix), { ...rest, ...(from === undefined ? {} : { from }) })
    if (from !== undefined && from < this.floor) {
      await expect(opened).rejects.toMatchObject({ code: 'Compacted' })
      return
    }
    const watched: Watched = { watch: await opened, query, from, seen: [], synced: undefined, failure: undefined }
    this.watches.push(watched)
    this.log.push(`watch ${this.watches.length - 1} from ${from} ${JSON.stringify(query)}`)
    void collect(watched)
  }

  private async cancelWatch(): Promise<void> {
    const at = this.below(this.watches.length + 1)
    const [watched] = this.watches.splice(at, 1)
    watched?.watch.cancel()
  }

  private async sleep(webSockets: 'hibernate' | 'close'): Promise<void> {
    await this.storage.revision(this.collection(PREFIXES[0]!))
    this.log.push(`sleep ${webSockets}`)
    await evictDurableObject(this.stub, { webSockets })
  }

  private async crash(): Promise<void> {
    this.log.push('crash')
    await runInDurableObject(this.stub, (_, state) => state.abort('crash')).catch(() => {})
  }

  /** Whoever gets no answer does not know whether it was written; whoever reads afterwards does. */
  private async crashWhileWriting(): Promise<void> {
    const plans = this.plans(3)
    const answers = plans.map(({ send }) => send())
    const outcomes = Promise.allSettled(answers)
    if (this.random() < 0.5) await Promise.race(answers).catch(() => {})
    await this.crash()
    const written: Write[] = []
    for (const [index, outcome] of (await outcomes).entries()) {
      const { write } = plans[index]!
      if (outcome.status === 'fulfilled') {
        written.push({ ...write, revision: outcome.value.revision })
        continue
      }
      this.log.push(`unanswered ${write.type} ${write.key}: ${String(outcome.reason)}`)
      const changed = (await this.storage.changes(this.shard, Math.max(this.last, this.floor))).changed
      const found = changed.find(({ key }) => key === `${write.prefix}/${write.key}`)
      if (found !== undefined) written.push({ ...write, revision: found.revision })
    }
    this.record(written)
  }

  private async compact(): Promise<void> {
    const floor = this.pastRevision()
    this.log.push(`compact ${floor}`)
    await runInDurableObject(this.stub, async ({ compactor }) => void (await compactor.run(floor)))
    this.floor = Math.max(this.floor, floor)
  }

  /** Reads a revision that nothing was written at. */
  private async promise(): Promise<void> {
    const revision = revisionAt(Date.now())
    if (revision <= this.last) return
    const query = this.query()
    const list = await this.read(query, { kind: 'exact', revision })
    expect(list.values).toEqual(texts(this.history.list(revision, query)))
  }

  async finish(): Promise<void> {
    try {
      for (const watched of this.watches) await this.check(watched)
      const { versions, keys } = await shardStorage(SHARDS).stats(this.shard)
      expect(keys).toBe(PREFIXES.flatMap((prefix) => this.history.snapshot(this.last, { prefix })).length)
      await runInDurableObject(this.stub, async ({ compactor }) => void (await compactor.run(this.last)))
      expect((await shardStorage(SHARDS).stats(this.shard)).versions).toBe(keys)
      expect(versions).toBeGreaterThanOrEqual(keys)
    } catch (error) {
      console.error(this.log.join('\n'))
      throw error
    } finally {
      for (const { watch } of this.watches) watch.cancel()
    }
  }

  private async check(watched: Watched): Promise<void> {
    const { query, seen } = watched
    const expected = () => {
      const from = watched.from ?? watched.synced
      if (from === undefined) return []
      const events = this.history.events(from, query)
      if (watched.from !== undefined) return events
      const initial = this.history
        .list(from, query)
        .map(({ revision, key, content }): Seen => ({ type: 'ADDED', revision, key, content }))
      return [...initial, ...events]
    }
    const isComplete = () => (watched.from ?? watched.synced) !== undefined && seen.length >= expected().length
    for (let i = 0; i < 500 && watched.failure === undefined && !isComplete(); i++) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    if (watched.failure === undefined) expect(seen).toEqual(expected())
    else {
      // It may have missed what was compacted while its socket was broken, and is told so.
      expect(watched.failure).toBeInstanceOf(StorageError)
      expect(watched.failure).toMatchObject({ code: 'Compacted' })
      expect(seen).toEqual(expected().slice(0, seen.length))
      expect(seen.at(-1)?.revision ?? watched.from ?? watched.synced).toBeLessThan(this.floor)
    }
  }
}

async function collect(watched: Watched): Promise<void> {
  try {
    for await (const batch of watched.watch.messages) {
      for (const message of batch) {
        if (message.kind === 'synced') watched.synced = message.revision
        if (message.kind !== 'event') continue
        const { type, revision, text } = message
        const { metadata, content } = JSON.parse(text) as {
          metadata: { name: string; resourceVersion: string }
          content: string
        }
        if (metadata.resourceVersion !== String(revision)) throw new Error(`${revision} is ${text}`)
        watched.seen.push({ type, revision, key: metadata.name, content })
      }
    }
  } catch (error) {
    watched.failure = error
  }
}

const texts = (writes: readonly Write[]): string[] =>
  writes.map(({ key, content, revision }) => `${key}=${content}@${revision}`)

function contentOf(line: string): string {
  const { metadata, content } = JSON.parse(line) as {
    metadata: { name: string; resourceVersion: string }
    content: string
  }
  return `${metadata.name}=${content}@${metadata.resourceVersion}`
}

function mulberry32(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
