/** The work of a write for controllers, and the rules by which a resource declares it. */
import type { GroupResource } from '../api/group-version.ts'
import { groupResourceText } from '../api/group-version.ts'
import type { KubeObject, OwnerReference } from '../api/object.ts'
import { ownValue } from '../api/own.ts'
import type { Workloads } from '../settings/schema.ts'
import type { OutboxMessage } from '../storage/storage.ts'
import { ownerKindOf } from './owner-kinds.ts'
import type { Evaluator } from './quota/evaluator.ts'
import type { Topic } from './topic.ts'
import { ownersTopics } from './workload-controllers.ts'

export interface Change<O extends KubeObject = KubeObject> {
  readonly resource: GroupResource
  /** Absent: removed. */
  readonly object?: O
  /** Absent: created. */
  readonly old?: O
  /** Milliseconds since 1970. */
  readonly now: number
}

export interface Work extends OutboxMessage {
  readonly topic: Topic
}

/**
 * Work for the workload controllers, which can be switched off. The key is `NAMESPACE/NAME` of the object to reconcile, a
 * namespace, or nothing if one reconciliation is for all. A write is work for the controller that owns the object. An
 * object without an owner is work for `orphan`, which looks for a controller whose selector matches it.
 */
export type WorkloadRule = (change: Change, mode: Exclude<Workloads, 'off'>) => readonly Work[]

/** New objects get the finalizer, and volume-protection takes it off when they are deleted and nothing uses them. */
export interface Protection<O extends KubeObject = KubeObject> {
  readonly finalizer: string
  /** @param list the objects of a resource in a namespace, '' for all; the caller knows their type */
  isUsed(object: O, list: ListObjects): boolean | Promise<boolean>
}

export type ListObjects = <Other>(resource: GroupResource, namespace: string) => Promise<Other[]>

/** The controllers for which a resource's writes are work, besides the garbage collector. Default: none. */
export interface WorkRules<O extends KubeObject = KubeObject> {
  work?(change: Change<O>): readonly Work[]
  readonly workloadWork?: readonly WorkloadRule[]
  readonly protection?: Protection<O>
  /** What quotas count of it besides `count/RESOURCE.GROUP`, or that they never count it. */
  readonly quota?: Evaluator | 'uncounted'
  /** Objects that the server needs itself, `[NAMESPACE/]NAME`: it makes them again. */
  readonly serverObjects?: readonly string[]
  /** Its objects come and go in numbers and own nothing: the garbage collector looks for no dependents. */
  readonly ownsNothing?: boolean
}

export const work = (topic: Topic, payload: string | undefined): Work[] =>
  payload === undefined ? [] : [{ topic, payload }]

/** Work whose payload names a moment. The same work is stored once, even after it was delivered. */
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

/** The owners of now and before. */
export const ownersWork: WorkloadRule = ({ object, old }) => [...ownerWork(object), ...ownerWork(old)]

/** The owner of an object, in the form in which its controller names it. */
function ownerWork(object: KubeObject | undefined): Work[] {
  const owner = object && controllerRefOf(object)
  if (owner === undefined) return []
  const topic = ownValue(ownersTopics, ownerKindOf(owner))
  return topic === undefined ? [] : [{ topic, payload: `${object?.metadata.namespace}/${owner.name}` }]
}

/** The owners, and those that may select the object where it has none. */
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
