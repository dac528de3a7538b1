import type { GroupResource, GroupVersionKind } from '../api/group-version.ts'
import type { Action } from '../authorization/authorized.ts'
import type { Resource } from './resource.ts'
import type { StrategyContext } from './strategy.ts'
import type { ApiCall, ApiRequest } from '../request/context.ts'
import type { DefaultingContext } from '../schema/default-rules.ts'
import type { StructType } from '../schema/structural.ts'
import type { Collection, Storage } from '../storage/storage.ts'

/** Which objects of the resource a call is about. */
export interface Place {
  /** '' for cluster-scoped resources, and for all namespaces. */
  readonly namespace: string
  /** '' for a collection. */
  readonly name: string
  /** '' for the main resource. */
  readonly subresource: string
}

/** The input of a verb: the call, its place in the resource, the resource in the version of the call, its storage. */
export interface ResourceScope<Call extends ApiCall = ApiCall> {
  readonly request: Call
  readonly place: Place
  readonly resource: Resource
  readonly collection: Collection
  readonly storage: Storage
  strategyContext(dryRun: boolean): StrategyContext
  /** Whether this server has the feature gate on. */
  enabled(gate: string): boolean
}

/** The scope of a client's request. Endpoints serve these. */
export type RequestScope = ResourceScope<ApiRequest>

/** The data beside the object that defaulting may read. */
export const defaultingOf = ({ request, resource, enabled }: ResourceScope): DefaultingContext => ({
  now: request.now,
  enabled,
  ofKind: resource.kindDefaults,
})

/**
 * The resource under which storage keeps the objects: that of the main version. Events of events.k8s.io are stored as
 * core events.
 */
export const storedAs = ({ resource }: ResourceScope): GroupResource => resource.entry.storage

/** The key after the collection's prefix: `NAMESPACE/NAME`, or `NAME`. */
export const keyOf = (scope: ResourceScope, name: string, namespace = scope.place.namespace): string =>
  scope.resource.namespaced ? `${namespace}/${name}` : name

/** The attributes of a verb in this scope, for the authorizer. */
export function actionOf({ request, resource: { gvr, namespaced }, place }: ResourceScope, verb: string): Action {
  const { group: apiGroup, version: apiVersion, resource } = gvr
  return { user: request.user, verb, apiGroup, apiVersion, resource, namespaced, ...place }
}

/** The type and kind of the objects that the endpoint reads and answers. */
export const endpointType = ({ resource: { view, type } }: ResourceScope): StructType => view?.type ?? type
export const endpointKind = ({ resource: { view, kind } }: ResourceScope): GroupVersionKind => view?.kind ?? kind
