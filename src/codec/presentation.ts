import type { JsonObject } from '../api/object.ts'
import type { Printer } from './table/cells.ts'

/** What answers show of a built-in resource's objects beside their schema: a part of its definition. */
export interface Presentation {
  /** Cells of its Tables. Default: name and creation time. */
  readonly printer?: Printer
  /** Subresources, '' for the resource itself, whose REST storage in kube-apiserver converts to no Table. */
  readonly withoutTable?: readonly string[]
  /**
   * An annotation that kube-apiserver makes of a field of its internal type whenever it writes the object as a whole: its
   * metadata alone doesn't have it.
   */
  readonly internalAnnotation?: string
  /**
   * Of an object of which nothing was set, as bookmarks carry it: kube-apiserver's internal types hold numbers where the
   * published ones have pointers. In the storage version.
   */
  readonly zero?: { readonly annotations?: Readonly<Record<string, string>>; readonly members?: JsonObject }
}
