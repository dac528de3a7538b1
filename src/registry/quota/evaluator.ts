/** What quotas can limit of a resource (kube-apiserver's quota evaluators): which names, and how much an object uses. */
import type { ScopedResourceSelectorRequirement } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Amounts } from './amounts.ts'

export interface Write {
  readonly operation: 'CREATE' | 'UPDATE'
  readonly subresource: string
  readonly object: KubeObject
  readonly oldObject?: KubeObject | undefined
}

export interface Evaluator {
  /** Whether a write may change what is used. */
  handles(write: Write): boolean
  /** Whether a name in a quota is about this resource. */
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
