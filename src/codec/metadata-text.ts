import { objectAt } from '../storage/value-text.ts'

const head = /^\{(?:"(?:kind|apiVersion)":"[^"\\]*",)*"metadata":(?=\{)/

/**
 * Cuts the JSON text of `metadata` out of a stored object, without parsing the rest, which may be large.
 * @returns undefined where metadata does not directly follow kind and apiVersion
 */
export function metadataText(text: string): string | undefined {
  const match = head.exec(text)
  return match === null ? undefined : objectAt(text, match[0].length)
}

/** The position behind `metadata` in the JSON text of a stored object; undefined under the same condition. */
export function endOfMetadata(text: string): number | undefined {
  const match = head.exec(text)
  const metadata = match === null ? undefined : objectAt(text, match[0].length)
  return metadata === undefined ? undefined : match![0].length + metadata.length
}
