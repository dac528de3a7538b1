/** The controllers' work after a write, and the rules with which a resource declares it. */
import type { GroupResource } from '../../api/group-version.ts'
import { groupResourceText } from '../../api/group-version.ts'
import type { KubeObject, OwnerReference } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import type { Workloads } from '../../settings/schema.ts'
import type { OutboxMessage } from '../../storage/storage.ts'
import { ownerKindOf } from './owner-kinds.ts'
import type { Evaluator } from '../quota/evaluator.ts'
import type { Topic } from './topic.ts'
import { ownersTopics } from './workload-controllers.ts'

export interface Change<O extends KubeObject = KubeObject> {
  readonly resource: GroupResource
  /** Absent: the write removed the object. */
  readonly object?: O
  /** Absent: the write created the object. */
  readonly old?: O
  /** Milliseconds since 1970. */
  readonly now: number
}

export interface Work extends OutboxMessage {
  readonly topic: Topic
}

/**
 * Work for the workload controllers, which an administrator can switch off. The key is `NAMESPACE/NAME` of the object
 * to reconcile, a namespace, or empty if one run reconciles all. A write is work for the controller of the object's
 * owner. An object without an owner is work for `orphan`, which looks for a controller whose selector matches it.
 */
export type WorkloadRule = (change: Change, mode: Exclude<Workloads, 'off'>) => readonly Work[]

/**
 * New objects get the finalizer. volume-protection removes it after the object is deleted and no other object uses it.
 */
export interface Protection<O extends KubeObject = KubeObject> {
  readonly finalizer: string
  /** The ServiceAccount that removes it. */
  readonly account: string
  isUsed(object: O, some: SomeObject): boolean | Promise<boolean>
}

/**
 * Whether one of a resource's objects in a namespace matches; '' for all namespaces. The caller knows their type. They are
 * looked at one after the other, because users may have any number of them.
 */
export type SomeObject = <Other>(
  resource: GroupResource,
  namespace: string,
  matches: (object: Other) => boolean,
) => Promise<boolean>

/** The controllers that get work from a resource's writes, besides the garbage collector. Default: none. */
export interface WorkRules<O extends KubeObject = KubeObject> {
  work?(change: Change<O>): readonly Work[]
  readonly workloadWork?: readonly WorkloadRule[]
  readonly protection?: Protection<O>
  /** The evaluator if quotas count more than `count/RESOURCE.GROUP`, or that they never count the resource. */
  readonly quota?: Evaluator | 'uncounted'
  /** Objects `[NAMESPACE/]NAME` that the server itself needs. After a deletion it creates them again. */
  readonly serverObjects?: readonly string[]
  /** After an update the server puts these objects right. */
  readonly mendsServerObjects?: boolean
  /**
   * Clients create and delete many of its objects, and these own nothing: the garbage collector looks for no
   * dependents.
   */
  readonly ownsNothing?: boolean
}

export const work = (topic: Topic, payload: string | undefined): Work[] =>
  payload === undefined ? [] : [{ topic, payload }]

/** Work whose payload names a time. The outbox stores equal work only once, even after its delivery. */
export const storedOnce = (topic: Topic, payload: string): Work[] => [{ topic, payload, once: true }]

export const keyOf = ({ metadata }: KubeObject): string =>
  metadata.namespace === undefined ? (metadata.name ?? '') : `${metadata.namespace}/${metadata.name}`

export const controllerRefOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller === true)

/** The object is work for the controller of its kind. */
export const itself =
  (topic: Topic): WorkloadRule =>
  ({ object }) =>
    object === undefined ? [] : [{ topic, payload: keyOf(object) }]

/** Work for the present owner and for the former one. */
export const ownersWork: WorkloadRule = ({ object, old }) => [...ownerWork(object), ...ownerWork(old)]

/** Work for the object's owner, with the key that the owner's controller uses. */
function ownerWork(object: KubeObject | undefined): Work[] {
  const owner = object && controllerRefOf(object)
  if (owner === undefined) return []
  const topic = ownValue(ownersTopics, ownerKindOf(owner))
  return topic === undefined ? [] : [{ topic, payload: `${object?.metadata.namespace}/${owner.name}` }]
}

/** Work for the owners. If the object has none, work for controllers whose selectors may match it. */
export const dependentWork: WorkloadRule = (change, mode) => {
  const { resource, object, old } = change
  const owners = ownersWork(change, mode)
  if (object === undefined || controllerRefOf(object) !== undefined) return owners
  const isNews =
    old === undefined ||
    controllerRefOf(old) !== undefined ||
    JSON.stringify(object.metadata.labels) !== JSON.stringify(old.metadata.labels)
  return isNews ? [...owners, { topic: 'orphan', payload: `${groupResourceText(resource)}/${keyOf(object)}` }] : owners
}
