/** Decodes a patched document to an object of the endpoint's kind, as kube-apiserver does after a patch. */
import { internalTypeName } from '../codec/encode/partial-object-metadata.ts'
import type { GroupVersionKind } from '../api/group-version.ts'
import { apiVersionOf, parseApiVersion } from '../api/group-version.ts'
import { isJsonObject } from '../api/object.ts'
import type { JsonObject } from '../api/object.ts'
import { goQuote } from '../go/quote.ts'
import { invalidValue, path } from '../api/field.ts'
import type { FieldError } from '../api/field.ts'
import { setOwn } from '../base/own.ts'
import { kept } from '../base/parts.ts'
import { internalError, invalid } from '../api/status.ts'
import { decodeObject, findKind } from '../codec/decode/decode.ts'
import { emptyStruct } from '../schema/zero-values.ts'
import { DecodeError, MissingKind } from '../codec/decode/decode-problems.ts'
import type { Decoded } from '../codec/decode/decoded.ts'
import type { JsonTree } from '../json/json.ts'
import { goTypeOf } from '../schema/go-type.ts'
import { builtInType } from '../schema/built-in.ts'
import { typeInScheme } from '../schema/schemes.ts'
import type { HeldAs, StructType } from '../schema/structural.ts'
import { OpenMap, closed, copyOf, opened, treeText } from './json-document.ts'
import { withKind } from './object-forms.ts'

const SCHEME = 'pkg/runtime/scheme.go:111'

/** Fills in defaults, in place. */
type ApplyDefaults = (type: StructType, object: JsonObject) => void

const decoders = {
  typed: decodeTyped,
  unstructured: decodeCustom,
} satisfies Record<
  HeldAs,
  (type: StructType, kind: GroupVersionKind, tree: JsonTree, defaults: ApplyDefaults, of: PatchedAt) => Decoded
>

/** Where the patched object is decoded. */
export interface PatchedAt {
  /** Whether kube-apiserver has an internal type of the kind: for the Scale of custom resources it has none. */
  readonly hasInternal: boolean
  /** The write takes no more than the status: another version or kind has no effect. */
  readonly isStatus?: boolean
  /** Custom resources: the type by which an object that says another version is read before it is refused. */
  typeOfVersion?(version: string): StructType
  /** Refuses another name than that of the URL, before another version of a custom resource. */
  checkName?(object: JsonObject): void
}

/**
 * The object has the endpoint's kind. A patch may have removed the kind; one that changes it can't be decoded.
 * @throws DecodeError
 */
export const decodePatched = (
  type: StructType,
  kind: GroupVersionKind,
  tree: JsonTree,
  applyDefaults: ApplyDefaults,
  at: PatchedAt = { hasInternal: true },
): Decoded => decoders[type.heldAs](type, kind, tree, applyDefaults, at)

const NO_VERSION: ReadonlySet<string> = new Set(['', '/'])

function decodeTyped(
  type: StructType,
  kind: GroupVersionKind,
  tree: JsonTree,
  applyDefaults: ApplyDefaults,
  { hasInternal }: PatchedAt,
): Decoded {
  const found = kindIn(tree)
  // without a version kube-apiserver decodes into its internal type, whose fields have other names
  if (NO_VERSION.has(found.apiVersion) && hasInternal) {
    const { object, strict } = decodeInternal(type, tree)
    return { object: withKind(object, kind), strict }
  }
  const version = NO_VERSION.has(found.apiVersion) ? kind : parseApiVersion(found.apiVersion)
  if (version === undefined) throw new DecodeError(`unexpected GroupVersion string: ${found.apiVersion}`)
  const gvk: GroupVersionKind = { ...version, kind: found.kind === '' ? kind.kind : found.kind }
  const isExpected = gvk.group === kind.group && gvk.version === kind.version && gvk.kind === kind.kind
  const ofKind = isExpected ? type : typeInScheme(kind, gvk)
  if (ofKind === undefined)
    throw new DecodeError(
      `no kind ${goQuote(gvk.kind)} is registered for version ${goQuote(apiVersionOf(gvk))} in scheme ${goQuote(SCHEME)}`,
    )
  const { object, strict } = decodeObject(ofKind, tree)
  if (!isExpected)
    throw new DecodeError(`converting (${goTypeOf(ofKind)}) to (${internalTypeName(kind)}): unknown conversion`)
  applyDefaults(type, object)
  return { object: withKind(object, kind), strict }
}

/** A custom object may say that it is of another kind until it is validated. @throws StatusError 422 */
function decodeCustom(
  type: StructType,
  kind: GroupVersionKind,
  tree: JsonTree,
  applyDefaults: ApplyDefaults,
  { checkName, isStatus = false, typeOfVersion }: PatchedAt,
): Decoded {
  const found = kindIn(tree)
  const version = parseApiVersion(found.apiVersion)
  if (version === undefined) throw new DecodeError(`unexpected GroupVersion string: ${found.apiVersion}`)
  if (found.kind === '') throw new MissingKind(treeText(tree))
  const apiVersion = apiVersionOf(kind)
  const isOther = found.apiVersion !== apiVersion && !isStatus
  const hasType = isOther && version.group === kind.group && found.kind === kind.kind
  const { object, strict } = decodeObject(
    (hasType ? typeOfVersion?.(version.version) : undefined) ?? type,
    kept(tree, () => copyOf(tree)),
  )
  if (!isOther) applyDefaults(type, object)
  const check = (): void => {
    checkName?.(object)
    if (found.apiVersion === '')
      throw internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'")
    if (!isOther) return
    const errors: FieldError[] = []
    if (found.kind !== kind.kind) errors.push(invalidValue(path('kind'), found.kind, `must be ${kind.kind}`))
    errors.push(invalidValue(path('apiVersion'), found.apiVersion, `must be ${apiVersion}`))
    throw invalid({ group: version.group, kind: found.kind }, nameOf(object), errors)
  }
  // validation refuses another kind, after errors of names and versions
  return { object: withKind(object, { ...kind, kind: found.kind }), strict, check }
}

function nameOf({ metadata }: JsonObject): string {
  const name = isJsonObject(metadata) ? metadata['name'] : undefined
  return typeof name === 'string' ? name : ''
}

function kindIn(tree: JsonTree): { apiVersion: string; kind: string } {
  try {
    return findKind(tree)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw new DecodeError(`couldn't get version/kind; json parse error: ${error.message}`)
  }
}

/**
 * Decodes as kube-apiserver does into its internal type. Its fields have the names of Go's members, which no client
 * sends. Only the members of metadata have the same names in both, so only they are decoded.
 */
function decodeInternal(type: StructType, tree: JsonTree): Decoded {
  const metadata: { [name: string]: JsonTree | undefined } = {}
  const strict: string[] = []
  const open = opened(tree)
  for (const [name, value] of open instanceof OpenMap ? open.members : []) {
    if (objectMeta().field(name) !== undefined) setOwn(metadata, name, closed(value))
    else if (name !== 'kind' && name !== 'apiVersion') strict.push(`unknown field "${name}"`)
  }
  return { object: { ...emptyStruct(type), metadata: decodeObject(objectMeta(), metadata).object }, strict }
}

const objectMeta = () => builtInType('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta')
