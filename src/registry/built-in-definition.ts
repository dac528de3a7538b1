/**
 * All that is special about a built-in resource, beside what was generated of it (resources-table.json, the schema, the
 * columns of its tables): one value for each, in registry/GROUP/RESOURCE.ts. A resource without one has all defaults.
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
  /** Defaults of a whole object that are no constants, by version. Those of its members are in schema/default-rules.ts. */
  readonly defaults?: Readonly<Record<string, DefaultRule>>
  /**
   * Between a version, by apiVersion, and the one in storage, where more than the apiVersion differs. That of the version
   * in storage says what its own objects lose on the way in.
   */
  readonly conversions?: Readonly<Record<string, Conversion>>
  /** Of a kind whose objects are made into pods: the template of these. PodSecurity looks at it. */
  podTemplate?(object: O): Pick<PodTemplateSpec, 'metadata' | 'spec'> | undefined
  /**
   * Which admission is never asked about it: kinds that configure admission could keep themselves from being mended, and
   * for reviews other requests wait.
   */
  readonly exemptFrom?: readonly ('policies' | 'webhooks')[]
}
