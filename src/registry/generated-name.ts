/** Suffixes of generateName have no vowels and no characters that look alike (apiserver's pkg/storage/names). */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'
const SUFFIX = 5
const MAX_NAME = 63

/** Cuts the prefix so that the name has at most 63 characters. */
export function generatedName(prefix: string): string {
  const bytes = crypto.getRandomValues(new Uint32Array(SUFFIX))
  const suffix = Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join('')
  return prefix.slice(0, MAX_NAME - SUFFIX) + suffix
}
