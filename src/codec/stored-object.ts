import { parseApiVersion } from '../api/group-version.ts'
import { isJsonObject } from '../api/object.ts'
import { kept } from '../base/parts.ts'
import type { Json, KubeObject } from '../api/object.ts'
import { typeOfKind } from '../schema/built-in.ts'
import { removeNulls } from '../schema/without-nulls.ts'
import { parseStored, parseStoredInParts } from '../json/parse-json.ts'
import type { StoredValue } from '../storage/storage.ts'

/** Parses stored text. Custom resources keep their nulls, because their schemas may allow null. */
export const parseStoredObject = (text: string): KubeObject => asStored(text, parseStored(text))

function asStored(text: string, object: Json): KubeObject {
  if (text.includes(':null') && isJsonObject(object)) {
    const { apiVersion, kind } = object
    const version = typeof apiVersion === 'string' ? parseApiVersion(apiVersion) : undefined
    const type = version && typeof kind === 'string' ? typeOfKind({ ...version, kind }) : undefined
    if (type !== undefined) removeNulls(type, object)
  }
  // storage has texts of KubeObjects
  return object as unknown as KubeObject
}

export interface Live {
  readonly object: KubeObject
  readonly stored: StoredValue
}

/** The outcome of a write. `stored` is absent after a dry run and after a write that changes nothing. */
export type WriteResult = Pick<Live, 'object'> & Partial<Live>

export const liveOf = (stored: StoredValue): Live => new ParsedLater(stored)

/** First use parses the text: an answer with unchanged stored text needs no object. */
class ParsedLater implements Live {
  readonly stored: StoredValue
  private parsed: KubeObject | undefined = undefined
  /** The key of the parsing in a walk (base/parts.ts). */
  private readonly reading = {}

  constructor(stored: StoredValue) {
    this.stored = stored
  }

  get object(): KubeObject {
    const { text } = this.stored
    return (this.parsed ??= kept(this.reading, () => asStored(text, parseStoredInParts(text, this.reading))))
  }
}
