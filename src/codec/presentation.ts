import type { JsonObject } from '../api/object.ts'
import type { Printer } from './table/cells.ts'

/** The part of a built-in resource's definition that says how answers show its objects. */
export interface Presentation {
  /** Cells of its Tables. Default: name and creation time. */
  readonly printer?: Printer
  /** Subresources, '' for the resource itself, whose REST storage in kube-apiserver converts to no Table. */
  readonly withoutTable?: readonly string[]
  /**
   * An annotation that kube-apiserver makes of a field of its internal type when it writes a whole object. It is
   * missing in PartialObjectMetadata.
   */
  readonly internalAnnotation?: string
  /**
   * The fields of an empty object, which bookmarks carry: kube-apiserver's internal types have numbers where the
   * published ones have pointers. In the storage version.
   */
  readonly zero?: { readonly annotations?: Readonly<Record<string, string>>; readonly members?: JsonObject }
}
