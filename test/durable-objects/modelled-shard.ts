/**
 * A real shard beside its model: each action asks the shard and compares the answer with the history of all writes.
 * Each action has its own random numbers: the other actions of a history do the same when some are left out.
 */
import { platformClock } from '../../src/base/clock.ts'
import { env } from 'cloudflare:workers'
import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { expect } from 'vitest'
import type { Env } from '../../src/env.ts'
import { changePages } from '../../src/storage/shards/change-pages.ts'
import { inconsistentContinueToken, nextContinueToken, parseContinueToken } from '../../src/storage/continue-token.ts'
import { StorageError } from '../../src/storage/errors.ts'
import { revisionAt } from '../../src/storage/revisions/revision.ts'
import type { Selection } from '../../src/storage/selectors/selection.ts'
import { everything } from '../../src/storage/selectors/selection.ts'
import { shardStorage } from '../../src/storage/shards/shard-client.ts'
import type { Collection, ListAt, Revision, Selectable, ShardChanges, Watch } from '../../src/storage/storage.ts'
import { fielded, labelled, valueOf } from '../storage-suite.ts'
import type { Query, Seen, Write } from './model.ts'
import { History } from './model.ts'
import { inShard } from './in-shard.ts'

const { SHARDS } = env as unknown as Env

const PREFIXES = ['things.example.com', 'things']
const KEYS = ['a/x', 'a/y', 'a/z', 'a-b/x', 'b/x', 'b/y']
const LABELS: readonly Selectable[] = [
  {},
  { labels: { l: '1' } },
  { labels: { l: '2', m: 'x' }, fields: { f: 'on' } },
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
  fielded('f!=on'),
  fielded('metadata.name=x'),
  { ...labelled('l=2'), fields: fielded('f=on').fields },
  { ...labelled('l'), fields: fielded('metadata.name!=x').fields },
]

/** The actions on a shard, each with its relative frequency. */
export const ACTIONS = {
  write: 10,
  writeTogether: 6,
  writeMeanwhile: 4,
  writeUnanswered: 2,
  writeStale: 2,
  get: 2,
  list: 5,
  changes: 1,
  promise: 1,
  beginPages: 3,
  nextPage: 5,
  openWatch: 5,
  take: 1,
  ping: 3,
  cancelWatch: 1,
  hibernate: 2,
  evict: 1,
  crash: 1,
  dropSockets: 1,
  compact: 2,
}
export type Action = keyof typeof ACTIONS

interface Watched {
  readonly name: string
  readonly watch: Watch
  readonly query: Query
  readonly from: Revision | undefined
  /** The test does not read this watch yet. */
  waiting: boolean
  readonly late: boolean
  readonly seen: Seen[]
  /** The number of events received when a message said that all events up to a revision were sent. */
  readonly marks: { readonly revision: Revision; readonly after: number }[]
  synced: Revision | undefined
  failure: unknown
}

/** A list with some of its pages read. */
interface Paged {
  readonly query: Query
  readonly limit: number
  readonly token: string
  /** The last key of the pages read. */
  readonly after: string
}

export class ModelledShard implements Readonly<Record<Action, () => Promise<void>>> {
  private readonly history = new History()
  private readonly watches: Watched[] = []
  private readonly paged: Paged[] = []
  /** The number of next answers to writes that are lost on their way. */
  private losses = 0
  private readonly storage = shardStorage(
    losing(() => this.losses-- > 0),
    platformClock,
  )
  private readonly shard: { readonly tenant: string; readonly shard: string }
  private floor: Revision = 0
  /** The newest revision in any answer, and its value when the action began: later writes have higher revisions. */
  private told: Revision = 0
  private toldBefore: Revision = 0
  private contents = 0
  private random: () => number = () => 0

  /**
   * @param patience milliseconds of silence of a watch, after which its missing events count as lost
   * @param large share of contents that are long: a watch then sends its past events in several messages
   */
  constructor(
    tenant: string,
    private readonly name: string,
    private readonly log: (line: string) => void,
    private readonly patience: number,
    private readonly large: number,
  ) {
    this.shard = { tenant, shard: name }
  }

  async begin(): Promise<void> {
    this.floor = this.told = await this.storage.revision(this.collection(PREFIXES[0]!))
  }

  /** @param random numbers between 0 and 1, the same for the same action of the same history */
  async act(action: Action, random: () => number): Promise<void> {
    this.random = random
    this.toldBefore = this.told
    await this[action]()
  }

  private below(n: number): number {
    return Math.floor(this.random() * n)
  }
  private one<T>(of: readonly T[]): T {
    return of[this.below(of.length)]!
  }
  private note(text: string): void {
    this.log(`${this.name}: ${text}`)
  }
  private collection(prefix: string): Collection {
    return { ...this.shard, prefix }
  }
  private get stub() {
    return SHARDS.getByName(`${this.shard.tenant}/${this.shard.shard}`)
  }
  private query(): Query {
    const namespace = this.one([undefined, 'a', 'b'])
    const prefix = this.one(PREFIXES)
    const selection = this.random() < 0.25 ? everything : this.one(SELECTIONS)
    return { prefix, selection, ...(namespace === undefined ? {} : { namespace }) }
  }
  private get last(): Revision {
    return this.history.last
  }
  private hear(revision: Revision): void {
    this.told = Math.max(this.told, revision)
  }

  async write(): Promise<void> {
    await this.writes(1)
  }

  async writeTogether(): Promise<void> {
    await this.writes(2 + this.below(4))
  }

  private async writes(count: number): Promise<void> {
    const plans = this.plans(count)
    const stored = await Promise.all(plans.map(({ send }) => send()))
    this.record(plans.map(({ write }, index) => ({ ...write, revision: stored[index]!.revision })))
  }

  /** Plans writes to different keys: the test can send them at once. */
  private plans(count: number) {
    const prefix = this.one(PREFIXES)
    const first = this.below(KEYS.length)
    return Array.from({ length: count }, (_, index) => this.plan(KEYS[(first + index) % KEYS.length]!, prefix))
  }

  /** Plans a write that fits the present state of the key. */
  private plan(key: string, prefix: string) {
    const live = this.history.live(prefix, key)
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

  private newContent(): string {
    return `${this.contents++}${this.random() < this.large ? 'x'.repeat(700_000) : ''}`
  }

  private record(writes: readonly Write[]): void {
    for (const { type, prefix, key, content, selectable, revision } of writes) {
      this.note(`${type} ${prefix}/${key}=${content.slice(0, 9)} ${JSON.stringify(selectable)} @${revision}`)
      expect(revision, 'a new revision').toBeGreaterThan(this.toldBefore)
      this.hear(revision)
    }
    expect(new Set(writes.map(({ revision }) => revision)).size, 'different revisions').toBe(writes.length)
    this.history.add(...writes)
  }

  /** A write whose answer is lost is sent again. The shard neither does it twice nor refuses it. */
  async writeUnanswered(): Promise<void> {
    this.losses = 1
    await this.writes(1 + this.below(2))
    this.losses = 0
  }

  /** Another action runs while several writes are under way. */
  async writeMeanwhile(): Promise<void> {
    const plans = this.plans(3)
    const answers = plans.map(({ send }) => send())
    const outcomes = Promise.allSettled(answers)
    if (this.random() < 0.4) await Promise.race(answers).catch(() => {})
    const meanwhile = this.one([
      () => this.crash(),
      () => this.crash(),
      () => this.hibernate(),
      () => this.evict(),
      () => this.dropSockets(),
      () => this.compact(),
      () => this.openWatch(),
      () => this.readMeanwhile(),
    ])
    const check = await meanwhile()
    this.record(await this.written(plans, await outcomes))
    check?.()
  }

  /** A writer without an answer does not know whether its write is stored. A read afterwards tells. */
  private async written(
    plans: readonly { readonly write: Omit<Write, 'revision'> }[],
    outcomes: readonly PromiseSettledResult<{ readonly revision: Revision }>[],
  ): Promise<Write[]> {
    const written: Write[] = []
    for (const [index, outcome] of outcomes.entries()) {
      const { write } = plans[index]!
      if (outcome.status === 'fulfilled') {
        written.push({ ...write, revision: outcome.value.revision })
        continue
      }
      const reason: unknown = outcome.reason
      this.note(`unanswered ${write.type} ${write.key}: ${String(reason)}`)
      // KeyExists and Conflict would be wrong here: a shard recognizes a write that it gets again.
      if (reason instanceof StorageError) expect(reason.code).toBe('Unavailable')
      const { changed } = await this.storage.changes(this.shard, Math.max(this.last, this.floor))
      const found = changed.find(({ key }) => key === `${write.prefix}/${write.key}`)
      if (found !== undefined) written.push({ ...write, revision: found.revision })
    }
    return written
  }

  /** A list that is requested during writes has all writes up to its revision, and no later ones. */
  private async readMeanwhile(): Promise<() => void> {
    const query = this.query()
    const list = await this.read(query, { kind: 'latest' })
    return () => expect(list.values).toEqual(texts(this.history.list(list.revision, query)))
  }

  async writeStale(): Promise<void> {
    const prefix = this.one(PREFIXES)
    const live = this.history.snapshot(this.last, { prefix })
    if (live.length === 0) return
    const { key, revision } = this.one(live)
    const value = valueOf(key, 'stale', {}, 'stale')
    const collection = this.collection(prefix)
    await expect(this.storage.create(collection, key, value)).rejects.toMatchObject({ code: 'KeyExists', revision })
    await expect(this.storage.update(collection, key, value, 7)).rejects.toMatchObject({ code: 'Conflict', revision })
    await expect(this.storage.delete(collection, key, value, 7)).rejects.toMatchObject({ code: 'Conflict', revision })
    await expect(this.storage.update(collection, 'a/none', value, 7)).rejects.toMatchObject({ code: 'KeyNotFound' })
  }

  async get(): Promise<void> {
    const [prefix, key] = [this.one(PREFIXES), this.one(KEYS)]
    const live = this.history.live(prefix, key)
    const found = await this.storage.get(this.collection(prefix), key, this.one([0, this.last]))
    expect(found && contentOf(found.text)).toBe(live && textOf(live))
    expect(found?.revision).toBe(live?.revision)
  }

  /**
   * A revision from the floor up to the last one; it need not have a write. Often it is the floor or the revision above
   * it, where a faulty compaction would have dropped too much.
   */
  private pastRevision(): Revision {
    if (this.random() < 0.2) return Math.min(this.floor + this.below(2), Math.max(this.last, this.floor))
    const revision = this.one([...this.history.revisions, this.floor])
    return Math.min(revision + this.below(3), Math.max(this.last, this.floor))
  }

  async list(): Promise<void> {
    const query = this.query()
    const revision = this.pastRevision()
    const kind = this.one(['latest', 'notOlderThan', 'exact', 'exact'] as const)
    if (kind === 'exact') {
      const reading = this.read(query, { kind, revision })
      if (revision < this.floor) {
        await expect(reading).rejects.toMatchObject({ code: 'Compacted' })
        return
      }
      const list = await reading
      expect(list.values).toEqual(texts(this.history.list(revision, query)))
      expect(list.revision).toBe(revision)
    } else {
      const list = await this.read(query, { kind, revision })
      expect(list.values).toEqual(texts(this.history.list(this.last, query)))
      expect(list.revision).toBeGreaterThanOrEqual(this.toldBefore)
    }
  }

  private async read(query: Query, at: ListAt, page: { limit?: number; start?: string } = {}) {
    const { prefix, ...rest } = query
    const list = await this.storage.list(this.collection(prefix), { ...rest, at, ...page })
    const lines = (await new Response(list.values).text()).split('\n').slice(0, -1)
    this.hear(list.revision)
    return { ...list, values: lines.map(contentOf) }
  }

  async changes(): Promise<void> {
    const since = this.random() < 0.3 ? undefined : this.pastRevision()
    const pages = await Array.fromAsync(changePages(this.storage, this.shard, since))
    const [{ reset } = { reset: undefined }] = pages
    // Two pages may have the same key: it was deleted twice.
    const newest = new Map<string, ShardChanges['changed'][number]>()
    for (const change of pages.flatMap(({ changed }) => changed)) {
      newest.delete(change.key)
      if (reset !== true || change.text !== undefined) newest.set(change.key, change)
    }
    const changed = [...newest.values()]
    expect(reset).toBe(since === undefined || since < this.floor)
    expect(pages.at(-1)?.revision).toBeGreaterThanOrEqual(this.toldBefore)
    const expected = this.history
      .newest(reset ? 0 : since!)
      .filter(({ type }) => !reset || type !== 'delete')
      .map((write) => [`${write.prefix}/${write.key}`, write.type === 'delete' ? write.revision : textOf(write)])
    expect(changed.map(({ key, text, revision }) => [key, text === undefined ? revision : contentOf(text)])).toEqual(
      expected,
    )
  }

  /** Reads a revision without a write: later writes have higher revisions. */
  async promise(): Promise<void> {
    const revision = revisionAt(Date.now())
    if (revision <= this.told) return
    const query = this.query()
    const list = await this.read(query, { kind: 'exact', revision })
    expect(list.values).toEqual(texts(this.history.list(revision, query)))
    this.note(`promised ${revision}`)
  }

  async beginPages(): Promise<void> {
    const query = this.query()
    const limit = 1 + this.below(3)
    const past = this.random() < 0.3 ? this.pastRevision() : this.last
    const isPast = past < this.last && past >= this.floor
    const page = await this.read(query, isPast ? { kind: 'exact', revision: past } : { kind: 'latest' }, { limit })
    if (isPast) expect(page.revision).toBe(past)
    this.keepPage({ query, limit, token: '', after: '' }, page, this.history.list(isPast ? past : this.last, query))
  }

  /** Reads the next page of any list that was begun, however long ago. */
  async nextPage(): Promise<void> {
    if (this.paged.length === 0) return
    const [paged] = this.paged.splice(this.below(this.paged.length), 1) as [Paged]
    const { query, limit, token, after } = paged
    const { revision, start } = parseContinueToken(token, query.namespace)
    if (revision === 'latest') {
      const page = await this.read(query, { kind: 'latest' }, { limit, start })
      expect(page.revision).toBeGreaterThanOrEqual(this.toldBefore)
      this.keepPage(paged, page, this.history.list(this.last, query, after))
    } else if (revision < this.floor) {
      const reading = this.read(query, { kind: 'exact', revision }, { limit, start })
      await expect(reading).rejects.toMatchObject({ code: 'Compacted' })
      // The 410 of kube-apiserver has such a token: it continues the list with the present state of the rest.
      this.paged.push({ ...paged, token: inconsistentContinueToken({ revision, start }, query.namespace) })
    } else {
      const page = await this.read(query, { kind: 'exact', revision }, { limit, start })
      expect(page.revision).toBe(revision)
      this.keepPage(paged, page, this.history.list(revision, query, after))
    }
  }

  /** @param rest the objects that this page and all later ones must have */
  private keepPage(paged: Paged, page: Awaited<ReturnType<ModelledShard['read']>>, rest: readonly Write[]): void {
    expect(page.values).toEqual(texts(rest.slice(0, paged.limit)))
    const token = nextContinueToken({ ...page, values: new ReadableStream() }, paged.query.namespace)
    const left = rest.length - page.values.length
    if (paged.query.selection === everything) expect(page.remaining).toBe(left === 0 ? undefined : left)
    if (left > 0) expect(token).toBeDefined()
    const after = rest[page.values.length - 1]?.key ?? paged.after
    if (token !== undefined) this.paged.push({ ...paged, token, after })
  }

  async openWatch(): Promise<void> {
    const query = this.query()
    const { prefix, ...rest } = query
    const choice = this.random()
    const from =
      choice < 0.35
        ? undefined
        : choice < 0.5
          ? this.last || this.floor
          : choice < 0.55
            ? revisionAt(Date.now() + this.below(40))
            : this.pastRevision()
    const opened = this.storage.watch(this.collection(prefix), { ...rest, ...(from === undefined ? {} : { from }) })
    if (from !== undefined && from < this.floor) {
      await expect(opened).rejects.toMatchObject({ code: 'Compacted', revision: from })
      return
    }
    const name = `watch ${this.watches.length}`
    // Only a watch whose events wait in the socket may be late: an unread list keeps the shard awake.
    const late = this.random() < 0.25 && from !== undefined
    const watched: Watched = {
      ...{ name, watch: await opened, query, from, waiting: late, late },
      ...{ seen: [], marks: [], synced: undefined, failure: undefined },
    }
    this.watches.push(watched)
    this.note(`${name} from ${from} ${JSON.stringify(query)}`)
    if (!watched.waiting) void collect(watched)
    // The ping goes out while past events are still on the way. Its answer may not overtake them.
    if (this.random() < 0.5) watched.watch.ping()
  }

  /** Watchers that have read nothing yet begin to read. */
  async take(): Promise<void> {
    for (const watched of this.watches.filter(({ waiting }) => waiting)) {
      watched.waiting = false
      void collect(watched)
    }
  }

  async cancelWatch(): Promise<void> {
    const [watched] = this.watches.splice(this.below(this.watches.length + 1), 1)
    watched?.watch.cancel()
  }

  async ping(): Promise<void> {
    this.note('ping')
    for (const { watch } of this.watches) watch.ping()
  }

  async hibernate(): Promise<void> {
    await this.leaveMemory('hibernate')
  }

  async evict(): Promise<void> {
    await this.leaveMemory('close')
  }

  private async leaveMemory(webSockets: 'hibernate' | 'close'): Promise<void> {
    await this.storage.revision(this.collection(PREFIXES[0]!))
    this.note(`leaves memory, sockets ${webSockets}`)
    await evictDurableObject(this.stub, { webSockets })
  }

  async crash(): Promise<void> {
    this.note('crash')
    await runInDurableObject(this.stub, (_, state) => state.abort('crash')).catch(() => {})
  }

  /** Closes some sockets of the shard, which goes on. */
  async dropSockets(): Promise<void> {
    this.note('drops sockets')
    const isDropped = this.random
    await runInDurableObject(this.stub, (_, state) => {
      for (const socket of state.getWebSockets()) if (isDropped() < 0.5) socket.close(1012, 'dropped')
    })
  }

  async compact(): Promise<void> {
    const floor = this.pastRevision()
    this.note(`compacts up to ${floor}`)
    await inShard(this.stub, async ({ parts: { compactor } }) => void (await compactor.run(floor)))
    this.floor = Math.max(this.floor, floor)
    await this.readFloor()
  }

  /** Checks that the oldest kept state is complete. */
  private async readFloor(): Promise<void> {
    const [revision, query] = [this.floor, this.query()]
    const list = await this.read(query, { kind: 'exact', revision })
    expect(list.values, 'at the floor').toEqual(texts(this.history.list(revision, query)))
  }

  /** Checks the events of every watch, and the state kept in the end. */
  async finish(): Promise<void> {
    await this.take()
    for (const watched of this.watches) await this.check(watched)
    const { keys, versions } = await this.storage.stats(this.shard)
    expect(keys, 'keys').toBe(PREFIXES.flatMap((prefix) => this.history.snapshot(this.last, { prefix })).length)
    expect(versions, 'versions').toBeGreaterThanOrEqual(keys)
    if (this.last === 0) return
    await inShard(this.stub, async ({ parts: { compactor } }) => void (await compactor.run(this.last)))
    expect((await this.storage.stats(this.shard)).versions, 'versions after compaction').toBe(keys)
  }

  leave(): void {
    for (const { watch } of this.watches) watch.cancel()
  }

  private async check(watched: Watched): Promise<void> {
    const { name, seen, marks, late } = watched
    await this.settle(watched)
    const { failure, expected, begun } = this.owed(watched)
    if (failure === undefined) expect(begun, `${name} begins`).toBe(true)
    expect(seen, `events of ${name}`).toEqual(failure === undefined ? expected : expected.slice(0, seen.length))
    for (const [index, { revision, after }] of marks.entries()) {
      const next = expected[after]?.revision
      if (next !== undefined)
        expect(revision, `a mark of ${name} is not ahead of the event that follows`).toBeLessThan(next)
      expect(revision, `marks of ${name} grow`).toBeGreaterThanOrEqual(marks[index - 1]?.revision ?? 0)
    }
    if (failure === undefined) return
    expect(failure).toBeInstanceOf(StorageError)
    // The watch ended because the test did not read it.
    if (late && (failure as StorageError).code === 'Overloaded') return
    // Compaction may have dropped changes while its socket was broken. Then the watch fails with Compacted.
    expect(failure).toMatchObject({ code: 'Compacted' })
    const position = Math.max(
      watched.from ?? watched.synced ?? 0,
      seen.at(-1)?.revision ?? 0,
      marks.at(-1)?.revision ?? 0,
    )
    expect(position, `what ${name} had seen of what was compacted`).toBeLessThan(this.floor)
  }

  private owed(watched: Watched) {
    const { from, synced, query, failure } = watched
    if (from !== undefined) return { begun: true, failure, expected: this.history.events(from, query) }
    if (synced === undefined) return { begun: false, failure, expected: [] }
    const added = ({ revision, key, content }: Write): Seen => ({ type: 'ADDED', revision, key, content })
    const initial = this.history.list(synced, query).map(added)
    return { begun: true, failure, expected: [...initial, ...this.history.events(synced, query)] }
  }

  /** Waits until all events have come, or no more come. */
  private async settle(watched: Watched): Promise<void> {
    let heard = Date.now()
    for (let count = -1; Date.now() - heard < this.patience;) {
      const { begun, failure, expected } = this.owed(watched)
      if (failure !== undefined || (begun && watched.seen.length >= expected.length)) return
      if (watched.seen.length !== count) heard = Date.now()
      count = watched.seen.length
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
}

/** The shards, with some answers to writes lost: the platform reports that the object was reset. */
function losing(isLost: () => boolean): typeof SHARDS {
  const isWrite = (name: string | symbol) => name === 'create' || name === 'update' || name === 'delete'
  const stubOf = (id: DurableObjectId) => {
    const stub = SHARDS.get(id) as unknown as Record<string | symbol, (...args: unknown[]) => Promise<unknown>>
    const call = (name: string | symbol) =>
      async function (...args: unknown[]): Promise<unknown> {
        const answer = await stub[name]!(...args)
        if (isWrite(name) && isLost()) throw Object.assign(new Error('lost'), { durableObjectReset: true })
        return answer
      }
    return new Proxy({}, { get: (_, name) => call(name) })
  }
  // shard-client uses these two methods of a namespace.
  return { idFromName: (name: string) => SHARDS.idFromName(name), get: stubOf } as unknown as typeof SHARDS
}

async function collect(watched: Watched): Promise<void> {
  try {
    for await (const batch of watched.watch.messages) {
      for (const message of batch) {
        const { revision } = message
        if (message.kind === 'synced') watched.synced = revision
        if (message.kind === 'progress') watched.marks.push({ revision, after: watched.seen.length })
        if (message.kind !== 'event') continue
        const { metadata, content } = parsed(message.text)
        if (metadata.resourceVersion !== String(revision)) throw new Error(`${revision} is ${message.text}`)
        watched.seen.push({ type: message.type, revision, key: metadata.name, content })
      }
    }
  } catch (error) {
    watched.failure = error
  }
}

const textOf = ({ key, content, revision }: Write): string => `${key}=${content}@${revision}`
const texts = (writes: readonly Write[]): string[] => writes.map(textOf)

/** Parses the text that valueOf made. */
const parsed = (text: string) =>
  JSON.parse(text) as { metadata: { name: string; resourceVersion: string }; content: string }

function contentOf(text: string): string {
  const { metadata, content } = parsed(text)
  return `${metadata.name}=${content}@${metadata.resourceVersion}`
}
