/** The names that quotas can limit of a resource (kube-apiserver's quota evaluators), and an object's usage of each. */
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

/** The stored object. */
export interface QuotaReader {
  /** @param namespace undefined: of the whole cluster */
  list(resource: GroupResource, namespace?: string): AsyncIterable<KubeObject>
  get(resource: GroupResource, namespace: string, name: string): Promise<KubeObject | undefined>
}

export interface Evaluator {
  /** Whether a write may change the usage. */
  handles(write: Write): boolean
  /**
   * The evaluator with the other objects that it needs. Absent or undefined: it needs none.
   * @param names of the quotas that are checked
   */
  informed?(names: Iterable<string>, read: QuotaReader, now: Date): Promise<Evaluator | undefined>
  /** Reads the other objects on which the usage depends. */
  learn?(object: KubeObject): Promise<void>
  /** Whether a name in a quota is about this resource; of one that is not informed: whether it may be. */
  tracks(name: string): boolean
  /** Absent: no scope is ever met. */
  matchesScope?(scope: ScopedResourceSelectorRequirement, object: KubeObject): boolean
  /** Why an object may not be in a namespace with a quota for these names. */
  problem?(names: readonly string[], object: KubeObject): string | undefined
  usage(object: KubeObject, now: Date): Amounts
  /** The time until which the counted usage lasts, in milliseconds since 1970; undefined: until a write changes it. */
  chargedUntil?(object: KubeObject): number | undefined
  /** The fields that scopes use and that a write may change, as text. */
  scopeOf?(object: KubeObject): string
}
