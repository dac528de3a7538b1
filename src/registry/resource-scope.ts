import type { GroupResource, GroupVersionKind, GroupVersionResource } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import type { ResourceForms } from '../codec/resource-forms.ts'
import type { ReplicasPath } from '../patch/scale-ownership.ts'
import type { Action } from '../authorization/authorized.ts'
import type { ResourceEntry } from './resources.ts'
import type { Strategy, StrategyContext } from './strategy.ts'
import type { ApiCall, ApiRequest } from '../request/context.ts'
import type { DefaultingContext } from '../schema/default-rules.ts'
import type { StructType } from '../schema/structural.ts'
import type { Collection, Storage } from '../storage/storage.ts'

/**
 * A subresource whose objects are another kind, made of the resource's object and written back into it: Scale.
 */
export interface View {
  readonly kind: GroupVersionKind
  readonly type: StructType
  of(object: KubeObject): KubeObject
  /**
   * Writes what the view may change, and the version it names, into `object`, which is of `resource`.
   * @throws 422, and 409 for the UID of another object
   */
  into(object: KubeObject, view: KubeObject, resource: GroupResource): void
  /** Before the view of a stored object is answered. @throws StatusError when there is none */
  checkRead?(object: KubeObject): void
  /** Where versions of the object have what the view writes; default: spec.replicas. */
  readonly replicasIn?: ReplicasPath
}

/** @see ResourceScope.converter. Its methods throw StatusErrors. */
export interface VersionConverter {
  /** @param origin stored: as storage has them, nothing of them changed */
  toServed(objects: readonly KubeObject[], origin: 'stored' | 'made'): Promise<KubeObject[]>
  toStored(object: KubeObject): Promise<KubeObject>
  /** Of the storage version. */
  readonly storedStrategy: Strategy
}

/** Which objects a call is about, in the resource. */
export interface Place {
  /** '' for cluster-scoped resources and across namespaces. */
  readonly namespace: string
  /** '' for a collection. */
  readonly name: string
  /** '' for the main resource. */
  readonly subresource: string
}

/** All that a verb knows of its resource, in the version of the request. */
export interface ResourceScope<Call extends ApiCall = ApiCall> extends Place {
  readonly request: Call
  readonly entry: ResourceEntry
  readonly resource: GroupVersionResource
  /** The kind of the resource itself; subresources with kinds of their own (Scale, Eviction) have their own file. */
  readonly kind: GroupVersionKind
  readonly namespaced: boolean
  readonly forms: ResourceForms
  /** Of a CustomResourceDefinition: sorted keys, list items carry their kind. */
  readonly custom: boolean
  /** Type of the request's version, and of the version in storage (the same but for kinds with several versions). */
  readonly type: StructType
  readonly storageKind: GroupVersionKind
  readonly storageType: StructType
  readonly view?: View
  /** Identity when both versions are the same. */
  toStorage(object: KubeObject): KubeObject
  fromStorage(object: KubeObject): KubeObject
  /**
   * What was read from storage as it is taken today, still in the storage version: identity for built-in kinds; a
   * definition may have another schema than when the object was written. May change the object in place.
   */
  currentForm(object: KubeObject): KubeObject
  /**
   * Present where a webhook converts: objects are in the version of the request from when they are read until they are
   * written.
   */
  readonly converter?: VersionConverter
  /** Before an object is shown. @throws StatusError where it is of another version and nothing can be waited for */
  checkConvertible?(object: KubeObject): void
  /** A JSON client gets the stored text as it is. */
  readonly storedAsServed: boolean
  readonly collection: Collection
  readonly storage: Storage
  readonly strategy: Strategy
  strategyContext(dryRun: boolean): StrategyContext
  /** Feature gates: on or off in this server. */
  enabled(gate: string): boolean
}

/** The scope of a client's request, which the endpoints serve. */
export type RequestScope = ResourceScope<ApiRequest>

/** What defaults may depend on beside the object. */
export const defaultingOf = ({ request, enabled }: ResourceScope): DefaultingContext => ({ now: request.now, enabled })

/** The resource as which objects are kept: that of the main version, core events for those of events.k8s.io. */
export const storedAs = ({ entry }: ResourceScope): GroupResource => entry.storage

/** The key behind the collection's prefix: `NAMESPACE/NAME`, or `NAME`. */
export const keyOf = (scope: ResourceScope, name: string, namespace = scope.namespace): string =>
  scope.namespaced ? `${namespace}/${name}` : name

/** What a verb in this scope is to the authorizer. */
export function actionOf(scope: ResourceScope, verb: string): Action {
  const { request, entry, subresource, namespaced, namespace, name } = scope
  const { group: apiGroup, version: apiVersion, resource } = entry
  return { user: request.user, verb, apiGroup, apiVersion, resource, subresource, namespaced, namespace, name }
}

/** The type and kind of what the endpoint reads and answers. */
export const endpointType = ({ view, type }: ResourceScope): StructType => view?.type ?? type
export const endpointKind = ({ view, kind }: ResourceScope): GroupVersionKind => view?.kind ?? kind

export const hasStatus = ({ entry }: ResourceScope): boolean => entry.subresources.some(({ name }) => name === 'status')
