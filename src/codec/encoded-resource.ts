import type { CustomResourceColumnDefinition } from '../api/apiextensions/v1.ts'
import type { GroupVersionKind, GroupVersionResource } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import type { StructType } from '../schema/structural.ts'
import type { Presentation } from './encode/presentation.ts'
import type { ResourceForms } from './resource-forms.ts'

/**
 * The growth of an object by defaults: it takes the time of a plain object of `length * perUnit + base` UTF-16 units.
 */
export interface Growth {
  readonly perUnit: number
  readonly base: number
}

/**
 * The length in UTF-16 units of a plain object that takes the same time as an object of this length with its defaults.
 */
export const grown = ({ growth }: Pick<EncodedResource, 'growth'>, length: number): number =>
  growth === undefined ? length : length * growth.perUnit + growth.base

/** The part of a Resource that codecs use, in the version of the request. */
export interface EncodedResource {
  readonly entry: {
    readonly type: string
    readonly listKind: string
    readonly printerColumns?: readonly CustomResourceColumnDefinition[]
  }
  readonly gvr: GroupVersionResource
  readonly kind: GroupVersionKind
  readonly forms: ResourceForms
  readonly type: StructType
  readonly storageKind: GroupVersionKind
  readonly storageType: StructType
  /** The view of a subresource with another kind (Scale). */
  readonly view?: {
    readonly kind: GroupVersionKind
    readonly type: StructType
    of(object: KubeObject): KubeObject
    checkRead?(object: KubeObject): void
  }
  fromStorage(object: KubeObject): KubeObject
  checkConvertible?(object: KubeObject): void
  readonly storedAsServed: boolean
  /** Absent where defaults add little. */
  readonly growth?: Growth
  readonly presentation: Presentation
  readonly strategy: { readonly decorator?: { readonly mark: string; decorate(object: KubeObject): KubeObject } }
}
