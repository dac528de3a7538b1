import type { JsonObject } from '../../api/object.ts'
import type { Printer } from '../table/cells.ts'

/** The part of a built-in resource's definition about the form of answers. */
export interface Presentation {
  /** The printer of its Tables. Default: name and creation time. */
  readonly printer?: Printer
  /** Subresources ('' is the resource itself) whose REST storage in kube-apiserver has no ConvertToTable. */
  readonly withoutTable?: readonly string[]
  /**
   * An annotation that kube-apiserver derives from a field of its internal type when it converts a whole object.
   * PartialObjectMetadata lacks it.
   */
  readonly internalAnnotation?: string
  /**
   * The members of the empty object in bookmarks, in the storage version. kube-apiserver's internal types have numbers
   * where v1 has pointers, so these members are 0, not absent.
   */
  readonly zero?: { readonly annotations?: Readonly<Record<string, string>>; readonly members?: JsonObject }
}
