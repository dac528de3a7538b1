/**
 * `lists.set(key, [...lists.get(key), item])` copies the list of a key for each of its items. A client chooses how many
 * items have one key, and 40,000 of them took half a minute. This check finds such copies. `addTo` (src/base/lookup.ts)
 * adds to the list.
 */

const COPY = /([\w.#]+)\.set\((?:[^;]{0,200}?),\s*\[\s*\.\.\.\(?\1\.get\(/g

/** Line numbers, from 1, of entries of a Map that are replaced with a longer copy. */
export const copiedListsIn = (text: string): number[] =>
  [...text.matchAll(COPY)].map(({ index }) => text.slice(0, index).split('\n').length)
