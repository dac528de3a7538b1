import type { GroupResource } from '../api/group-version.ts'
import type { Env } from '../env.ts'
import type { ServedResources } from '../registry/resources.ts'
import type { Storage } from '../storage/storage.ts'
import type { Tenant } from '../storage/tenant.ts'
import type { AbsentOwner } from '../registry/collector-work.ts'
import type { UserInfo } from '../request/user-info.ts'
import type { Topic } from '../registry/topic.ts'

export interface ControllerContext {
  readonly env: Env
  /** Absent: that of the environment. */
  readonly storage?: Storage
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
  addDependents(resource: GroupResource, ownerKinds: readonly string[]): void
  /** Of a type whose definition went. Should it come back, its objects are looked at, and their owners announced again. */
  forgetDependents(resource: GroupResource): void
  /** Runs work when no other work of that name is under way. */
  alone<Done>(name: string, work: () => Promise<Done>): Promise<Done>
  /**
   * Reads once what several works of one batch need, all of which were taken up before: work that comes later reads anew.
   * @param what is read, which is the same for the same text
   */
  once<Found>(what: string, read: () => Promise<Found>): Promise<Found>
  readonly absentOwners: AbsentOwners
  readonly watchedKinds: WatchedKinds
  readonly sightings: Sightings
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

/**
 * What a controller saw, and a time of this server's clock that belongs to it: what others write has times of theirs.
 * Keys are of a Lease, a node, an autoscaler or a Job, and go with it.
 */
export interface Sightings {
  get(key: `${SightingKind}/${string}`): Sighting | undefined
  /** Undefined: forgets it. */
  set(key: `${SightingKind}/${string}`, sighting: Sighting | undefined): void
}

/**
 * `autoscaler`: what it recommended lately. `back-off`: of a Job, how many pods failed and when the last did. `lease`: of
 * another leader, until when it holds. `heartbeat`: of a kubelet, when it came. `taints`: that evict, since when.
 * `eviction-zone`: when the last of its nodes was given up. `stages`: what pods wait for.
 */
export type SightingKind = 'back-off' | 'autoscaler' | 'lease' | 'heartbeat' | 'taints' | 'eviction-zone' | 'stages'

export interface Sighting {
  readonly record: string
  /** Milliseconds since 1970. */
  readonly time: number
}

/** Brings the world nearer to what it should be, for one key, whatever happened before. */
export interface Controller {
  /**
   * What it leaves undone nobody else does: work that fails is never parked, but tried as seldom as kube-controller-manager
   * tries it in the end, every 1,000 seconds.
   */
  readonly neverGivesUp?: true
  /**
   * @returns milliseconds after which to look again; nothing when the key needs no more
   * @throws HopelessWork
   */
  reconcile(key: string, context: ControllerContext): Promise<number | undefined>
}
