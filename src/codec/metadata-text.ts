import { objectAt } from '../storage/streams/value-text.ts'

const head = /^\{(?:"(?:kind|apiVersion)":"[^"\\]*",)*"metadata":(?=\{)/

/** The place of `metadata`, without parsing the rest, which may be large. */
function placeOf(text: string): { readonly begin: number; readonly metadata: string } | undefined {
  const begin = head.exec(text)?.[0].length
  const metadata = begin === undefined ? undefined : objectAt(text, begin)
  return metadata === undefined ? undefined : { begin: begin!, metadata }
}

/**
 * Cuts the JSON text of `metadata` out of a stored object.
 * @returns undefined where metadata does not directly follow kind and apiVersion
 */
export const metadataText = (text: string): string | undefined => placeOf(text)?.metadata

/** The position behind `metadata` in the JSON text of a stored object; undefined under the same condition. */
export function endOfMetadata(text: string): number | undefined {
  const place = placeOf(text)
  return place && place.begin + place.metadata.length
}
