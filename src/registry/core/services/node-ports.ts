/**
 * Node ports. The shard of the Services keeps a record for each allocated port. The create of that record is the
 * allocation. Records are no API objects: clients cannot list or watch them.
 */
import { append } from '../../../base/append.ts'
import type { Service } from '../../../api/core/v1.ts'
import { linesOf } from '../../../storage/streams/lines.ts'
import { parseStored } from '../../../json/parse-json.ts'
import { StorageError } from '../../../storage/errors.ts'
import { everything } from '../../../storage/selectors/selection.ts'
import type { Collection, NewValue, RestoredValue, Revision, StoredValue } from '../../../storage/storage.ts'
import type { Tenant } from '../../../storage/tenant.ts'
import type { GroupResource } from '../../../api/group-version.ts'
import type { KubeObject } from '../../../api/object.ts'
import { collectionOf } from '../../../storage/collections.ts'
import { liveOf } from '../../../codec/stored-object.ts'
import type { StrategyContext } from '../../strategy.ts'
import { settingsOf } from '../../../settings.ts'
import type { PortRange } from '../../../settings/addresses.ts'
import { ORPHAN_AGE } from './orphan-age.ts'

/** How many ports are left for users to choose. */
const LEAST_CHOSEN = 16
const MOST_CHOSEN = 128
const GUESSES = 8
/** Orphans that one write frees. */
const ORPHANS = 64
/** A dry run answers this port in place of an allocated one, whatever the range, as in kube-apiserver. */
const DRY_RUN_PORT = 32769

const services = { group: '', resource: 'services' }

/** A failed allocation. The message is that of kube-apiserver. */
export class NodePortError extends Error {
  override readonly name = 'NodePortError'
}

interface PortRecord {
  readonly service: string
  /** Milliseconds since 1970. */
  readonly since: number
}

interface StoredRecord {
  readonly metadata: { readonly resourceVersion: string }
  readonly port: number
  readonly record: PortRecord
}

/** A write that needs more ports claims them together, before it takes one after the other. */
const FEW = 8
/** Claims that one write has under way. */
const TOGETHER = 64

/** The ports of one write. It never allocates a port twice, not even on a dry run. */
export class NodePorts {
  /** Ports of this write. */
  private readonly taken = new Set<number>()
  private highest = 0
  /** The revisions of the records that this write has claimed. */
  private readonly claimed = new Map<number, Revision>()
  /** Claimed ports that the write has named, and others. */
  private readonly ahead = { named: new Set<number>(), any: [] as number[] }
  /** Ports that others have, where a dry run looked at all. */
  private others: ReadonlySet<number> | undefined
  private isFull = false

  private readonly range: PortRange

  constructor(
    private readonly context: StrategyContext,
    private readonly service: string,
  ) {
    this.range = settingsOf(context.env).nodePorts
  }

  /**
   * Claims together what the write is about to take, where that is much. What cannot be claimed here is refused when it
   * is taken.
   * @param named ports that it will take
   * @param any how many others
   */
  async prepare(named: readonly number[], any: number): Promise<void> {
    const wanted = new Set(named.filter((port) => this.isInRange(port)))
    if (wanted.size + any <= FEW) return
    const used = new Set<number>()
    for await (const { port } of this.records()) used.add(port)
    if (this.context.dryRun) {
      this.others = used
      return
    }
    for (const port of await this.claimTogether([...wanted].filter((port) => !used.has(port)))) {
      used.add(port)
      this.ahead.named.add(port)
    }
    const free = unusedPorts(this.range, used)
    // more than even orphans would make room for
    this.isFull = any > free.length + ORPHANS
    for (let at = 0; !this.isFull && this.ahead.any.length < any && at < free.length;) {
      const tried = free.slice(at, at + any - this.ahead.any.length)
      at += tried.length
      append(this.ahead.any, await this.claimTogether(tried))
    }
  }

  /** Gives back what was claimed ahead and not taken. */
  async releaseUnused(): Promise<void> {
    const { named, any } = this.ahead
    const unused = [...named, ...any]
    named.clear()
    any.length = 0
    await this.releaseAll(unused)
  }

  async releaseAll(ports: readonly number[]): Promise<void> {
    // few: of one Service, and no more than the range has
    for (let at = 0; at < ports.length; at += TOGETHER)
      await Promise.allSettled(ports.slice(at, at + TOGETHER).map((port) => this.release(port)))
  }

  /** @returns the ports that were free */
  private async claimTogether(ports: readonly number[]): Promise<number[]> {
    const found: number[] = []
    for (let at = 0; at < ports.length; at += TOGETHER) {
      const some = ports.slice(at, at + TOGETHER)
      const claims = await Promise.allSettled(some.map((port) => this.claim(port)))
      append(
        found,
        some.filter((port) => this.claimed.has(port)),
      )
      const failure = claims.find((claim) => claim.status === 'rejected')
      if (failure === undefined) continue
      await this.releaseAll(found)
      throw failure.reason
    }
    return found
  }

  /** @throws NodePortError */
  async take(port: number): Promise<void> {
    if (this.ahead.named.delete(port)) return this.took(port)
    if (this.context.dryRun) {
      const isTaken = this.taken.has(port) || (this.isInRange(port) && (await this.isOthers(port)))
      if (isTaken) throw new NodePortError('provided port is already allocated')
    } else {
      const { first, last } = this.range
      if (!this.isInRange(port))
        throw new NodePortError(`provided port is not in the valid range. The range of valid ports is ${first}-${last}`)
      const isTaken = (await this.claim(port)) || ((await this.removeOrphan(port)) && (await this.claim(port)))
      if (!isTaken) throw new NodePortError('provided port is already allocated')
    }
    this.took(port)
  }

  private took(port: number): void {
    this.taken.add(port)
    this.highest = Math.max(this.highest, port)
  }

  private async isOthers(port: number): Promise<boolean> {
    return this.others?.has(port) ?? (await this.read(port)) !== undefined
  }

  /** @throws NodePortError if no port is free */
  async takeAny(): Promise<number> {
    const port = this.context.dryRun ? this.shown() : (this.ahead.any.pop() ?? (await this.findFree()))
    this.took(port)
    return port
  }

  async release(port: number): Promise<void> {
    if (this.context.dryRun) return
    const revision = this.claimed.get(port) ?? (await this.read(port))?.revision
    if (revision !== undefined) await this.remove(port, { revision })
  }

  private shown(): number {
    return this.taken.size === 0 ? DRY_RUN_PORT : this.highest + 1
  }

  private async findFree(): Promise<number> {
    if (this.isFull) throw new NodePortError('range is full')
    const { last } = this.range
    const begin = firstAutomatic(this.range)
    for (let guess = 0; guess < GUESSES; guess++) {
      const [random = 0] = crypto.getRandomValues(new Uint32Array(1))
      const port = begin + (random % (last - begin + 1))
      if (await this.claim(port)) return port
    }
    const found = (await this.findUnused()) ?? ((await this.removeOrphans()) ? await this.findUnused() : undefined)
    if (found === undefined) throw new NodePortError('range is full')
    return found
  }

  private async findUnused(): Promise<number | undefined> {
    const used = new Set<number>()
    for await (const { port } of this.records()) used.add(port)
    const { first, last } = this.range
    const begin = firstAutomatic(this.range)
    for (const [from, to] of [
      [begin, last],
      [first, begin - 1],
    ] as const)
      for (let port = from; port <= to; port++) if (!used.has(port) && (await this.claim(port))) return port
    return undefined
  }

  private async *records(): AsyncGenerator<StoredRecord> {
    // `recordOf` wrote the record
    for await (const text of this.texts(this.collection)) yield parseStored(text) as unknown as StoredRecord
  }

  private async *texts(collection: Collection): AsyncGenerator<string> {
    const { values } = await this.context.storage.list(collection, { selection: everything, at: { kind: 'latest' } })
    yield* linesOf(values)
  }

  private async claim(port: number): Promise<boolean> {
    try {
      const { revision } = await this.context.storage.create(this.collection, String(port), this.recordOf(port))
      this.claimed.set(port, revision)
      return true
    } catch (error) {
      if (error instanceof StorageError && error.code === 'KeyExists') return false
      throw error
    }
  }

  private recordOf(port: number): NewValue {
    return valueOf(port, { service: this.service, since: this.context.now.getTime() })
  }

  private read(port: number): Promise<StoredValue | undefined> {
    return this.context.storage.get(this.collection, String(port))
  }

  /** @returns false if another Service has the port by now */
  private async remove(port: number, { revision }: Pick<StoredValue, 'revision'>): Promise<boolean> {
    try {
      await this.context.storage.delete(this.collection, String(port), this.recordOf(port), revision)
    } catch (error) {
      if (!(error instanceof StorageError) || (error.code !== 'KeyNotFound' && error.code !== 'Conflict')) throw error
      return error.code === 'KeyNotFound'
    }
    return true
  }

  /** Frees an old record whose Service was never stored, or was lost between two writes. */
  private async removeOrphan(port: number): Promise<boolean> {
    const stored = await this.read(port)
    if (stored === undefined) return true
    const { record } = parseStored(stored.text) as unknown as { record: PortRecord }
    if (!this.mayBeOrphan(record)) return false
    const { tenant, storage } = this.context
    const owner = await storage.get(collectionOf(tenant, services), record.service)
    if (owner !== undefined && portsOf(liveOf(owner).object).includes(port)) return false
    return this.remove(port, stored)
  }

  private mayBeOrphan({ since }: PortRecord): boolean {
    return since <= this.context.now.getTime() - ORPHAN_AGE
  }

  /**
   * Frees orphans where no port is left: nobody asks for them by number.
   * @returns whether there were any
   */
  private async removeOrphans(): Promise<boolean> {
    const old: StoredRecord[] = []
    for await (const one of this.records()) if (this.mayBeOrphan(one.record)) old.push(one)
    if (old.length === 0) return false
    // read later: a Service whose record is old was written before
    const used = new Set<number>()
    for await (const text of this.texts(collectionOf(this.context.tenant, services)))
      for (const port of portsOf(liveOf({ revision: 0, text }).object)) used.add(port)
    const orphans = old.filter(({ port }) => !used.has(port)).slice(0, ORPHANS)
    for (const { port, metadata } of orphans) await this.remove(port, { revision: Number(metadata.resourceVersion) })
    return orphans.length > 0
  }

  private isInRange(port: number): boolean {
    return port >= this.range.first && port <= this.range.last
  }

  private get collection(): Collection {
    return recordsOf(this.context.tenant)
  }
}

const recordsOf = (tenant: Tenant): Collection => ({ ...collectionOf(tenant, services), prefix: 'nodeports' })

function valueOf(port: number, record: PortRecord): NewValue {
  const uid = crypto.randomUUID()
  const start = `{"metadata":{"name":"${port}","uid":"${uid}","resourceVersion":"`
  return { text: `${start}"},"port":${port},"record":${JSON.stringify(record)}}`, at: start.length, uid }
}

/** The records of restored Services. A backup has objects only. */
export class RestoredPorts {
  /** Bound: the ports that there are. */
  private readonly known = new Set<number>()
  readonly collection: Collection

  constructor(tenant: Tenant) {
    this.collection = recordsOf(tenant)
  }

  /** Each record has its port as revision, which is smaller than those of objects. */
  of(service: Service & KubeObject): RestoredValue[] {
    const { namespace, name } = service.metadata
    const added = portsOf(service).filter((port) => !this.known.has(port))
    return [...new Set(added)].map((port) => {
      this.known.add(port)
      return { key: String(port), revision: port, value: valueOf(port, { service: `${namespace}/${name}`, since: 0 }) }
    })
  }
}

export const isServices = ({ group, resource }: GroupResource): boolean => group === '' && resource === 'services'

/** All node ports of a Service. */
export const portsOf = ({ spec }: Service): number[] =>
  [...(spec?.ports ?? []).map(({ nodePort }) => nodePort ?? 0), spec?.healthCheckNodePort ?? 0].filter(
    (port) => port !== 0,
  )

/**
 * Automatic allocation starts here. As in kube-apiserver it leaves the ports before for those that users choose: a
 * thirty-second of the range, at least 16 and at most 128, and none of a range of up to 16 (KEP-3668).
 */
function firstAutomatic({ first, last }: PortRange): number {
  const size = last - first + 1
  return size <= LEAST_CHOSEN ? first : first + Math.min(Math.max(LEAST_CHOSEN, Math.floor(size / 32)), MOST_CHOSEN)
}

/** In a random order, and those first that no user should choose. */
function unusedPorts({ first, last }: PortRange, used: ReadonlySet<number>): number[] {
  const from = (first: number, last: number): number[] =>
    Array.from({ length: last - first + 1 }, (_, at) => first + at).filter((port) => !used.has(port))
  const begin = firstAutomatic({ first, last })
  return [...shuffled(from(begin, last)), ...from(first, begin - 1)]
}

/** Changes the list. */
function shuffled(ports: number[]): number[] {
  const random = crypto.getRandomValues(new Uint32Array(ports.length))
  for (let at = ports.length - 1; at > 0; at--) {
    const other = random[at]! % (at + 1)
    const port = ports[at]!
    ports[at] = ports[other]!
    ports[other] = port
  }
  return ports
}
