/**
 * The behavior of a built-in resource that is written by hand: one value for each, in registry/GROUP/RESOURCE.ts. The
 * rest is generated: resources-table.json, the schema, the columns of tables. A resource without such a value has all
 * defaults.
 */
import type { PodTemplateSpec } from '../api/core/v1.ts'
import type { KubeObject } from '../api/object.ts'
import type { Presentation } from '../codec/encode/presentation.ts'
import type { DefaultRule } from '../schema/default-rules.ts'
import type { Conversion } from './conversion.ts'
import type { Endpoint } from './endpoint.ts'
import type { Strategy } from './strategy.ts'
import type { WorkRules } from './work/work.ts'

export interface BuiltInDefinition<O extends KubeObject = KubeObject> extends Strategy<O>, WorkRules<O>, Presentation {
  /**
   * Endpoints that serve a subresource in place of its verbs; '' is the resource itself. Default: the verbs serve it.
   */
  readonly endpoints?: Readonly<Record<string, Endpoint>>
  /**
   * Defaults of a whole object that are no constants, by version. Defaults of its members are in
   * schema/default-rules.ts.
   */
  readonly defaults?: Readonly<Record<string, DefaultRule>>
  /**
   * Conversions between a version and the storage version, by apiVersion. Versions that differ in nothing else need
   * none. The entry of the storage version itself removes fields that storage does not keep.
   */
  readonly conversions?: Readonly<Record<string, Conversion>>
  /** The pod template in an object of the kind, which PodSecurity checks. */
  podTemplate?(object: O): Pick<PodTemplateSpec, 'metadata' | 'spec'> | undefined
  /**
   * The admission policies and webhooks that do not apply to the kind. They could otherwise block the repair of a kind
   * that configures admission, or delay the reviews that other requests wait for.
   */
  readonly exemptFrom?: readonly ('policies' | 'webhooks')[]
}
