/**
 * The names with which quotas can limit a resource, and the usage of each by an object (kube-apiserver's quota
 * evaluators).
 */
import type { ScopedResourceSelectorRequirement } from '../../api/core/v1.ts'
import type { GroupResource } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Amounts } from './amounts.ts'

export interface Write {
  readonly operation: 'CREATE' | 'UPDATE'
  readonly subresource: string
  readonly object: KubeObject
  readonly oldObject?: KubeObject | undefined
}

/** Reads stored objects. */
export interface QuotaReader {
  /** @param namespace undefined: the whole cluster */
  list(resource: GroupResource, namespace?: string): AsyncIterable<KubeObject>
  get(resource: GroupResource, namespace: string, name: string): Promise<KubeObject | undefined>
}

export interface Evaluator {
  /** Whether a write may change the usage. */
  handles(write: Write): boolean
  /**
   * Returns an evaluator that has read the other objects that it needs. Absent or undefined: this evaluator needs none.
   * @param names of the quotas that the server checks
   */
  informed?(names: Iterable<string>, read: QuotaReader, now: Date): Promise<Evaluator | undefined>
  /** Reads the objects on which the usage of this object depends. */
  learn?(object: KubeObject): Promise<void>
  /** Whether a name in a quota limits this resource. Before `informed` the answer is whether it may. */
  tracks(name: string): boolean
  /** Absent: no object matches any scope. */
  matchesScope?(scope: ScopedResourceSelectorRequirement, object: KubeObject): boolean
  /** Why an object may not be in a namespace with a quota for these names. */
  problem?(names: readonly string[], object: KubeObject): string | undefined
  usage(object: KubeObject, now: Date): Amounts
  /** Milliseconds since 1970, until which the object counts. Undefined: it counts until a write changes it. */
  chargedUntil?(object: KubeObject): number | undefined
  /** The fields that scopes compare and that a write may change, as text. */
  scopeOf?(object: KubeObject): string
}
