/**
 * Backup and restore of a control plane: GET /backup, POST /restore (for members of system:masters: authorization/privileged-paths).
 *
 * A backup is lines of JSON: a head with the cut, then for each resource type a line that names it and its objects, one
 * a line, exactly as storage has them, and an end that counts them. Revisions of all shards come from one clock, so
 * the state of every shard at one revision is one state of the whole.
 */
import type { GroupResource } from '../api/group-version.ts'
import { badRequest, StatusError } from '../api/status.ts'
import { collectionOf } from '../registry/collections.ts'
import type { ResourceEntry, ServedResources } from '../registry/resources.ts'
import { freshServedResources, servedResources } from '../registry/served.ts'
import { liveOf, newValueOf } from '../registry/stored-form.ts'
import type { ApiRequest } from '../request/context.ts'
import { everything } from '../storage/selection.ts'
import { shardStorage } from '../storage/shard-client.ts'
import { revisionAt } from '../storage/revision.ts'
import type { RestoredValue, Revision } from '../storage/storage.ts'
import { linesOf } from '../storage/lines.ts'
import { keyOf } from './resource-scope.ts'
import type { ResourceScope } from './resource-scope.ts'
import { resourceScope } from './scope.ts'

const FORMAT = 'kedge-backup/1'
const BATCH = 200
/** Definitions come first: what they define can only be read with them. */
const DEFINITIONS = 'customresourcedefinitions'

interface Head {
  readonly format: string
  readonly revision: Revision
  readonly time: string
}

export async function serveBackup(request: ApiRequest): Promise<Response> {
  const served = await freshServedResources(request)
  const revision = revisionAt(request.now.getTime())
  const head: Head = { format: FORMAT, revision, time: request.now.toISOString() }
  const { readable, writable } = new IdentityTransformStream()
  request.waitUntil(writeBackup(request, served, head, writable))
  return new Response(readable, { headers: { 'Content-Type': 'application/jsonl', 'Cache-Control': 'no-store' } })
}

async function writeBackup(
  request: ApiRequest,
  served: ServedResources,
  head: Head,
  writable: WritableStream<Uint8Array>,
): Promise<void> {
  const encoder = new TextEncoder()
  const line = async (value: unknown): Promise<void> => {
    const writer = writable.getWriter()
    await writer.write(encoder.encode(`${JSON.stringify(value)}\n`))
    writer.releaseLock()
  }
  const storage = shardStorage(request.env.SHARDS)
  try {
    await line(head)
    let objects = 0
    for (const { group, resource } of storedResources(served)) {
      const at = { kind: 'exact', revision: head.revision } as const
      const query = { selection: everything, at, counted: true }
      const { count = 0, values } = await storage.list(collectionOf(request.tenant, { group, resource }), query)
      await line({ group, resource, count })
      await values.pipeTo(writable, { preventClose: true })
      objects += count
    }
    await line({ end: true, objects })
    await writable.close()
  } catch (error) {
    // a backup without its end is no backup, and restore says so
    await writable.abort(error)
  }
}

function storedResources({ resources }: ServedResources): GroupResource[] {
  const stored = resources.filter(({ persisted }) => persisted).map(({ storage }) => storage)
  const distinct = new Map(stored.map(({ group, resource }) => [`${resource}.${group}`, { group, resource }]))
  return [...distinct.values()].sort((a, b) => Number(b.resource === DEFINITIONS) - Number(a.resource === DEFINITIONS))
}

/** Into a control plane that holds nothing of anybody's. */
export async function serveRestore(request: ApiRequest): Promise<Response> {
  if (request.method !== 'POST') throw new StatusError(405, 'MethodNotAllowed', 'a backup is restored with POST', {})
  if (request.request.body === null) throw badRequest('the body must be a backup')
  await refuseUnlessEmpty(request)
  const lines = linesOf(request.request.body)
  const head = parsed<Head>(await lines.next().then(({ value }) => value as string | undefined))
  if (head?.format !== FORMAT) throw badRequest(`the body is no backup: its first line must say "format": "${FORMAT}"`)
  for (const resource of storedResources(await servedResources(request)))
    await shardStorage(request.env.SHARDS).clear(collectionOf(request.tenant, resource))
  const objects = await putBack(request, lines, head.revision)
  return Response.json({ objects, revision: String(head.revision), time: head.time })
}

async function putBack(request: ApiRequest, lines: AsyncGenerator<string>, cut: Revision): Promise<number> {
  let objects = 0
  for (let next = await lines.next(); !next.done; next = await lines.next()) {
    const section = parsed<GroupResource & { count: number; end?: boolean; objects?: number }>(next.value)
    if (section?.end === true) {
      if (section.objects !== objects)
        throw badRequest(`the backup tells of ${section.objects} objects and has ${objects}`)
      return objects
    }
    if (section === undefined) throw badRequest('the backup is damaged: a line is no JSON')
    const scope = await scopeOf(request, section)
    let batch: RestoredValue[] = []
    for (let n = 0; n < section.count; n++) {
      const { value, done } = await lines.next()
      if (done) break
      batch.push(restored(scope, value))
      if (batch.length < BATCH && n + 1 < section.count) continue
      await scope.storage.restore(scope.collection, batch, cut)
      objects += batch.length
      batch = []
    }
  }
  throw badRequest('the backup ends too early: restore it from a whole file into an empty control plane')
}

async function scopeOf(request: ApiRequest, { group, resource }: GroupResource): Promise<ResourceScope> {
  const stored = ({ storage }: ResourceEntry): boolean => storage.group === group && storage.resource === resource
  const entry =
    (await servedResources(request)).resources.find(stored) ??
    (await freshServedResources(request)).resources.find(stored)
  if (entry === undefined)
    throw badRequest(`the backup holds ${resource} of group "${group}", which this server does not serve`)
  return resourceScope(request, entry, { name: '', subresource: '', namespace: '' })
}

function restored(scope: ResourceScope, text: string): RestoredValue {
  // half a line is what a file that was cut off ends with
  if (parsed(text) === undefined) throw badRequest('the backup is damaged: a line is no JSON')
  const { object } = liveOf({ revision: 0, text })
  const { name = '', namespace = '', resourceVersion } = object.metadata
  return {
    key: keyOf(scope, name, namespace),
    revision: Number(resourceVersion),
    value: newValueOf(scope.storageType, object, scope.strategy),
  }
}

/** What only the system wrote may be replaced; anything else stays where it is. */
async function refuseUnlessEmpty(request: ApiRequest): Promise<void> {
  const storage = shardStorage(request.env.SHARDS)
  for (const resource of storedResources(await servedResources(request))) {
    const { values } = await storage.list(collectionOf(request.tenant, resource), {
      selection: everything,
      at: { kind: 'latest' },
    })
    for await (const text of linesOf(values)) {
      const { metadata } = liveOf({ revision: 0, text }).object
      const other = metadata.managedFields?.find(({ manager = '' }) => !SYSTEM_MANAGERS.has(manager))
      if (other !== undefined)
        throw new StatusError(
          409,
          'Conflict',
          `a backup is restored into an empty control plane, and here is ${resource.resource} "${metadata.name}", written by ${other.manager}`,
          {},
        )
    }
  }
}

/** The managers of what a new control plane has by itself (see src/bootstrap). */
const SYSTEM_MANAGERS = new Set([
  'kube-apiserver',
  'kube-controller-manager',
  'kubernetes-service-cidr-controller',
  'clusterrole-aggregation-controller',
  'api-priority-and-fairness-config-producer-v1',
  'api-priority-and-fairness-config-consumer-v1',
])

function parsed<T>(line: string | undefined): T | undefined {
  try {
    return line === undefined ? undefined : (JSON.parse(line) as T)
  } catch {
    return undefined
  }
}
