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
  /**
   * The definition of a type went. Should it come back, the collector looks at its objects and isolates announce their
   * owners again.
   */
  forgetDependents(resource: GroupResource): void
  /** Runs work when no other work of that name is under way. */
  alone<Done>(name: string, work: () => Promise<Done>): Promise<Done>
  /**
   * Shares one read among the works of a batch, all of which were taken up before it. Work that comes later reads
   * again.
   * @param what names the read; the same text means the same read
   */
  once<Found>(what: string, read: () => Promise<Found>): Promise<Found>
  readonly absentOwners: AbsentOwners
  readonly watchedKinds: WatchedKinds
  readonly sightings: Sightings
  /** Hands work to a controller, after so many milliseconds. */
  later(controller: Topic, key: string, delay: number): void
}

/** Owners that went and whose kind may go as well. The collector still knows that their dependents have no owner. */
export interface AbsentOwners {
  has(owner: AbsentOwner): boolean
  add(owner: AbsentOwner): void
}

/** Definitions, by name and uid, whose objects were watched before there were any. */
export interface WatchedKinds {
  has(name: string): boolean
  /** Forgets those of the name that have another uid. */
  forgetOthers(name: string, uid: string): void
}

/**
 * Observations of a controller, each with a time of this server's clock: times that others write come from other
 * clocks. A key names a Lease, a node, an autoscaler or a Job, and goes with it.
 */
export interface Sightings {
  get(key: `${SightingKind}/${string}`): Sighting | undefined
  /** Undefined: forgets it. */
  set(key: `${SightingKind}/${string}`, sighting: Sighting | undefined): void
}

/**
 * `autoscaler`: its latest recommendations. `back-off`: how many pods of a Job failed and when the last did. `lease`:
 * until when another leader holds it. `heartbeat`: when that of a kubelet came. `taints`: since when evicting taints
 * are there. `eviction-zone`: when the last of its nodes was evicted. `stages`: the delays of pods.
 */
export type SightingKind = 'back-off' | 'autoscaler' | 'lease' | 'heartbeat' | 'taints' | 'eviction-zone' | 'stages'

export interface Sighting {
  readonly record: string
  /** Milliseconds since 1970. */
  readonly time: number
}

/** Brings the objects of one key nearer to their desired state, whatever happened before. */
export interface Controller {
  /**
   * Nobody else does the work that it leaves undone. Work that fails is never parked; in the end it is tried every
   * 1,000 seconds, as in kube-controller-manager.
   */
  readonly neverGivesUp?: true
  /**
   * @returns milliseconds after which to look again; nothing when the key needs no more
   * @throws HopelessWork
   */
  reconcile(key: string, context: ControllerContext): Promise<number | undefined>
}
