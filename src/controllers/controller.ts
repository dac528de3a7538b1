import type { GroupResource } from '../api/group-version.ts'
import type { Env } from '../env.ts'
import type { ServedResources } from '../registry/resources.ts'
import type { Tenant } from '../storage/tenant.ts'
import type { AbsentOwner } from '../registry/collector-work.ts'
import type { UserInfo } from '../request/user-info.ts'
import type { Topic } from '../registry/topic.ts'

export interface ControllerContext {
  readonly env: Env
  readonly tenant: Tenant
  /** Built-in resources and those of definitions, as of when the work was taken up. */
  readonly served: ServedResources
  /** The same with every definition that was written before the call: asked before something is called unknown. */
  freshServed(): Promise<ServedResources>
  /** As whom the controller writes. */
  readonly user: UserInfo
  /** Lets work go on that the reconciliation does not wait for. */
  waitUntil(work: Promise<unknown>): void
  /** When the work is done: reading it again may give a later time. */
  now(): Date
  /** The resource types that hold dependents of owners of this kind (`Deployment.apps`). */
  dependentsOf(ownerKind: string): readonly GroupResource[]
  /** Runs work when no other work of that name is under way. */
  alone<Done>(name: string, work: () => Promise<Done>): Promise<Done>
  readonly absentOwners: AbsentOwners
  readonly watchedKinds: WatchedKinds
  readonly heldLeases: HeldLeases
  /** Hands work to a controller, after so many milliseconds. */
  later(controller: Topic, key: string, delay: number): void
}

/** Owners that went and whose kind may go as well: who named one is still known to be left without it. */
export interface AbsentOwners {
  has(owner: AbsentOwner): boolean
  add(owner: AbsentOwner): void
}

/** Definitions, by name and uid, of whose objects somebody watched before there were any. */
export interface WatchedKinds {
  has(name: string): boolean
  /** Forgets those of the name that have another uid. */
  forgetOthers(name: string, uid: string): void
}

/** Leases that other programs hold, by name. */
export interface HeldLeases {
  get(name: string): HeldLease | undefined
  /** Undefined: nobody holds it. */
  set(name: string, held: HeldLease | undefined): void
}

export interface HeldLease {
  /** What the Lease said: the same again prolongs nothing. */
  readonly record: string
  /** When it ends unless it is renewed: milliseconds since 1970, by this server's clock; 0: it has ended. */
  readonly until: number
}

/** Brings the world nearer to what it should be, for one key, whatever happened before. */
export interface Controller {
  /**
   * @returns milliseconds after which to look again; nothing when the key needs no more
   * @throws HopelessWork
   */
  reconcile(key: string, context: ControllerContext): Promise<number | undefined>
}
