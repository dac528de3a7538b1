/** Parses request bodies in all serializations, as far as that is possible without their type. */
import { parseApiVersion } from '../../api/group-version.ts'
import { atOnce } from '../../base/slices.ts'
import type { Steps } from '../../base/slices.ts'
import type { StructType } from '../../schema/structural.ts'
import { parseCbor, parsingCbor } from '../cbor/decode.ts'
import type { Decoded } from './decoded.ts'
import { decodeObject, findKind } from './decode.ts'
import { DecodeError } from './decode-problems.ts'
import type { JsonTree } from '../../json/json.ts'
import { parseJsonBytes, parsingJsonBytes } from '../../json/parse-json.ts'
import { JsonSyntaxError } from '../../json/scanner.ts'
import { readEnvelope } from '../protobuf/envelope.ts'
import { decodeMessage } from '../protobuf/decode.ts'
import { yamlReader } from '../yaml/reader.ts'

/** The serialization of a body, from its Content-Type. */
export type BodyFormat = 'json' | 'yaml' | 'protobuf' | 'cbor'

export interface ParsedBody {
  /** From the body; empty where it has none. */
  readonly apiVersion: string
  readonly kind: string
  /** Repeated names of YAML mappings (`line 7: key "a" already set in map`). Decoding finds those of JSON. */
  readonly repeated: readonly string[]
  /** The body as JSON, for untyped objects. Undefined for protobuf, which cannot be parsed without a type. */
  readonly tree?: JsonTree
  /**
   * Decodes the body as an object of a type. `tree` is the JSON that the client sent.
   * @throws {DecodeError}
   */
  decodeAs(type: StructType): Decoded & { readonly tree: JsonTree }
}

/**
 * The YAML reader must have been loaded (yaml/reader.ts) before a YAML body is parsed.
 * @throws {DecodeError} with kube-apiserver's text
 */
export function parseBody(format: BodyFormat, body: Uint8Array): ParsedBody {
  return format === 'yaml' ? atOnce(parsingYaml(body)) : parsers[format](body)
}

/** Like parseBody, in steps. */
export function* parsing(format: BodyFormat, body: Uint8Array): Steps<ParsedBody> {
  switch (format) {
    case 'yaml':
      return yield* parsingYaml(body)
    case 'json':
      return yield* parsingJson(body)
    case 'cbor':
      return parsedTree(yield* parsingCbor(body), [])
    default:
      return parsers[format](body)
  }
}

function* parsingYaml(body: Uint8Array): Steps<ParsedBody> {
  const { parsingYamlBytes, YamlError } = yamlReader()
  try {
    const { tree, duplicates } = yield* parsingYamlBytes(body)
    return parsedTree(tree, duplicates)
  } catch (error) {
    throw error instanceof YamlError ? new DecodeError(error.message) : error
  }
}

function* parsingJson(body: Uint8Array): Steps<ParsedBody> {
  let tree: JsonTree
  try {
    tree = yield* parsingJsonBytes(body)
  } catch (error) {
    throw readingError(error)
  }
  return parsedTree(tree, [])
}

const parsers: Readonly<Record<Exclude<BodyFormat, 'yaml'>, (body: Uint8Array) => ParsedBody>> = {
  json: (body) =>
    parsedTree(
      reading(() => parseJsonBytes(body)),
      [],
    ),
  protobuf(body) {
    const { apiVersion: named, kind, raw } = readEnvelope(body)
    // like Go, treats an invalid version as absent
    const apiVersion = parseApiVersion(named) === undefined ? '' : named
    return {
      apiVersion,
      kind,
      repeated: [],
      decodeAs(type) {
        const object = { ...(type.typeMeta ? { kind, apiVersion } : {}), ...decodeMessage(type, raw) }
        return { object, strict: [], tree: object as JsonTree }
      },
    }
  },
  cbor: (body) => parsedTree(parseCbor(body), []),
}

function parsedTree(tree: JsonTree, repeated: readonly string[]): ParsedBody {
  const { apiVersion, kind } = reading(() => findKind(tree))
  return { apiVersion, kind, repeated, tree, decodeAs: (type) => ({ ...decodeObject(type, tree), tree }) }
}

function reading<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw readingError(error)
  }
}

const readingError = (error: unknown): unknown =>
  error instanceof JsonSyntaxError || error instanceof DecodeError
    ? new DecodeError(`couldn't get version/kind; json parse error: ${error.message}`)
    : error

/** The message of strict decoding. All repeated names of YAML are one error of several lines. */
export const strictErrors = (repeated: readonly string[], strict: readonly string[]): string =>
  [
    ...(repeated.length === 0 ? [] : [`yaml: unmarshal errors:\n${repeated.map((text) => `  ${text}`).join('\n')}`]),
    ...strict,
  ].join(', ')
