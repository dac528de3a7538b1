import type { JsonObject } from '../../api/object.ts'
import { parseStored } from '../../json/parse-json.ts'
import { SEALED } from './sealing.ts'

/** @returns undefined where the text is sealed */
export function storedContent(text: string): JsonObject | undefined {
  // storage keeps objects
  return text.startsWith(SEALED) ? undefined : (parseStored(text) as JsonObject)
}
