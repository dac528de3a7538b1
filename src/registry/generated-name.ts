/** Suffixes of generateName: no vowels and nothing that looks like another character (apiserver's pkg/storage/names). */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'
const SUFFIX = 5
const MAX_NAME = 63

/** The prefix is cut so that the whole fits into 63 characters. */
export function generatedName(prefix: string): string {
  const bytes = crypto.getRandomValues(new Uint32Array(SUFFIX))
  const suffix = Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join('')
  return prefix.slice(0, MAX_NAME - SUFFIX) + suffix
}
