/**
 * Go's unicode.IsPrint, IsLetter and IsDigit, for one character.
 *
 * The patterns are strings that are compiled for the first character beyond ASCII. V8 would build pattern literals from
 * its Unicode tables when it parses the source, at every cold start.
 */
import { lazy } from './lazy.ts'

const printable = lazy(() => new RegExp(String.raw`^[\p{L}\p{M}\p{N}\p{P}\p{S}]`, 'u'))
const letter = lazy(() => new RegExp(String.raw`^\p{L}`, 'u'))
const digit = lazy(() => new RegExp(String.raw`^\p{Nd}`, 'u'))

/** Whether a character is ASCII. The empty string counts as ASCII. */
const isAscii = (character: string): boolean => !(character.charCodeAt(0) >= 0x80)

/** Whether a character is a letter, mark, number, punctuation, symbol or the ASCII space. */
export const isPrint = (character: string): boolean =>
  isAscii(character) ? character >= ' ' && character <= '~' : printable().test(character)

export const isLetter = (character: string): boolean =>
  isAscii(character) ? /^[a-zA-Z]/.test(character) : letter().test(character)

export const isDigit = (character: string): boolean =>
  isAscii(character) ? character >= '0' && character <= '9' : digit().test(character)
