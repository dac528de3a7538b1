/** The rules for apiVersion and kind in a body, and the errors where they are broken: see ResourceForms.bodies. */
import { internalTypeName } from '../../codec/encode/partial-object-metadata.ts'
import type { GroupVersion, GroupVersionKind } from '../../api/group-version.ts'
import { apiVersionOf, parseApiVersion } from '../../api/group-version.ts'
import type { JsonTree } from '../../json/json.ts'
import { decodeUtf8 } from '../../base/utf8.ts'
import type { StatusError } from '../../api/status.ts'
import { badRequest } from '../../api/status.ts'
import { DecodeError, MissingKind, missingVersion } from '../../codec/decode/decode-problems.ts'
import type { BodyFormat, ParsedBody } from '../../codec/decode/parse-body.ts'
import type { ResourceForms } from '../../codec/resource-forms.ts'
import { goQuote } from '../../go/quote.ts'
import { opened, treeText } from '../../patch/json-document.ts'
import { goTypeOf } from '../../schema/go-type.ts'
import { typeInScheme } from '../../schema/schemes.ts'
import type { StructType } from '../../schema/structural.ts'

export const SCHEME = 'pkg/runtime/scheme.go:111'

export interface SentBody extends Pick<ParsedBody, 'apiVersion' | 'kind' | 'tree'> {
  readonly format: BodyFormat
  readonly bytes: Uint8Array
  /** Whether unknown and repeated fields count. kube-apiserver has another decoder for bodies where they do not. */
  readonly isStrict: boolean
}

/** The types of an endpoint: its own, and those of other versions, of which custom resources have one each. */
export interface BodyTypes {
  readonly own: StructType
  ofVersion?(version: string): StructType
}

/** `expected` is the endpoint's kind, `found` the body's kind as kindOf returns it. */
export interface BodyRules {
  /** @throws DecodeError */
  kindOf(body: SentBody, expected: GroupVersionKind): GroupVersionKind
  /**
   * The type by which the body is decoded.
   * @param bytes the body, for the error
   * @throws DecodeError
   */
  typeOf(found: GroupVersionKind, expected: GroupVersionKind, types: BodyTypes, bytes: Uint8Array): StructType
  /**
   * Called after decoding.
   * @param type the type by which the body was decoded
   * @throws DecodeError
   */
  checkKind(found: GroupVersionKind, expected: GroupVersionKind, type: StructType): void
  /** Selects the errors of strict decoding that the client gets. */
  complaints(found: GroupVersionKind, expected: GroupVersionKind, strict: readonly string[]): readonly string[]
  /** The kind of the decoded object. Errors name it as the one that the body cannot be handled as. */
  objectKind(found: GroupVersionKind, expected: GroupVersionKind): string
  /** @param text why the body cannot be decoded */
  refusal(text: string): StatusError
}

const isSame = (a: GroupVersionKind, b: GroupVersionKind): boolean =>
  a.kind === b.kind && a.group === b.group && a.version === b.version

/**
 * Go types: a missing kind or version is the endpoint's. A body of another kind is decoded as that kind before it is
 * refused.
 */
const typed: BodyRules = {
  kindOf({ apiVersion, kind }, expected) {
    const { group, version } = saidVersion(apiVersion, expected)
    return { group, version, kind: kind === '' ? expected.kind : kind }
  },
  typeOf(found, expected, { own }, bytes) {
    if (found.version === '') throw missingVersion(decodeUtf8(bytes))
    const type = isSame(found, expected) ? own : typeInScheme(expected, found)
    if (type !== undefined) return type
    throw new DecodeError(
      `no kind ${goQuote(found.kind)} is registered for version ${goQuote(apiVersionOf(found))} in scheme ${goQuote(SCHEME)}`,
    )
  },
  checkKind(found, expected, type) {
    if (found.kind === expected.kind) return
    const to = internalTypeName(expected)
    throw new DecodeError(`converting (${goTypeOf(type)}) to (${to}): unknown conversion`)
  },
  complaints: (_found, _expected, strict) => strict,
  objectKind: (_found, { kind }) => kind,
  refusal: badRequest,
}

/** Unstructured objects: the body must have a kind. Validation refuses another kind later. */
const unstructured: BodyRules = {
  kindOf({ apiVersion, kind, tree, format, bytes, isStrict }, expected) {
    const version = versionIn(apiVersion)
    // decoding takes these names in any case, but only the exact names count in the object
    const members = tree === undefined ? undefined : membersOf(tree)
    if (kind === '' || members?.has('kind') === false) {
      const asSent = isStrict || format === 'json' || tree === undefined
      // the decoder that is not strict knows the kind that it expects by then
      const known = isStrict ? undefined : { ...expected, ...saidVersion(apiVersion, expected) }
      throw new MissingKind(asSent ? decodeUtf8(bytes) : treeText(tree), known)
    }
    return { ...(members?.has('apiVersion') === false ? { group: '', version: '' } : version), kind }
  },
  typeOf: ({ group, version, kind }, expected, { own, ofVersion }) =>
    group === expected.group && kind === expected.kind && ofVersion !== undefined ? ofVersion(version) : own,
  checkKind: () => {},
  // the schema says nothing about objects of another kind, except for their metadata
  complaints: (found, expected, strict) =>
    found.group === expected.group && found.kind === expected.kind
      ? strict
      : strict.filter((text) => !text.startsWith('unknown field') || text.startsWith('unknown field "metadata.')),
  // validation reports the kind that the client sent
  objectKind: ({ kind }) => kind,
  refusal: badRequest,
}

/** The codec of custom resources knows only their own kind, and Scale in the expected version. */
const customScale: BodyRules = {
  ...typed,
  typeOf(found, expected, { own }) {
    if (isSame(found, expected)) return own
    throw new DecodeError('another kind')
  },
  refusal: () => badRequest(`no kind is registered for the type v1.Scale in scheme ${JSON.stringify(SCHEME)}`),
}

export const bodyRules = { typed, unstructured, 'custom scale': customScale } satisfies Record<
  ResourceForms['bodies'],
  BodyRules
>

/**
 * The version of an apiVersion that may lack it: `apps/` in the group of the endpoint is that of the endpoint, as is
 * `/`.
 * @throws DecodeError
 */
export function saidVersion(apiVersion: string, expected: GroupVersion): GroupVersion {
  const said = versionIn(apiVersion)
  return said.version === '' && (said.group === '' || said.group === expected.group) ? expected : said
}

function versionIn(apiVersion: string) {
  const version = parseApiVersion(apiVersion)
  if (version === undefined) throw new DecodeError(`unexpected GroupVersion string: ${apiVersion}`)
  return version
}

function membersOf(tree: JsonTree) {
  const open = opened(tree)
  return open !== undefined && 'members' in open ? open.members : undefined
}
