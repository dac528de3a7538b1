/**
 * All that is special about a built-in resource and not generated (resources-table.json, the schema, the columns of its
 * tables have the rest): one value for each, in registry/GROUP/RESOURCE.ts. A resource without one has all defaults.
 */
import type { PodTemplateSpec } from '../api/core/v1.ts'
import type { KubeObject } from '../api/object.ts'
import type { Presentation } from '../codec/presentation.ts'
import type { DefaultRule } from '../schema/default-rules.ts'
import type { Conversion } from './conversion.ts'
import type { Endpoint } from './endpoint.ts'
import type { Strategy } from './strategy.ts'
import type { WorkRules } from './work.ts'

export interface BuiltInDefinition<O extends KubeObject = KubeObject> extends Strategy<O>, WorkRules<O>, Presentation {
  /** Subresources, '' for the resource itself, that are served in a way of their own. Default: by verb, as objects. */
  readonly endpoints?: Readonly<Record<string, Endpoint>>
  /**
   * Defaults of a whole object that are no constants, by version. Defaults of its members are in
   * schema/default-rules.ts.
   */
  readonly defaults?: Readonly<Record<string, DefaultRule>>
  /**
   * Conversions between a version and the storage version, by apiVersion, where they differ in more than that. The
   * entry of the storage version itself removes what storage does not keep.
   */
  readonly conversions?: Readonly<Record<string, Conversion>>
  /** The pod template in an object of the kind, which PodSecurity checks. */
  podTemplate?(object: O): Pick<PodTemplateSpec, 'metadata' | 'spec'> | undefined
  /**
   * The admission policies and webhooks that are never asked about the kind. A kind that configures admission could
   * otherwise prevent its own repair, and other requests wait for reviews.
   */
  readonly exemptFrom?: readonly ('policies' | 'webhooks')[]
}
