import type { GroupResource } from '../api/group-version.ts'
import type { Env } from '../env.ts'
import type { ServedResources } from '../registry/served/resources.ts'
import type { Storage } from '../storage/storage.ts'
import type { Subrequests } from '../storage/shards/subrequests.ts'
import type { WorkBudget } from '../storage/shards/turn-budget.ts'
import type { Tenant } from '../storage/tenant.ts'
import type { AbsentOwner } from '../registry/work/collector-work.ts'
import type { UserInfo } from '../request/user-info.ts'
import type { Topic } from '../registry/work/topic.ts'
import type { WorkRoom } from './work/list-room.ts'

export interface ControllerContext {
  readonly env: Env
  /** Default: the storage of the environment. */
  readonly storage?: Storage
  /** As in ApiCall. */
  readonly subrequests?: Subrequests
  readonly tenant: Tenant
  /** The built-in resources, and those of the definitions at the time when the work began. */
  readonly served: ServedResources
  /** `served` with every definition written before the call. A type that it lacks is unknown. */
  freshServed(): Promise<ServedResources>
  /** The user that the controller writes as. */
  readonly user: UserInfo
  /** Keeps work alive that the reconciliation does not wait for. */
  waitUntil(work: Promise<unknown>): void
  /** Divides the work into turns, between which the isolate serves requests. */
  readonly budget: WorkBudget
  /** Memory for the lists of this work. */
  readonly room: WorkRoom
  /** The present time, which advances during the work. */
  now(): Date
  /** The resource types that hold dependents of owners of this kind (`Deployment.apps`). */
  dependentsOf(ownerKind: string): readonly GroupResource[]
  addDependents(resource: GroupResource, ownerKinds: readonly string[]): void
  /**
   * Call this when the definition of a type is gone. If it comes back, the collector reads its objects, and isolates
   * announce their owners again.
   */
  forgetDependents(resource: GroupResource): void
  /** Runs the work while no other work of that name runs. */
  alone<Done>(name: string, work: () => Promise<Done>): Promise<Done>
  /**
   * Shares one read among the work items of a batch, which all began before the read. Later items read again.
   * @param what identifies the read: equal texts mean the same read
   */
  once<Found>(what: string, read: () => Promise<Found>): Promise<Found>
  /** The keys of the work of this controller that is done together: they include the key that is reconciled. */
  readonly together: readonly string[]
  readonly absentOwners: AbsentOwners
  readonly watchedKinds: WatchedKinds
  readonly sightings: Sightings
  /**
   * Resolves when the queue of this work goes on without it, because it takes long and other work waits. New work of the
   * same key waits for the end of this one.
   * Settles: then, or never. Nobody waits for it alone.
   */
  readonly overdue: Promise<void>
  /** Adds work for a controller, due after `delay` milliseconds. */
  later(controller: Topic, key: string, delay: number): void
}

/**
 * Owners that are gone and whose kind may go as well. They let the collector know that their dependents have no owner.
 */
export interface AbsentOwners {
  has(owner: AbsentOwner): boolean
  add(owner: AbsentOwner): void
}

/** Definitions, by name and uid, that had a watch before they had objects. */
export interface WatchedKinds {
  has(name: string): boolean
  /** Forgets definitions of the name that have another uid. */
  forgetOthers(name: string, uid: string): void
}

/**
 * Observations of a controller, each with a time of this server's clock, because times in objects come from other
 * clocks. A key names a Lease, a node, an autoscaler, a Job, a pod or a DeviceTaintRule, and is removed with it.
 */
export interface Sightings {
  get(key: `${SightingKind}/${string}`): Sighting | undefined
  /** @param sighting undefined: removes the key */
  set(key: `${SightingKind}/${string}`, sighting: Sighting | undefined): void
}

/**
 * `autoscaler`: its latest recommendations. `back-off`: how many pods of a Job failed and when the last one did.
 * `lease`: until when another leader holds it. `node`: the uid of the node whose registration was told. `heartbeat`: when
 * the last one of a kubelet came. `taints`: since when a
 * node has evicting taints. `device-eviction`: when the devices of a pod, whose uid is the record, evict it.
 * `device-taint-rule`: how many pods a DeviceTaintRule evicted. `eviction-zone`: when the last eviction of a node in the zone was. `stages`: the delays of
 * pods.
 */
export type SightingKind =
  | 'back-off'
  | 'autoscaler'
  | 'lease'
  | 'node'
  | 'heartbeat'
  | 'taints'
  | 'device-eviction'
  | 'device-taint-rule'
  | 'eviction-zone'
  | 'stages'

export interface Sighting {
  readonly record: string
  /** Milliseconds since 1970. */
  readonly time: number
}

/** The delay doubles from the first to the longest. */
export interface Retry {
  readonly first: number
  readonly longest: number
}

/** Brings the objects of a key nearer to their desired state. It depends only on their present state, not on events. */
export interface Controller {
  /**
   * No other controller or user does this work if this one gives up. So failed work is never parked: the back-off
   * grows to 1,000 seconds, as in kube-controller-manager.
   */
  readonly neverGivesUp?: true
  /** Milliseconds between failed attempts, where they differ from those of others. Such work is never parked. */
  readonly retry?: Retry
  /**
   * The queue that it shares with controllers of its sort. All others share one, and do not wait for this one. A sort has
   * its own because it may take seconds (through all objects of a namespace, a type or an owner, or for the answer of
   * another server), or because its work comes in thousands.
   */
  readonly queue?: 'namespaces' | 'definitions' | 'garbage' | 'workloads' | 'other-servers'
  /**
   * @returns milliseconds until the next reconciliation; undefined where none is needed
   * @throws HopelessWork
   */
  reconcile(key: string, context: ControllerContext): Promise<number | undefined>
}
