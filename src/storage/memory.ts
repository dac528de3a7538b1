/**
 * The storage contract in memory, for tests and as the simplest description of a shard. It keeps every event, and
 * searches them for each answer.
 */
import type { Clock } from '../base/clock.ts'
import { leastOf } from '../base/extremes.ts'
import { compareNames } from '../base/name-order.ts'
import { StorageError } from './errors.ts'
import { builtInPlace, CUSTOM_PLACES, customPlace } from './revisions/places.ts'
import type { Place } from './revisions/revision.ts'
import { lastRevisionAt, nextRevision, revisionAt } from './revisions/revision.ts'
import { itemText } from './streams/list-shape.ts'
import type { Selection } from './selectors/selection.ts'
import { matches, everything, selectsEverything } from './selectors/selection.ts'
import { storedContent } from './encryption/stored-content.ts'
import type {
  Collection,
  ListAt,
  ListQuery,
  ListResult,
  ListShape,
  NewValue,
  RestoreId,
  RestoredValue,
  Revision,
  ShardChanges,
  ShardName,
  Storage,
  StoredValue,
  Watch,
  WatchEventType,
  WatchMark,
  WatchQuery,
} from './storage.ts'
import { MAX_VALUE_BYTES, hasUid, isTooLarge, withOtherRevision, withRevision } from './streams/value-text.ts'
import { EncodedBatch, eventLine } from './watch/watch-batch.ts'

export interface MemoryStorage extends Storage {
  /** Makes everything older than `floor` unreadable. */
  compact(shard: ShardName, floor: Revision): void
}

/** @param retention milliseconds for which continued lists stay readable */
export function memoryStorage(now: Clock, retention = 300_000): MemoryStorage {
  const shards = new Map<string, MemoryShard>()
  const shardOf = ({ tenant, shard }: ShardName): MemoryShard => {
    const name = `${tenant}/${shard}`
    if (!shards.has(name)) {
      const place = builtInPlace(shard) ?? customPlace(shards.size % CUSTOM_PLACES)
      shards.set(name, new MemoryShard(now, retention, place))
    }
    return shards.get(name)!
  }
  const openShard = (name: ShardName): MemoryShard => {
    const shard = shardOf(name)
    if (shard.restore !== 0) throw new StorageError('Restoring')
    return shard
  }
  const locked = (name: ShardName, restore: RestoreId): MemoryShard => {
    const shard = shardOf(name)
    if (shard.restore !== restore) throw new StorageError('Superseded')
    return shard
  }
  return {
    async get(collection, key, notOlderThan = 0) {
      const shard = openShard(collection)
      shard.reach(notOlderThan)
      const live = shard.live(`${collection.prefix}/${key}`)
      return live && storedOf(live)
    },
    create: async (collection, key, value) => openShard(collection).create(`${collection.prefix}/${key}`, value),
    async createMissing(name, values) {
      const shard = openShard(name)
      for (const { key, value } of values) if (shard.live(key) === undefined) shard.create(key, value)
    },
    update: async (collection, key, value, expected) =>
      storedOf(openShard(collection).replace(`${collection.prefix}/${key}`, value, expected, 'MODIFIED')),
    delete: async (collection, key, last, expected) =>
      storedOf(openShard(collection).replace(`${collection.prefix}/${key}`, last, expected, 'DELETED')),
    async occupied(collection, namespaces) {
      const shard = openShard(collection)
      return namespaces.filter((namespace) => shard.keys(`${collection.prefix}/${namespace}/`).length > 0)
    },
    async *several(collection, keys) {
      for (const key of keys) {
        const stored = await this.get(collection, key)
        if (stored !== undefined) yield [key, stored] as const
      }
    },
    list: async (collection, query) => openShard(collection).list(collection, query),
    watch: async (collection, query) => openShard(collection).watch(collection, query),
    async lock(name, restore, unchangedSince) {
      const shard = shardOf(name)
      if (unchangedSince !== undefined && shard.newest > unchangedSince)
        throw new StorageError('Conflict', shard.newest, shard.last)
      if (restore < shard.restore) throw new StorageError('Superseded')
      shard.lock(restore)
    },
    lockedKeys: async (collection, restore) => locked(collection, restore).keys(`${collection.prefix}/`),
    async clear(name, restore, first = []) {
      const shard = locked(name, restore)
      shard.clear()
      shard.put(first)
    },
    restore: async ({ prefix, ...shard }, restore, values) =>
      locked(shard, restore).put(values.map((value) => ({ ...value, key: `${prefix}/${value.key}` }))),
    unlock: async (name, restore, cut) =>
      (shardOf(name).restore === 0 ? shardOf(name) : locked(name, restore)).unlock(cut),
    async hold(shard, holder, revision, milliseconds) {
      const { held } = shardOf(shard)
      shardOf(shard).last = Math.max(shardOf(shard).last, revision)
      held.set(holder, { revision, until: now() + milliseconds })
    },
    revision: async (collection) => shardOf(collection).last,
    changes: async (shard, since) => openShard(shard).changes(since),
    compact(shard, floor) {
      const compacted = shardOf(shard)
      const held = [...compacted.held.values()].flatMap(({ revision, until }) => (now() < until ? [revision] : []))
      const target = leastOf([floor, ...held])
      compacted.floor = Math.max(compacted.floor, Math.min(target, compacted.last))
    },
  }
}

interface Version {
  readonly key: string
  readonly type: WatchEventType
  readonly revision: Revision
  readonly value: NewValue
  /** JSON text with its revision. */
  readonly text: string
  readonly previous?: Version
}

class MemoryShard {
  /** Revisions before it count as compacted. It begins a retention before now. */
  floor: Revision
  last: Revision
  /** The restore that holds the lock; 0 for none. */
  restore: RestoreId = 0
  /** By holder. Bound: what a test holds. */
  readonly held = new Map<string, { readonly revision: Revision; readonly until: number }>()
  /** Bound: what a test writes; so are the others. */
  private log: Version[] = []
  /** The last version of each key, also deletions, because most reads are of the current state. Bound: as the log. */
  private readonly latest = new Map<string, Version>()
  /** Keys are in the order of their UTF-8. Only with surrogates is the order of UTF-16 another one. */
  private hasSurrogates = false
  /** Bound: the watches of a test. */
  private readonly watchers = new Set<MemoryWatcher>()

  constructor(
    private readonly now: () => number,
    private readonly retention: number,
    private readonly place: Place,
  ) {
    this.floor = this.last = revisionAt(now() - retention)
  }

  live(key: string): Version | undefined {
    const newest = this.latest.get(key)
    return newest?.type === 'DELETED' ? undefined : newest
  }

  create(key: string, value: NewValue): StoredValue {
    const live = this.live(key)
    if (live !== undefined && !hasUid(live.text, value.uid))
      throw new StorageError('KeyExists', live.revision, this.last)
    return storedOf(live ?? this.append(key, value, 'ADDED', undefined))
  }

  replace(key: string, value: NewValue, expected: Revision, type: 'MODIFIED' | 'DELETED'): Version {
    const live = this.live(key)
    if (live === undefined) throw new StorageError('KeyNotFound', 0, this.last)
    if (live.revision !== expected) throw new StorageError('Conflict', live.revision, this.last)
    return this.append(key, value, type, live)
  }

  private append(key: string, value: NewValue, type: WatchEventType, previous: Version | undefined): Version {
    if (isTooLarge(value.text)) throw new StorageError('TooLarge', 0, MAX_VALUE_BYTES)
    const revision = nextRevision(this.last, this.now(), this.place)
    const version = { key, type, revision, value, text: withRevision(value.text, value.at, revision), previous }
    this.last = revision
    this.log.push(version)
    this.latest.set(key, version)
    this.hasSurrogates ||= SURROGATE.test(key)
    for (const watcher of this.watchers) watcher.see(version)
    return version
  }

  get newest(): Revision {
    return this.log.at(-1)?.revision ?? 0
  }

  keys(prefix: string): string[] {
    const live = this.snapshot(this.last).filter(({ key }) => key.startsWith(prefix))
    return live.map(({ key }) => key.slice(prefix.length))
  }

  lock(restore: RestoreId): void {
    this.restore = restore
    for (const watcher of this.watchers) watcher.fail(new StorageError('Compacted', watcher.sent, this.last))
  }

  clear(): void {
    this.log = []
    this.latest.clear()
    this.floor = this.last = nextRevision(this.last, this.now(), this.place)
  }

  /** @param values with their whole keys */
  put(values: readonly RestoredValue[]): void {
    const keys = new Set(this.log.map(({ key }) => key))
    const revisions = new Set(this.log.map(({ revision }) => revision))
    for (const { key: path, revision, value } of values) {
      if (keys.has(path) || revisions.has(revision)) throw new StorageError('KeyExists', revision, this.last)
      keys.add(path)
      revisions.add(revision)
      const text = withRevision(value.text, value.at, revision)
      this.log.push({ key: path, type: 'ADDED', revision, value, text })
    }
    this.log.sort((a, b) => a.revision - b.revision)
    for (const version of this.log) {
      this.latest.set(version.key, version)
      this.hasSurrogates ||= SURROGATE.test(version.key)
    }
  }

  unlock(cut: Revision): void {
    this.restore = 0
    this.floor = this.last = nextRevision(Math.max(this.last, cut), this.now(), this.place)
  }

  /** A revision that the clock has passed is reached even without a write. */
  reach(revision: Revision): void {
    if (revision <= this.last) return
    if (revision > lastRevisionAt(this.now())) throw new StorageError('FutureRevision', revision, this.last)
    this.last = revision
  }

  private revisionFor(at: ListAt, continued: boolean): Revision {
    if (at.kind === 'latest') return this.last
    this.reach(at.revision)
    if (at.kind === 'notOlderThan') return this.last
    const oldest = continued ? Math.max(this.floor, revisionAt(this.now() - this.retention)) : this.floor
    const isHeld = [...this.held.values()].some((one) => one.revision === at.revision && this.now() < one.until)
    if (at.revision < (isHeld ? this.floor : oldest)) throw new StorageError('Compacted', at.revision, oldest)
    return at.revision
  }

  private latestUpTo(revision: Revision): ReadonlyMap<string, Version> {
    const latest = new Map<string, Version>()
    for (const version of this.log) if (version.revision <= revision) latest.set(version.key, version)
    return latest
  }

  /** The versions that existed at a revision, in key order. */
  private snapshot(revision: Revision): Version[] {
    const versions = revision >= this.newest ? this.latest : this.latestUpTo(revision)
    const order = this.hasSurrogates ? compareNames : compareUnits
    return [...versions.values()].filter(({ type }) => type !== 'DELETED').sort((a, b) => order(a.key, b.key))
  }

  list(collection: Collection, { namespace, selection, at, shape, limit = 0, start = '' }: ListQuery): ListResult {
    const revision = this.revisionFor(at, start !== '')
    const begin = keyPrefix(collection, undefined) + start
    const rest = this.snapshot(revision).filter(
      (version) => isSelected(version, collection, namespace, selection) && compareNames(version.key, begin) >= 0,
    )
    const page = limit > 0 ? rest.slice(0, limit) : rest
    // a full page continues where more keys follow, selected or not
    const behind = this.snapshot(revision).filter(
      (version) =>
        isSelected(version, collection, namespace, everything) && compareNames(version.key, page.at(-1)?.key ?? '') > 0,
    )
    const more = limit > 0 && page.length === limit ? behind.length : 0
    return {
      revision,
      isEmpty: page.length === 0,
      count: page.length,
      ...(more > 0 ? { continueAfter: page.at(-1)!.key.slice(collection.prefix.length + 1) } : {}),
      ...(more > 0 && selectsEverything(selection) ? { remaining: more } : {}),
      values: streamOf(shaped(page, shape)),
    }
  }

  watch(collection: Collection, { namespace, selection, from, notOlderThan = 0 }: WatchQuery): Watch {
    if (from !== undefined && from < this.floor) throw new StorageError('Compacted', from, this.floor)
    this.reach(from === undefined ? notOlderThan : Math.min(from, lastRevisionAt(this.now())))
    const watcher = new MemoryWatcher(collection, namespace, selection, () => this.watchers.delete(watcher))
    if (from === undefined) {
      for (const version of this.snapshot(this.last)) watcher.see({ ...version, type: 'ADDED', previous: undefined })
      watcher.mark({ kind: 'synced', revision: this.last })
    }
    watcher.sent = from ?? this.last
    for (const version of this.log) if (version.revision > watcher.sent) watcher.see(version)
    this.watchers.add(watcher)
    return {
      messages: watcher,
      ping: () => watcher.mark({ kind: 'progress', revision: this.last }),
      cancel: () => watcher.end(),
    }
  }

  changes(since: Revision | undefined): ShardChanges {
    const reset = since === undefined || since < this.floor
    const newest = new Map<string, Version>()
    for (const version of this.log) {
      newest.delete(version.key)
      if (reset || version.revision > since) newest.set(version.key, version)
    }
    return {
      revision: this.last,
      reset,
      more: false,
      changed: [...newest.values()]
        .filter(({ type }) => !(reset && type === 'DELETED'))
        .map(({ key, revision, type, text }) => ({ key, revision, ...(type === 'DELETED' ? {} : { text }) })),
    }
  }
}

class MemoryWatcher implements AsyncIterable<EncodedBatch> {
  sent: Revision = 0
  /** Bound: the events of a test. */
  private readonly batches: EncodedBatch[] = []
  private ended = false
  private failure: StorageError | undefined
  private wake: () => void = () => {}

  constructor(
    private readonly collection: Collection,
    private readonly namespace: string | undefined,
    private readonly selection: Selection,
    private readonly onEnd: () => void,
  ) {}

  see(version: Version): void {
    if (version.revision <= this.sent) return
    const { collection, namespace, selection } = this
    const was = version.previous !== undefined && isSelected(version.previous, collection, namespace, selection)
    const is = version.type !== 'DELETED' && isSelected(version, collection, namespace, selection)
    if (is) this.push(was ? 'MODIFIED' : 'ADDED', version.revision, version.text)
    else if (was) this.push('DELETED', version.revision, lastSelectedText(version))
  }

  mark(mark: WatchMark): void {
    this.batches.push(new EncodedBatch(new Uint8Array(), [], mark))
    this.wake()
  }

  fail(error: StorageError): void {
    this.failure = error
    this.end()
  }

  end(): void {
    this.ended = true
    this.onEnd()
    this.wake()
  }

  private push(type: WatchEventType, revision: Revision, text: string): void {
    this.batches.push(new EncodedBatch(new TextEncoder().encode(eventLine(type, text)), [revision]))
    this.wake()
  }

  async *[Symbol.asyncIterator](): AsyncIterator<EncodedBatch> {
    for (;;) {
      if (this.failure !== undefined) throw this.failure
      if (this.ended) return
      const batch = this.batches.shift()
      if (batch !== undefined) yield batch
      else await new Promise<void>((resolve) => (this.wake = resolve))
    }
  }
}

/**
 * The text of a DELETED event: the state that the deleter gave, or, for an object that left the selection, the state
 * before.
 */
const lastSelectedText = ({ type, text, previous, revision }: Version): string =>
  type === 'DELETED' ? text : withOtherRevision(previous!.text, previous!.value.at, previous!.revision, revision)

const storedOf = ({ revision, text }: Version): StoredValue => ({ revision, text })

const keyPrefix = ({ prefix }: Collection, namespace: string | undefined): string =>
  namespace === undefined ? `${prefix}/` : `${prefix}/${namespace}/`

function isSelected(
  { key, value, text }: Version,
  collection: Collection,
  namespace: string | undefined,
  selection: Selection,
): boolean {
  return (
    key.startsWith(keyPrefix(collection, namespace)) &&
    matches(selection, key.slice(collection.prefix.length + 1), value, () => storedContent(text))
  )
}

function shaped(page: readonly Version[], shape: ListShape = { as: 'lines' }): string {
  const item = itemText(shape)
  return page.map(({ text }) => item(text)).join('')
}

const streamOf = (text: string): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      if (text !== '') controller.enqueue(new TextEncoder().encode(text))
      controller.close()
    },
  })

const SURROGATE = /[\ud800-\udfff]/
const compareUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
