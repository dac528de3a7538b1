/**
 * The `continue` of a list: unpadded base64url of `{"v":"meta.k8s.io/v1","rv":N,"start":"KEY\u0000"}`, as
 * kube-apiserver writes it (apiserver's pkg/storage/continue.go). It names a place and not a list: with another
 * selector, or in another namespace, the list continues at that key.
 */
import { goQuote } from '../go/quote.ts'
import { badRequest } from '../api/status.ts'
import type { ListResult, Revision } from './storage.ts'

export interface ContinueToken {
  /**
   * The snapshot to continue with; `latest` where it was compacted and the client accepts a list from two revisions.
   */
  readonly revision: Revision | 'latest'
  /** For ListQuery.start. */
  readonly start: string
}

const VERSION = 'meta.k8s.io/v1'
const LATEST = -1

/** @param namespace of the list, where it has one; keys in the token are relative to it */
export function nextContinueToken({ revision, continueAfter }: ListResult, namespace?: string): string | undefined {
  return continueAfter === undefined ? undefined : encode(revision, `${relative(continueAfter, namespace)}\0`)
}

/** The token of a 410. A list with it returns the rest in its present state. */
export function inconsistentContinueToken({ start }: ContinueToken, namespace?: string): string {
  return encode(LATEST, relative(start, namespace))
}

/** @throws StatusError 400 `invalid continue token: …` */
export function parseContinueToken(text: string, namespace?: string): ContinueToken {
  const { v, rv, start } = tokenFields(decodeBase64Url(text))
  if (v !== VERSION) throw invalidToken(`server does not recognize this encoded version ${v}`)
  if (rv === 0) throw invalidToken(`incorrect encoded start resourceVersion (version ${VERSION})`)
  if (start === '') throw invalidToken(`encoded start key empty (version ${VERSION})`)
  const key = start.startsWith('/') ? start.slice(1) : start
  // nothing may lead out of the list's own keys
  const segments = key.split('/')
  const climbs = segments.some((segment) => segment === '' || segment === '.' || segment === '..')
  if (key !== '' && climbs) throw invalidToken(start)
  return {
    revision: rv < 0 ? 'latest' : rv,
    start: namespace === undefined ? key : `${namespace}/${key}`,
  }
}

function encode(revision: number, start: string): string {
  const json = JSON.stringify({ v: VERSION, rv: revision, start })
  const binary = String.fromCharCode(...new TextEncoder().encode(json))
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

const relative = (key: string, namespace: string | undefined): string =>
  namespace !== undefined && key.startsWith(`${namespace}/`) ? key.slice(namespace.length + 1) : key

const invalidToken = (why: string) => badRequest(`invalid continue token: continue key is not valid: ${why}`)

/** Go's base64.RawURLEncoding: no padding, line breaks ignored, the error has the place of the first wrong character. */
function decodeBase64Url(text: string): Uint8Array {
  const stray = /[^A-Za-z0-9_\-\r\n]/.exec(text)
  const digits = text.replace(/[\r\n]/g, '')
  // a single leftover digit makes no byte; kube-apiserver reports the position where it would have continued
  if (stray === null && digits.length % 4 === 1) throw illegalBase64(text.length - 1)
  if (stray !== null) throw illegalBase64(new TextEncoder().encode(text.slice(0, stray.index)).length)
  const binary = atob(digits.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}

const illegalBase64 = (at: number) => invalidToken(`illegal base64 data at input byte ${at}`)

/** As in Go, member names may have any case, and null leaves a member unset. */
function tokenFields(json: Uint8Array): { v: string; rv: number; start: string } {
  const value = parseJson(json)
  const fields = { v: '', rv: 0, start: '' }
  if (value === null) return fields
  if (typeof value !== 'object' || Array.isArray(value)) throw wrongType(value, 'value', 'storage.continueToken')
  for (const [name, member] of Object.entries(value)) {
    const field = name.toLowerCase()
    if (member === null) continue
    if (field === 'v' || field === 'start') {
      if (typeof member !== 'string') throw wrongType(member, `field continueToken.${field}`, 'string')
      fields[field] = member
    } else if (field === 'rv') {
      if (typeof member !== 'number') throw wrongType(member, 'field continueToken.rv', 'int64')
      if (!Number.isSafeInteger(member)) throw wrongType(member, 'field continueToken.rv', 'int64')
      fields.rv = member
    }
  }
  return fields
}

function wrongType(value: unknown, where: string, wanted: string) {
  const found = typeof value === 'number' && wanted === 'int64' ? `number ${value}` : goKind(value)
  const target = where === 'value' ? 'Go value' : `Go struct ${where}`
  return invalidToken(`json: cannot unmarshal ${found} into ${target} of type ${wanted}`)
}

function goKind(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

function parseJson(json: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(json))
  } catch {
    throw invalidToken(jsonSyntaxError(json))
  }
}

/** Go's error for a text that does not begin like JSON, which is the case for most invalid tokens. */
function jsonSyntaxError(json: Uint8Array): string {
  const first = json.find((byte) => !SPACES.includes(byte))
  if (first === undefined || BEGINNINGS.includes(first)) return 'unexpected end of JSON input'
  const quoted =
    first === QUOTE ? "\\'" : first === DOUBLE_QUOTE ? '"' : goQuote(String.fromCharCode(first)).slice(1, -1)
  return `invalid character '${quoted}' looking for beginning of value`
}

const SPACES = [...' \t\r\n'].map((character) => character.charCodeAt(0))
const BEGINNINGS = [...'{["-0123456789tfn'].map((character) => character.charCodeAt(0))
const QUOTE = "'".charCodeAt(0)
const DOUBLE_QUOTE = '"'.charCodeAt(0)
