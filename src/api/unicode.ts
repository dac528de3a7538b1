/**
 * Go's unicode.IsPrint, IsLetter and IsDigit, of one character.
 *
 * The classes are text, compiled when a character beyond ASCII is first met: as literals, the engine would build each
 * of them from its Unicode tables while it reads the source, at every cold start.
 */
import { lazy } from './lazy.ts'

const printable = lazy(() => new RegExp(String.raw`^[\p{L}\p{M}\p{N}\p{P}\p{S}]`, 'u'))
const letter = lazy(() => new RegExp(String.raw`^\p{L}`, 'u'))
const digit = lazy(() => new RegExp(String.raw`^\p{Nd}`, 'u'))

/** Or no character at all. */
const isAscii = (character: string): boolean => !(character.charCodeAt(0) >= 0x80)

/** Letters, marks, numbers, punctuation, symbols and the ASCII space. */
export const isPrint = (character: string): boolean =>
  isAscii(character) ? character >= ' ' && character <= '~' : printable().test(character)

export const isLetter = (character: string): boolean =>
  isAscii(character) ? /^[a-zA-Z]/.test(character) : letter().test(character)

export const isDigit = (character: string): boolean =>
  isAscii(character) ? character >= '0' && character <= '9' : digit().test(character)
