/** Storage that seals values before they leave the Worker, and opens them when they come back. */
import { eventLine, EncodedBatch } from '../watch/watch-batch.ts'
import { itemText } from '../streams/list-shape.ts'
import { ON_DEMAND } from '../streams/byte-chunks.ts'
import { lineBatches } from '../streams/lines.ts'
import { SEALED } from './sealing.ts'
import type { Sealer } from './sealing.ts'
import type {
  Collection,
  ListResult,
  ListShape,
  NewValue,
  RestoredValue,
  Storage,
  StoredValue,
  Watch,
  WatchBatch,
  WatchMark,
} from '../storage.ts'
import { withRevision } from '../streams/value-text.ts'

export function encrypted<S extends Storage>(storage: S, sealer: Sealer): S {
  const open = async (collection: Collection, key: string, stored: StoredValue): Promise<StoredValue> => ({
    revision: stored.revision,
    text: await sealer.open(collection, stored.text, key),
  })
  const write = async (
    collection: Collection,
    key: string,
    value: NewValue,
    send: (sealed: NewValue) => Promise<StoredValue>,
  ): Promise<StoredValue> => {
    if (!sealer.handles(collection)) return send(value)
    const sealed = await sealer.seal(collection, key, value)
    const written = await send(sealed)
    // the sent text is plain; the shard returns another text only where an earlier call stored it
    if (written.text === withRevision(sealed.text, sealed.at, written.revision))
      return { revision: written.revision, text: withRevision(value.text, value.at, written.revision) }
    return open(collection, key, written)
  }
  const opened = async (collection: Collection, key: string, stored: StoredValue): Promise<StoredValue> => {
    // even where values are no longer sealed: leftover envelopes must not be taken for objects
    const plain = stored.text.startsWith(SEALED) ? await open(collection, key, stored) : stored
    return sealer.isStale(collection, stored.text) ? { ...plain, isStale: true } : plain
  }
  return {
    ...storage,
    async get(collection, key, notOlderThan) {
      const stored = await storage.get(collection, key, notOlderThan)
      return stored && opened(collection, key, stored)
    },
    async *several(collection, keys) {
      for await (const [key, stored] of storage.several(collection, keys))
        yield [key, await opened(collection, key, stored)] as const
    },
    create: (collection, key, value) =>
      write(collection, key, value, (sealed) => storage.create(collection, key, sealed)),
    update: (collection, key, value, expected) =>
      write(collection, key, value, (sealed) => storage.update(collection, key, sealed, expected)),
    delete: (collection, key, last, expected) =>
      write(collection, key, last, (sealed) => storage.delete(collection, key, sealed, expected)),
    async createMissing(shard, values) {
      const sealed = await Promise.all(
        values.map(async ({ key, value }) => {
          const slash = key.indexOf('/')
          const collection = { ...shard, prefix: key.slice(0, slash) }
          return { key, value: await sealer.seal(collection, key.slice(slash + 1), value) }
        }),
      )
      return storage.createMissing(shard, sealed)
    },
    async list(collection, query) {
      if (!sealer.handles(collection)) return storage.list(collection, query)
      const result = await storage.list(collection, { ...query, shape: { as: 'lines' }, opens: true })
      return opening(sealer, collection, result, query.shape ?? { as: 'lines' })
    },
    async watch(collection, query) {
      if (!sealer.handles(collection)) return storage.watch(collection, query)
      return openingWatch(sealer, collection, await storage.watch(collection, { ...query, opens: true }))
    },
    async changes(shard, since, resetAt) {
      const changes = await storage.changes(shard, since, resetAt)
      if (!changes.changed.some(({ text }) => text?.startsWith(SEALED))) return changes
      const changed = changes.changed.map(async (one) => {
        const slash = one.key.indexOf('/')
        const collection = { ...shard, prefix: one.key.slice(0, slash) }
        return one.text === undefined
          ? one
          : { ...one, text: await sealer.open(collection, one.text, one.key.slice(slash + 1)) }
      })
      return { ...changes, changed: await Promise.all(changed) }
    },
    async restore(collection, restore, values) {
      const sealed = await Promise.all(
        values.map(async (one): Promise<RestoredValue> => ({
          ...one,
          value: await sealer.seal(collection, one.key, one.value),
        })),
      )
      return storage.restore(collection, restore, sealed)
    },
  }
}

/** Opens the first values before the list is answered, so that a missing key is an error and not half a list. */
async function opening(
  sealer: Sealer,
  collection: Collection,
  result: ListResult,
  shape: ListShape,
): Promise<ListResult> {
  const batches = lineBatches(result.values)
  const read = async (): Promise<readonly string[] | undefined> => {
    const { value, done } = await batches.next()
    return done === true ? undefined : Promise.all(value.map((line) => sealer.open(collection, line)))
  }
  let next = await read()
  const item = itemText(shape)
  const encoder = new TextEncoder()
  const values = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const opened = next ?? (await read())
        next = undefined
        if (opened === undefined) return controller.close()
        controller.enqueue(encoder.encode(opened.map(item).join('')))
      },
      async cancel() {
        await batches.return(undefined)
      },
    },
    ON_DEMAND,
  )
  return { ...result, values }
}

function openingWatch(sealer: Sealer, collection: Collection, watch: Watch): Watch {
  async function* messages(): AsyncGenerator<WatchBatch> {
    for await (const batch of watch.messages) yield openedBatch(sealer, collection, batch)
  }
  return { messages: messages(), ping: () => watch.ping(), cancel: () => watch.cancel() }
}

async function openedBatch(sealer: Sealer, collection: Collection, batch: WatchBatch): Promise<WatchBatch> {
  if (batch.lines.length === 0) return batch
  const revisions: number[] = []
  const lines: Promise<string>[] = []
  let mark: WatchMark | undefined
  for (const message of batch) {
    if (message.kind !== 'event') {
      mark = message
      continue
    }
    revisions.push(message.revision)
    lines.push(sealer.open(collection, message.text).then((text) => eventLine(message.type, text)))
  }
  return new EncodedBatch(new TextEncoder().encode((await Promise.all(lines)).join('')), revisions, mark)
}
