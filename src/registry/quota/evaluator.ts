/** What quotas can limit of a resource (kube-apiserver's quota evaluators): which names, and how much an object uses. */
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

/** What is stored. */
export interface QuotaReader {
  /** @param namespace undefined: of the whole cluster */
  list(resource: GroupResource, namespace?: string): AsyncIterable<KubeObject>
  get(resource: GroupResource, namespace: string, name: string): Promise<KubeObject | undefined>
}

export interface Evaluator {
  /** Whether a write may change what is used. */
  handles(write: Write): boolean
  /**
   * One that counts with what stands in other objects, too. Absent or undefined: nothing has to be known of them.
   * @param names of the quotas that are asked
   */
  informed?(names: Iterable<string>, read: QuotaReader, now: Date): Promise<Evaluator | undefined>
  /** Reads what the usage of the object depends on, before it is asked for. */
  learn?(object: KubeObject): Promise<void>
  /** Whether a name in a quota is about this resource; of one that is not informed: whether it may be. */
  tracks(name: string): boolean
  /** Absent: no scope is ever met. */
  matchesScope?(scope: ScopedResourceSelectorRequirement, object: KubeObject): boolean
  /** Why an object may not be in a namespace with a quota for these names. */
  problem?(names: readonly string[], object: KubeObject): string | undefined
  usage(object: KubeObject, now: Date): Amounts
  /** Until when what counts now is used, in milliseconds since 1970; undefined: until a write changes it. */
  chargedUntil?(object: KubeObject): number | undefined
  /** What a write may change of all that scopes look at, as text. */
  scopeOf?(object: KubeObject): string
}
