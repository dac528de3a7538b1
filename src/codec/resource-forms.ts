import type { GroupKind } from '../api/group-version.ts'
import type { JsonObject } from '../api/object.ts'
import type { StructType } from '../schema/structural.ts'
import type { EncodedResource } from './encoded-resource.ts'
import type { EncodeOptions } from './encode.ts'
import type { TableLayout } from './table.ts'

/**
 * In which forms a resource is read, written and patched. kube-apiserver serves built-in resources behind go-restful,
 * from Go types; custom resources without it, as maps without a type. built-in-forms.ts and custom-forms.ts are the
 * implementations.
 */
export interface ResourceForms {
  /** Accept and the type of a patch are matched before they are negotiated: 406 and 415 in go-restful's words. */
  readonly matchesFirst: boolean
  /** Media types of whole objects. As PartialObjectMetadata both sorts are served in protobuf as well. */
  readonly hasProtobuf: boolean
  readonly hasStrategicMergePatch: boolean
  /** Whether objects are served as a Table. Some built-in resources and subresources are not. */
  readonly hasTable: boolean
  /** What a body may leave out, and how one is refused: see endpoints/body-rules.ts. */
  readonly bodies: 'typed' | 'unstructured' | 'custom scale'
  /** False: kube-apiserver has no internal type of the kind, through which what is applied would be converted. */
  readonly hasInternalType: boolean

  /** Go's name of the type in which kube-apiserver holds a kind. */
  goTypeName(kind: GroupKind): string
  /** JSON of an object. @param type of what the endpoint answers */
  objectText(type: StructType, object: JsonObject, options?: EncodeOptions): string
  /** The type by which an object is written in protobuf or CBOR. Undefined: CBOR is written from the JSON alone. */
  messageType(type: StructType): StructType | undefined
  /** The same of a list. @param name of the items' type */
  listType(name: string): StructType | undefined
  /** Whether metadata in stored texts is as PartialObjectMetadata has it. */
  readonly cutsMetadata: boolean
  /** Which object's metadata PartialObjectMetadata has: the stored one's, or the one in the version of the request. */
  readonly metadataOf: 'stored' | 'served'
  /** Items of lists have kind and apiVersion. */
  readonly itemsHaveKind: boolean
  /** All metadata of a list. */
  listMetadata(metadata: JsonObject): JsonObject
  /** JSON around the items of a list. @param metadata as listMetadata gives it */
  listFrame(kind: string, apiVersion: string, metadata: JsonObject): { readonly head: string; readonly tail: string }
  tableLayout(resource: EncodedResource): TableLayout
}
