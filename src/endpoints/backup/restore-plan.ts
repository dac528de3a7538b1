/**
 * The steps of a restore in the shards, which make it one change of state. It locks all shards before it empties the
 * first, and unlocks them after it has filled the last; the control shard is locked first and unlocked last.
 * Meanwhile all other requests get 503. A restore that breaks off leaves the locks, and the next restore, whose id is
 * later, takes them over.
 */
import type { GroupResource } from '../../api/group-version.ts'
import type { ApiRequest } from '../../request/context.ts'
import { StatusError } from '../../api/status.ts'
import {
  builtInStorages,
  collectionOf,
  CONTROL_SHARD,
  customStorageOf,
  groupResourceNamed,
  isBuiltInStorage,
} from '../../storage/collections.ts'
import { DEFINITIONS } from '../../registry/custom-resources/definition.ts'
import { storedResources, writtenShards } from '../../registry/served/written-types.ts'
import { logError } from '../../log/log.ts'
import { StorageError } from '../../storage/errors.ts'
import { revisionAt } from '../../storage/revisions/revision.ts'
import { storageOf } from '../../storage/environment-storage.ts'
import { forEachShard } from '../../storage/shards/for-each-shard.ts'
import { writtenShardsOf, writtenShardValue } from '../../storage/shards/written-shards.ts'
import type { Collection, RestoredValue, RestoreId, Revision, ShardName } from '../../storage/storage.ts'
import { freshControlSnapshot, LONGEST_AGE } from '../../tenancy/control-snapshot.ts'
import type { ShardStorage } from '../../storage/shards/shard-client.ts'
import type { ControlSnapshot } from '../../tenancy/control-snapshot.ts'
import { UNCHECKED } from '../../tenancy/same-epoch.ts'
import { shardsOf } from './format.ts'
import { revisionsIfEmpty } from './restore-emptiness.ts'

/** The most tries of the check while the control plane's own controllers write. */
const TRIES = 5

/**
 * Milliseconds: see tenancy/same-epoch.ts. The last part is for clocks that differ: see BEHIND in
 * durable-objects/restore-lock.ts.
 */
const LOCKED_FOR = LONGEST_AGE + UNCHECKED + 1_000

export type Pause = (milliseconds: number) => Promise<void>

export class RestorePlan {
  private readonly storage: ShardStorage
  /** The emptied shards by name. Bound: the shards of the served resources. */
  private readonly shards = new Map<string, ShardName>()
  /** Names of the shards that got objects. Bound: as above. */
  private readonly filled = new Set<string>()
  /**
   * Names of the shards of definitions that were there before. They stay locked like the others, and the control shard
   * lists them, so that another restore finds them where this one breaks off. Bound: as above.
   */
  private readonly removed = new Set<string>()
  private rows = 0
  private lockedAt = 0

  private constructor(
    private readonly request: ApiRequest,
    private readonly id: RestoreId,
  ) {
    this.storage = storageOf(request.env)
  }

  /** @throws StatusError 409 where the control plane has objects of users */
  static async begin(request: ApiRequest): Promise<RestorePlan> {
    const plan = new RestorePlan(request, revisionAt(request.clock()))
    const shards = (await isBeingRestored(request)) ? await plan.takeOver() : await plan.lockEmpty()
    plan.lockedAt = request.clock()
    await plan.forgetWork()
    const builtIn = new Set(builtInShards(request).map(({ shard }) => shard))
    const others = shards.filter(({ shard }) => shard !== CONTROL_SHARD)
    await forEachShard(others, (shard) => plan.clear(shard))
    for (const { shard } of others) if (!builtIn.has(shard)) plan.removed.add(shard)
    // the control shard last, because it lists the other shards
    await plan.clear(plan.control, [CONTROL_SHARD, ...plan.removed])
    return plan
  }

  async put(collection: Collection, values: readonly RestoredValue[]): Promise<void> {
    const { shard } = collection
    if (shard !== CONTROL_SHARD && !this.filled.has(shard)) {
      this.filled.add(shard)
      if (!this.removed.has(shard)) await this.putRow(shard)
      if (!this.shards.has(shard)) {
        await this.storage.lock(collection, this.id)
        await this.clear(collection)
      }
    }
    await this.storage.restore(collection, this.id, values)
  }

  /**
   * Opens the shards once no isolate has a copy of the old configuration, and once each request that was authorized by
   * such a copy compares the epoch before it writes. The controllers' old work is dropped, because the restored objects
   * brought their own.
   */
  async end(cut: Revision, pause: Pause): Promise<void> {
    await pause(Math.max(0, this.lockedAt + LOCKED_FOR - this.request.clock()))
    await this.request.env.CONTROLLERS.getByName(this.request.tenant.uid).forget()
    const unlock = (shard: ShardName) => this.storage.unlock(shard, this.id, cut)
    await forEachShard(
      [...this.shards.values()].filter(({ shard }) => shard !== CONTROL_SHARD),
      unlock,
    )
    await unlock(this.control)
    // also writes the control plane's own objects that the backup lacks
    await freshControlSnapshot(this.request)
    await this.retire()
  }

  /** Takes the shards that the backup leaves empty off the list. */
  private async retire(): Promise<void> {
    const empty = [...this.removed].filter((shard) => !this.filled.has(shard))
    const retire = (shard: string) => this.storage.retire({ tenant: this.request.tenant.uid, shard })
    // the list may name a shard without objects
    await forEachShard(empty, retire).catch((error: unknown) => logError('empty shards stay listed', { error }))
  }

  /** Registers a shard in the control shard before the first object is written to it. */
  private async putRow(shard: string): Promise<void> {
    await this.storage.restore(writtenShardsOf(this.control.tenant), this.id, [this.rowOf(shard)])
  }

  private rowOf(shard: string): RestoredValue {
    // a revision of its own, smaller than those of a backup, which are times
    return { key: shard, revision: ++this.rows, value: writtenShardValue(shard) }
  }

  private get control(): ShardName {
    return { tenant: this.request.tenant.uid, shard: CONTROL_SHARD }
  }

  private forgetWork(): Promise<void> {
    const { env, tenant } = this.request
    return env.CONTROLLERS.getByName(tenant.uid).forget()
  }

  /** Unlocks the control shard last: while it is locked, another restore finds everything that this one leaves. */
  private async unlock(shards: readonly ShardName[], cut: Revision): Promise<void> {
    const unlock = (shard: ShardName) => this.storage.unlock(shard, this.id, cut)
    await forEachShard(
      shards.filter(({ shard }) => shard !== CONTROL_SHARD),
      unlock,
    )
    await unlock(this.control)
  }

  /** @param listed the shards that the control shard then lists */
  private async clear({ tenant, shard }: ShardName, listed: readonly string[] = []): Promise<void> {
    const { prefix } = writtenShardsOf(tenant)
    const rows = listed.map((name) => ({ ...this.rowOf(name), key: `${prefix}/${name}` }))
    await this.storage.clear({ tenant, shard }, this.id, rows)
    this.shards.set(shard, { tenant, shard })
  }

  /** Takes over the locks of a restore that broke off. */
  private async takeOver(): Promise<ShardName[]> {
    const { storage, id, control, request } = this
    await storage.lock(control, id)
    const shards = [...builtInShards(request)]
    const known = new Set(shards.map(({ shard }) => shard))
    for (const shard of await this.customShards())
      if (!known.has(shard)) shards.push({ tenant: request.tenant.uid, shard })
    await forEachShard(shards, (shard) => storage.lock(shard, id))
    return shards
  }

  /** The shards of custom resources, read from the locked control shard. */
  private async customShards(): Promise<readonly string[]> {
    const { storage, id, request } = this
    const written = await storage.lockedKeys(writtenShardsOf(request.tenant.uid), id)
    if (written.includes(CONTROL_SHARD)) return written
    const definitions = await storage.lockedKeys(collectionOf(request.tenant, DEFINITIONS), id)
    const custom = definitions.map((name) => customStorageOf(groupResourceNamed(name)))
    return shardsOf(request.tenant, custom).map(({ shard }) => shard)
  }

  private async lockEmpty(): Promise<ShardName[]> {
    const { storage, id, request } = this
    for (let attempt = 1; ; attempt++) {
      const snapshot = await freshControlSnapshot(request)
      const types = allTypes(request, snapshot)
      const revisions = await revisionsIfEmpty(request, types)
      // shards with a first write since then are not in the list
      revisions.set(CONTROL_SHARD, Math.min(snapshot.revision, revisions.get(CONTROL_SHARD) ?? Infinity))
      const names = new Set([
        ...shardsOf(request.tenant, types).map(({ shard }) => shard),
        // also the shards of removed definitions, which forget that the control shard knows of them
        ...writtenShards(snapshot),
      ])
      const shards = [...names].map((shard): ShardName => ({ tenant: request.tenant.uid, shard }))
      const locked: ShardName[] = []
      const lock = async (shard: ShardName) => {
        await storage.lock(shard, id, revisions.get(shard.shard))
        locked.push(shard)
      }
      try {
        await lock(this.control)
        await forEachShard(
          shards.filter(({ shard }) => shard !== CONTROL_SHARD),
          lock,
        )
        return shards
      } catch (error) {
        if (locked.length > 0) await this.unlock(locked, 0)
        if (!(error instanceof StorageError) || error.code !== 'Conflict') throw error
        if (attempt === TRIES)
          throw new StatusError(409, 'Conflict', 'the control plane is being written to: try again', {})
      }
    }
  }
}

const builtInShards = ({ tenant }: ApiRequest): ShardName[] => shardsOf(tenant, builtInStorages())

/** Built-in types are included even if they were never written to, because a client may write to one now. */
const allTypes = ({ tenant }: ApiRequest, snapshot: ControlSnapshot): GroupResource[] => [
  ...builtInStorages(),
  ...storedResources(tenant, snapshot).filter((type) => !isBuiltInStorage(type)),
]

/** Whether a restore is in progress, or has broken off. */
export async function isBeingRestored(request: ApiRequest): Promise<boolean> {
  try {
    await freshControlSnapshot(request)
    return false
  } catch (error) {
    if (error instanceof StorageError && error.code === 'Restoring') return true
    throw error
  }
}
