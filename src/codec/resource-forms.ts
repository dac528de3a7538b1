import type { GroupKind } from '../api/group-version.ts'
import type { JsonObject } from '../api/object.ts'
import type { StructType } from '../schema/structural.ts'
import type { EncodedResource } from './encoded-resource.ts'
import type { EncodeOptions } from './encode/encode.ts'
import type { TableLayout } from './table.ts'

/**
 * The forms in which the server reads, writes and patches a resource. kube-apiserver serves built-in resources through
 * go-restful, from Go types, and custom resources without go-restful, as untyped maps. built-in-forms.ts and
 * custom-forms.ts implement this interface.
 */
export interface ResourceForms {
  /** go-restful matches Accept and the type of a patch before negotiation, with its own texts for 406 and 415. */
  readonly matchesFirst: boolean
  /** Whether whole objects have a protobuf form. PartialObjectMetadata has one for all resources. */
  readonly hasProtobuf: boolean
  readonly hasStrategicMergePatch: boolean
  /** Whether objects are served as a Table. Some built-in resources and subresources are not. */
  readonly hasTable: boolean
  /** The rules for missing members of a body and for its errors, see endpoints/body-rules.ts. */
  readonly bodies: 'typed' | 'unstructured' | 'custom scale'
  /** False: kube-apiserver has no internal type of the kind, so it cannot convert an applied configuration. */
  readonly hasInternalType: boolean

  /** Go's name of kube-apiserver's type for a kind. */
  goTypeName(kind: GroupKind): string
  /** The JSON of an object. @param type the type of the endpoint's answers */
  objectText(type: StructType, object: JsonObject, options?: EncodeOptions): string
  /** The type for encoding an object in protobuf or CBOR. Undefined: CBOR needs only the JSON. */
  messageType(type: StructType): StructType | undefined
  /** The type for encoding a list in protobuf or CBOR. @param name the model name of the items' type */
  listType(name: string): StructType | undefined
  /** Whether metadata in stored texts has the form of PartialObjectMetadata. */
  readonly cutsMetadata: boolean
  /** Whether PartialObjectMetadata has the metadata of the stored object or of the object in the request's version. */
  readonly metadataOf: 'stored' | 'served'
  /** Items of lists have kind and apiVersion. */
  readonly itemsHaveKind: boolean
  /** Completes the metadata of a list. */
  listMetadata(metadata: JsonObject): JsonObject
  /** The JSON around the items of a list. @param metadata the result of listMetadata */
  listFrame(kind: string, apiVersion: string, metadata: JsonObject): { readonly head: string; readonly tail: string }
  tableLayout(resource: EncodedResource): TableLayout
  /** Makes a large layout in steps before its first use. Undefined if there is nothing to do. */
  readTableLayout?(resource: EncodedResource): Promise<unknown> | undefined
}
