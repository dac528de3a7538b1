import { objectAt } from '../storage/value-text.ts'

const head = /^\{(?:"(?:kind|apiVersion)":"[^"\\]*",)*"metadata":(?=\{)/

/**
 * The JSON text of a stored object's `metadata`, cut out without parsing the rest, which may be large; undefined when
 * it does not come right after kind and apiVersion.
 */
export function metadataText(text: string): string | undefined {
  const match = head.exec(text)
  return match === null ? undefined : objectAt(text, match[0].length)
}
