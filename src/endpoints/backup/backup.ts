/**
 * GET /backup (for members of system:masters: authorization/privileged-paths): a whole control plane at one revision
 * (see backup/format.ts). Until the reader has everything, each shard keeps what is readable at that revision.
 */
import type { GroupResource } from '../../api/group-version.ts'
import { collectionOf } from '../../storage/collections.ts'
import { storedResources, writtenShards } from '../../registry/served/written-types.ts'
import { logError } from '../../log/log.ts'
import { liveOf } from '../../codec/stored-object.ts'
import { byteChunks } from '../../storage/streams/byte-chunks.ts'
import { linesOf } from '../../storage/streams/lines.ts'
import { writtenShardsOf } from '../../storage/shards/written-shards.ts'
import type { ApiRequest } from '../../request/context.ts'
import { everything } from '../../storage/selectors/selection.ts'
import { lastRevisionAt, revisionAt } from '../../storage/revisions/revision.ts'
import { storageOf } from '../../storage/environment-storage.ts'
import { forEachShard } from '../../storage/shards/for-each-shard.ts'
import type { Revision, ShardName } from '../../storage/storage.ts'
import { Hold } from './hold.ts'
import { freshControlSnapshot } from '../../tenancy/control-snapshot.ts'
import { BackupDigest } from './digest.ts'
import type { End, Head, Section } from './format.ts'
import { FORMAT, shardsOf } from './format.ts'

export async function serveBackup(request: ApiRequest): Promise<Response> {
  const now = revisionAt(request.now.getTime())
  // a shard with its first write after this moment has only later revisions
  const snapshot = await freshControlSnapshot(request)
  const written = new Set([...writtenShards(snapshot), ...(await writtenThen(request, now))])
  const types = storedResources(request.tenant, snapshot, [...written])
  const shards = shardsOf(request.tenant, types)
  const revision = Math.max(now, await newestAhead(request, shards))
  const hold = await Hold.begin(storageOf(request.env), revision, shards, request.clock)
  const head: Head = { format: FORMAT, revision, time: request.now.toISOString() }
  const { readable, writable } = new IdentityTransformStream()
  request.waitUntil(writeBackup(request, types, head, writable).finally(() => hold.end()))
  return new Response(readable, { headers: { 'Content-Type': 'application/jsonl', 'Cache-Control': 'no-store' } })
}

/**
 * The newest revision that is ahead of the clock, 0 without any. The clock may have been set back, and that of another
 * machine may be ahead. A backup at the clock's revision would lack what was written with those.
 */
async function newestAhead({ env, clock }: ApiRequest, shards: readonly ShardName[]): Promise<Revision> {
  let newest = 0
  await forEachShard(shards, async (shard) => {
    const last = await storageOf(env).revision({ ...shard, prefix: '' })
    if (last > lastRevisionAt(clock())) newest = Math.max(newest, last)
  })
  return newest
}

/** The shards that had objects at that revision, including those that were emptied since. */
async function writtenThen(request: ApiRequest, revision: Revision): Promise<string[]> {
  const query = { selection: everything, at: { kind: 'exact', revision } } as const
  const { values } = await storageOf(request.env).list(writtenShardsOf(request.tenant.uid), query)
  const names: string[] = []
  for await (const text of linesOf(values)) names.push(liveOf({ revision, text }).object.metadata.name ?? '')
  return names
}

async function writeBackup(
  request: ApiRequest,
  types: readonly GroupResource[],
  head: Head,
  writable: WritableStream<Uint8Array>,
): Promise<void> {
  const encoder = new TextEncoder()
  const writer = writable.getWriter()
  const digest = new BackupDigest()
  const write = async (bytes: Uint8Array): Promise<void> => {
    await digest.add(bytes)
    await writer.write(bytes)
  }
  const line = (value: Head | Section) => write(encoder.encode(`${JSON.stringify(value)}\n`))
  const last = (value: End) => writer.write(encoder.encode(`${JSON.stringify(value)}\n`))
  const storage = storageOf(request.env)
  try {
    await line(head)
    let objects = 0
    for (const { group, resource } of types) {
      const at = { kind: 'exact', revision: head.revision } as const
      const query = { selection: everything, at, counted: true }
      const { count = 0, values } = await storage.list(collectionOf(request.tenant, { group, resource }), query)
      await line({ group, resource, count })
      for await (const piece of byteChunks(values)) await write(piece)
      objects += count
    }
    await last({ end: true, objects, sha256: await digest.end() })
    await writer.close()
  } catch (error) {
    logError('a backup was not finished', { error })
    // the last line may be incomplete; a reader that has gone does not get the error
    await writer
      .write(encoder.encode(`\n${JSON.stringify({ error: String(error) })}\n`))
      .then(() => writer.close())
      .catch(() => writer.abort(error).catch(() => {}))
  }
}
