/** Chooses the YAML style of a text (plain, quoted or literal block) and its escapes. */
import { ownValue } from '../../base/own.ts'
import { byteLength } from '../../base/utf8.ts'
import { resolveScalar } from './scalar.ts'

export const INDENT = 2
const MAX_SIMPLE_KEY = 128

/** A fast test for most texts: words that begin with a letter or a slash, and that YAML reads as strings. */
const word = /^[A-Za-z/](?:[\w./@:-]*[\w./-])?$/
export const isWord = (text: string): boolean =>
  text.length <= MAX_SIMPLE_KEY && word.test(text) && resolveScalar(text).tag === '!!str'

/** Printable ASCII without space, double quote and backslash. */
export const simple = /^[\x21\x23-\x5b\x5d-\x7e]*$/

/**
 * Hints of a literal block: its indentation where the text begins with a space, and the treatment of final line breaks.
 */
export function literalHints(text: string): string {
  const indent = /^[ \r\n\x85\u2028\u2029]/.test(text) ? String(INDENT) : ''
  if (!isBreak(text.at(-1)!)) return `${indent}-`
  return indent + (text.length === 1 || isBreak(text.at(-2)!) ? '+' : '')
}

export const isBreak = (character: string) => /^[\r\n\x85\u2028\u2029]$/.test(character)

/** Characters that kube-apiserver's library does not escape: no tabs, and none beyond the Basic Multilingual Plane. */
export const isPrintable = (character: string) => /^[\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]$/.test(character)

const unprintable = /[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/

const named: Readonly<Record<string, string>> = {
  '\0': '0',
  '\x07': 'a',
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\v': 'v',
  '\f': 'f',
  '\r': 'r',
  '\x1b': 'e',
  '"': '"',
  '\\': '\\',
  '\x85': 'N',
  '\xa0': '_',
  '\u2028': 'L',
  '\u2029': 'P',
}

export function escape(character: string): string {
  const known = ownValue(named, character)
  if (known !== undefined) return `\\${known}`
  const code = character.codePointAt(0)!
  const hex = code.toString(16).toUpperCase()
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`
}

export const isSimpleKey = (name: string) => !/[\r\n\x85\u2028\u2029]/.test(name) && byteLength(name) <= MAX_SIMPLE_KEY

const sexagesimal = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/

export function styleOf(text: string, isKey: boolean): 'plain' | 'single' | 'double' | 'literal' {
  const canBe = stylesAllowed(text)
  if (text.includes('\n')) return canBe.literal && !isKey ? 'literal' : 'double'
  if (resolveScalar(text).tag !== '!!str' || sexagesimal.test(text)) return 'double'
  const isMultiline = /[\r\x85\u2028\u2029]/.test(text)
  if (isKey && isMultiline) return 'double'
  if (canBe.plain) return 'plain'
  return canBe.single ? 'single' : 'double'
}

/** The styles from which a YAML reader gets the same text. */
function stylesAllowed(text: string): { plain: boolean; single: boolean; literal: boolean } {
  const isSpecial = unprintable.test(text) || / [\r\n\x85\u2028\u2029]/.test(text)
  const breakThenSpace = /[\r\n\x85\u2028\u2029] /.test(text)
  const atEdge = /^[ \r\n\x85\u2028\u2029]|[ \r\n\x85\u2028\u2029]$/.test(text)
  const looksLikeSyntax =
    /^(?:---|\.\.\.)/.test(text) ||
    /^[#,[\]{}&*!|>'"%@`]/.test(text) ||
    /^[?:-](?:[ \t\n]|$)/.test(text) ||
    /:(?:[ \t\r\n\x85\u2028\u2029]|$)/.test(text) ||
    /[ \t\r\n\x85\u2028\u2029]#/.test(text)
  const isMultiline = /[\r\n\x85\u2028\u2029]/.test(text)
  return {
    plain: !isSpecial && !breakThenSpace && !atEdge && !looksLikeSyntax && !isMultiline,
    single: !isSpecial && !breakThenSpace,
    literal: !isSpecial && !text.endsWith(' '),
  }
}
