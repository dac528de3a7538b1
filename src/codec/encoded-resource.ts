import type { CustomResourceColumnDefinition } from '../api/apiextensions/v1.ts'
import type { GroupVersionKind, GroupVersionResource } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import type { StructType } from '../schema/structural.ts'
import type { Presentation } from './presentation.ts'
import type { ResourceForms } from './resource-forms.ts'

/** The part of a Resource that codecs know, in the version of a request. */
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
  /** A subresource whose objects are of another kind. */
  readonly view?: {
    readonly kind: GroupVersionKind
    readonly type: StructType
    of(object: KubeObject): KubeObject
    checkRead?(object: KubeObject): void
  }
  fromStorage(object: KubeObject): KubeObject
  checkConvertible?(object: KubeObject): void
  readonly storedAsServed: boolean
  readonly presentation: Presentation
  readonly strategy: { readonly decorator?: { readonly mark: string; decorate(object: KubeObject): KubeObject } }
}
