/**
 * GET /backup (for members of system:masters: authorization/privileged-paths): all of a control plane at one revision (see backup-format.ts). While it is written every shard keeps what
 * is readable at that revision, however long the reader takes.
 */
import type { GroupResource } from '../api/group-version.ts'
import type { Clock } from '../api/clock.ts'
import { logError } from '../log/log.ts'
import { collectionOf } from '../storage/collections.ts'
import { storedResources, writtenShards } from '../registry/written-types.ts'
import { liveOf } from '../codec/stored-object.ts'
import { linesOf } from '../storage/lines.ts'
import { writtenShardsOf } from '../storage/written-shards.ts'
import type { ApiRequest } from '../request/context.ts'
import { forEachShard } from '../storage/for-each-shard.ts'
import { everything } from '../storage/selection.ts'
import { revisionAt } from '../storage/revision.ts'
import { storageOf } from '../storage/environment-storage.ts'
import type { Revision, ShardName, Storage } from '../storage/storage.ts'
import { freshControlSnapshot } from '../tenancy/control-snapshot.ts'
import type { End, Head, Section } from './backup-format.ts'
import { FORMAT, shardsOf } from './backup-format.ts'

/** A shard keeps the state for so long after it was last asked to. */
const HOLD_MS = 600_000
const RENEW_MS = 240_000
/** Milliseconds after which a backup is no reason any more to keep the past: it fails where it needs that. */
const LONGEST_MS = 12 * 3_600_000

export async function serveBackup(request: ApiRequest): Promise<Response> {
  const revision = revisionAt(request.now.getTime())
  // a shard that gets its first write after this has a later revision
  const snapshot = await freshControlSnapshot(request)
  const written = new Set([...writtenShards(snapshot), ...(await writtenThen(request, revision))])
  const types = storedResources(request.tenant, snapshot, [...written])
  const hold = new Hold(storageOf(request.env), revision, shardsOf(request.tenant, types), request.clock)
  await hold.begin()
  const head: Head = { format: FORMAT, revision, time: request.now.toISOString() }
  const { readable, writable } = new IdentityTransformStream()
  request.waitUntil(writeBackup(request, types, head, writable).finally(() => hold.end()))
  return new Response(readable, { headers: { 'Content-Type': 'application/jsonl', 'Cache-Control': 'no-store' } })
}

/** The shards that had objects at that revision, those included that were emptied since. */
async function writtenThen(request: ApiRequest, revision: Revision): Promise<string[]> {
  const query = { selection: everything, at: { kind: 'exact', revision } } as const
  const { values } = await storageOf(request.env).list(writtenShardsOf(request.tenant.uid), query)
  const names: string[] = []
  for await (const text of linesOf(values)) names.push(liveOf({ revision, text }).object.metadata.name ?? '')
  return names
}

const notHeld = (error: unknown): void => logError('old versions could not be held for a backup', { error })

/** Keeps compaction from what a backup has yet to read. */
class Hold {
  private stop = (): void => {}

  constructor(
    private readonly storage: Storage,
    private readonly revision: Revision,
    private readonly shards: readonly ShardName[],
    private readonly clock: Clock,
  ) {}

  async begin(): Promise<void> {
    const began = this.clock()
    await this.ask(HOLD_MS)
    const timer = setInterval(() => {
      if (this.clock() - began < LONGEST_MS) void this.ask(HOLD_MS).catch(notHeld)
    }, RENEW_MS)
    this.stop = () => clearInterval(timer)
  }

  /** A shard that misses this call releases its hold when the time is over. */
  async end(): Promise<void> {
    this.stop()
    await this.ask(0).catch(notHeld)
  }

  private ask(milliseconds: number): Promise<void> {
    return forEachShard(this.shards, (shard) => this.storage.hold(shard, this.revision, milliseconds))
  }
}

async function writeBackup(
  request: ApiRequest,
  types: readonly GroupResource[],
  head: Head,
  writable: WritableStream<Uint8Array>,
): Promise<void> {
  const encoder = new TextEncoder()
  const write = async (text: string): Promise<void> => {
    const writer = writable.getWriter()
    await writer.write(encoder.encode(text))
    writer.releaseLock()
  }
  const line = (value: Head | Section | End) => write(`${JSON.stringify(value)}\n`)
  const storage = storageOf(request.env)
  try {
    await line(head)
    let objects = 0
    for (const { group, resource } of types) {
      const at = { kind: 'exact', revision: head.revision } as const
      const query = { selection: everything, at, counted: true }
      const { count = 0, values } = await storage.list(collectionOf(request.tenant, { group, resource }), query)
      await line({ group, resource, count })
      await values.pipeTo(writable, { preventClose: true, preventAbort: true })
      objects += count
    }
    await line({ end: true, objects })
    await writable.close()
  } catch (error) {
    logError('a backup was not finished', { error })
    // half a line may be there already; nothing more is said to a reader who has gone
    await write(`\n${JSON.stringify({ error: String(error) })}\n`)
      .then(() => writable.close())
      .catch(() => writable.abort(error).catch(() => {}))
  }
}
