/** The values of literals. The functions return an error message and do not throw. */
import { append } from '../../base/append.ts'
import type { Constant } from './ast.ts'
import type { TokenType } from './lexer.ts'
import { Uint } from '../values/value.ts'

export type Literal<T> = { readonly value: T } | { readonly problem: string }

const MIN_INT = -(2n ** 63n)
const MAX_INT = 2n ** 63n - 1n
const MAX_UINT = 2n ** 64n - 1n

export function intLiteral(text: string): Literal<bigint> {
  const magnitude = BigInt(text.startsWith('-') ? text.slice(1) : text)
  const value = text.startsWith('-') ? -magnitude : magnitude
  return value < MIN_INT || value > MAX_INT ? { problem: 'invalid int literal' } : { value }
}

/** @param text the literal with its suffix `u` */
export function uintLiteral(text: string): Literal<Uint> {
  const value = BigInt(text.slice(0, -1))
  return value > MAX_UINT ? { problem: 'invalid uint literal' } : { value: new Uint(value) }
}

export function doubleLiteral(text: string): Literal<number> {
  const value = Number(text)
  return Number.isFinite(value) ? { value } : { problem: 'invalid double literal' }
}

/** @param token the literal with its quotes and the prefix `r` of a raw string */
export function stringLiteral(token: string): Literal<string> {
  const { body, raw } = bodyOf(token)
  if (raw || !body.includes('\\')) return { value: body }
  let value = ''
  for (const { point, plain } of escapes(body)) {
    if (plain !== undefined) value += plain
    else if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return { problem: 'invalid unicode code point' }
    else value += String.fromCodePoint(point)
  }
  return { value }
}

/** @param token the literal with its prefix `b` */
export function bytesLiteral(token: string): Literal<Uint8Array> {
  const { body, raw } = bodyOf(token.slice(1))
  const encoder = new TextEncoder()
  if (raw || !body.includes('\\')) return { value: encoder.encode(body) }
  const bytes: number[] = []
  for (const { point, plain, letter } of escapes(body)) {
    if (plain !== undefined) append(bytes, encoder.encode(plain))
    // bytes literals have no Unicode escapes
    else if (letter === 'u' || letter === 'U') return { problem: 'unable to unescape string' }
    else bytes.push(point)
  }
  return { value: new Uint8Array(bytes) }
}

function bodyOf(token: string): { body: string; raw: boolean } {
  const raw = /^[rR]/.test(token)
  const quoted = (raw ? token.slice(1) : token).replace(/\r\n?/g, '\n')
  const width = quoted.length >= 6 && /^(?:"""|''')/.test(quoted) ? 3 : 1
  return { body: quoted.slice(width, -width), raw }
}

const named: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
])

/** Splits the body of a literal into plain text and escapes. The lexer has refused malformed escapes. */
function* escapes(body: string): Generator<{ plain?: string; point: number; letter?: string }> {
  for (const match of body.matchAll(
    /[^\\]+|\\(?:([xX])([0-9a-fA-F]{2})|(u)([0-9a-fA-F]{4})|(U)([0-9a-fA-F]{8})|([0-3][0-7]{2})|([^]))/g,
  )) {
    const [all, x, byte, u, four, U, eight, octal, char] = match
    const hex = byte ?? four ?? eight
    if (hex !== undefined) yield { point: parseInt(hex, 16), letter: x ?? u ?? U ?? '' }
    else if (octal !== undefined) yield { point: parseInt(octal, 8) }
    else yield { plain: char === undefined ? all : (named.get(char) ?? char), point: 0 }
  }
}

export function literalOf(type: TokenType, text: string): Literal<Constant> {
  switch (type) {
    case 'NUM_INT':
      return intLiteral(text)
    case 'NUM_UINT':
      return uintLiteral(text)
    case 'NUM_FLOAT':
      return doubleLiteral(text)
    case 'STRING':
      return stringLiteral(text)
    case 'BYTES':
      return bytesLiteral(text)
    case "'true'":
      return { value: true }
    case "'false'":
      return { value: false }
    default:
      return { value: null }
  }
}
