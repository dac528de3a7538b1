import { parseApiVersion } from '../api/group-version.ts'
import { isJsonObject } from '../api/object.ts'
import { kept } from '../api/parts.ts'
import type { Json, KubeObject } from '../api/object.ts'
import { typeOfKind } from '../schema/built-in.ts'
import { removeNulls } from '../schema/without-nulls.ts'
import { parseStored, parseStoredInParts } from '../api/parse-json.ts'
import type { StoredValue } from '../storage/storage.ts'

/** An object from the text that storage keeps. Custom objects keep their nulls, which their schemas may allow. */
export const parseStoredObject = (text: string): KubeObject => asStored(text, parseStored(text))

function asStored(text: string, object: Json): KubeObject {
  if (text.includes(':null') && isJsonObject(object)) {
    const { apiVersion, kind } = object
    const version = typeof apiVersion === 'string' ? parseApiVersion(apiVersion) : undefined
    const type = version && typeof kind === 'string' ? typeOfKind({ ...version, kind }) : undefined
    if (type !== undefined) removeNulls(type, object)
  }
  // what storage holds was encoded from a KubeObject
  return object as unknown as KubeObject
}

export interface Live {
  readonly object: KubeObject
  readonly stored: StoredValue
}

/** The outcome of a write. `stored` is absent where nothing was written: a dry run, or a write that changes nothing. */
export type WriteResult = Pick<Live, 'object'> & Partial<Live>

export const liveOf = (stored: StoredValue): Live => new ParsedLater(stored)

/** Parsed on first use: an answer that passes stored text on needs no object. */
class ParsedLater implements Live {
  readonly stored: StoredValue
  private parsed: KubeObject | undefined = undefined
  /** Of its parts, while a walk reads it (api/parts.ts). */
  private readonly reading = {}

  constructor(stored: StoredValue) {
    this.stored = stored
  }

  get object(): KubeObject {
    const { text } = this.stored
    return (this.parsed ??= kept(this.reading, () => asStored(text, parseStoredInParts(text, this.reading))))
  }
}
