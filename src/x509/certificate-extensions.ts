/**
 * What the extensions of a certificate say about its use (RFC 5280, section 4.2), with the choices of Go's
 * crypto/x509: a certificate that Go cannot read is refused, and so is one with a critical extension that Go does not
 * handle. Names under constraints and policies that a chain requires are not compared; such chains are refused.
 */
import { ownValue } from '../base/own.ts'
import type { Certificate, Extension } from './certificate.ts'
import { ALTERNATIVE_NAME, readAlternativeNames } from './certificate-request.ts'
import type { Element } from './der.ts'
import { contextTag, elements, primitiveContextTag, readElement, readObjectIdentifier, TAG } from './der.ts'
import { uriProblem } from './uri-names.ts'

const KEY_USAGE = '2.5.29.15'
const BASIC_CONSTRAINTS = '2.5.29.19'
const NAME_CONSTRAINTS = '2.5.29.30'
const POLICY_CONSTRAINTS = '2.5.29.36'
const EXTENDED_KEY_USAGE = '2.5.29.37'

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'
const ANY_PURPOSE = '2.5.29.37.0'
/** A bit of the key usage extension. */
const CERT_SIGN = 5

/**
 * The extensions that Go reads. Each function throws where it cannot, and returns whether the extension is handled:
 * one that is not may not be critical.
 */
const readers: Readonly<Record<string, (value: Uint8Array) => boolean>> = {
  '2.5.29.14': (value) => shaped(readElement(value), TAG.octetString) && false,
  [KEY_USAGE]: (value) => readBits(value) !== undefined,
  [ALTERNATIVE_NAME]: (value) => {
    const names = readAlternativeNames(shapedSequence(value).whole)
    const problem = uriProblem(names)
    if (problem !== undefined) throw new RangeError(problem)
    const { dnsNames, emails, addresses, uris } = names
    return dnsNames.length + emails.length + addresses.length + uris.length > 0
  },
  [BASIC_CONSTRAINTS]: (value) => readBasicConstraints(value) !== undefined,
  [NAME_CONSTRAINTS]: (value) => constrainedNames(value).every((tag) => comparable.has(tag)),
  '2.5.29.31': (value) => elements(shapedSequence(value).content).every(isSequence),
  '2.5.29.32': (value) => elements(shapedSequence(value).content).every(isSequence),
  '2.5.29.33': (value) => elements(shapedSequence(value).content).every(isSequence),
  '2.5.29.35': (value) => shapedSequence(value) && false,
  [POLICY_CONSTRAINTS]: (value) => shapedSequence(value) && true,
  [EXTENDED_KEY_USAGE]: (value) => purposesOf(value) !== undefined,
  '2.5.29.54': (value) => shaped(readElement(value), TAG.integer),
  '1.3.6.1.5.5.7.1.1': (value) => elements(shapedSequence(value).content).every(isSequence) && false,
}

/** Names that constraints may limit: email, DNS, URI, address. */
const comparable: ReadonlySet<number> = new Set([1, 2, 6, 7].map(primitiveContextTag))

/** @throws RangeError, TypeError where an extension cannot be read, is there twice, or is critical and not handled */
export function checkExtensions({ extensions }: Certificate): void {
  if (new Set(extensions.map(({ type }) => type)).size < extensions.length) throw new RangeError('an extension twice')
  for (const extension of extensions)
    if (!isHandled(extension) && extension.isCritical) throw new RangeError(`critical extension ${extension.type}`)
}

function isHandled({ type, value }: Extension): boolean {
  return ownValue(readers, type)?.(value) ?? false
}

/** A certificate that names no purpose may serve any (4.2.1.12). Go ignores the usages of the leaf's key. */
export function mayBeClient(certificate: Certificate): boolean {
  const value = valueOf(certificate, EXTENDED_KEY_USAGE)
  const purposes = value === undefined ? [] : purposesOf(value)
  return purposes.length === 0 || purposes.includes(CLIENT_AUTH) || purposes.includes(ANY_PURPOSE)
}

/** @param below the number of authorities between the certificate and the leaf */
export function maySign(certificate: Certificate, below: number): boolean {
  const constraints = valueOf(certificate, BASIC_CONSTRAINTS)
  if (constraints === undefined) return false
  const { isAuthority, pathLength } = readBasicConstraints(constraints)
  if (!isAuthority || (pathLength !== undefined && below > pathLength)) return false
  const usage = valueOf(certificate, KEY_USAGE)
  return usage === undefined || hasBit(readBits(usage), CERT_SIGN)
}

/**
 * Whether no authority of the path constrains names where a certificate below it has some, and no certificate below
 * the root requires a policy.
 * @param path the leaf first, the root last
 */
export function isUnconstrained(path: readonly Certificate[]): boolean {
  let haveNames = false
  return path.every((certificate, at) => {
    if (at < path.length - 1 && requiresPolicy(certificate)) return false
    if (haveNames && valueOf(certificate, NAME_CONSTRAINTS) !== undefined) return false
    haveNames ||= valueOf(certificate, ALTERNATIVE_NAME) !== undefined
    return true
  })
}

function requiresPolicy(certificate: Certificate): boolean {
  const value = valueOf(certificate, POLICY_CONSTRAINTS)
  if (value === undefined) return false
  return elements(shapedSequence(value).content).some(({ tag }) => tag === primitiveContextTag(0))
}

const valueOf = ({ extensions }: Certificate, wanted: string): Uint8Array | undefined =>
  extensions.find(({ type }) => type === wanted)?.value

const purposesOf = (value: Uint8Array): string[] =>
  elements(shapedSequence(value).content).map((element) => {
    shaped(element, TAG.objectIdentifier)
    return readObjectIdentifier(element.content)
  })

function readBasicConstraints(value: Uint8Array): { readonly isAuthority: boolean; readonly pathLength?: number } {
  const parts = elements(shapedSequence(value).content)
  const flag = parts[0]?.tag === TAG.boolean ? parts.shift()!.content : Uint8Array.of(0)
  if (flag.length !== 1 || (flag[0] !== 0 && flag[0] !== 0xff)) throw new RangeError('no truth value')
  const isAuthority = flag[0] !== 0
  if (parts[0] === undefined) return { isAuthority }
  shaped(parts[0], TAG.integer)
  return { isAuthority, pathLength: parts[0].content.reduce((sum, byte) => sum * 256 + byte, 0) }
}

/** The tags of the names that the constraints limit. */
function constrainedNames(value: Uint8Array): number[] {
  const trees = elements(shapedSequence(value).content)
  if (trees.some(({ tag }) => tag !== contextTag(0) && tag !== contextTag(1))) throw new RangeError('name constraints')
  const names = trees.flatMap(({ content }) => elements(content).map((tree) => readElement(tree.content).tag))
  if (names.length === 0) throw new RangeError('empty name constraints')
  return names
}

/** The content of a bit string: the number of unused bits, which are 0, and the bits. */
function readBits(value: Uint8Array): Uint8Array {
  const bits = readElement(value)
  shaped(bits, TAG.bitString)
  const [unused] = bits.content
  if (unused === undefined || unused > 7 || (bits.content.length === 1 && unused > 0))
    throw new RangeError('bit string')
  if ((bits.content.at(-1)! & ((1 << unused) - 1)) !== 0 && bits.content.length > 1) throw new RangeError('unused bits')
  return bits.content
}

/** @param bits content of a bit string */
const hasBit = (bits: Uint8Array, bit: number): boolean => ((bits[1 + (bit >> 3)] ?? 0) & (0x80 >> (bit & 7))) !== 0

const isSequence = ({ tag }: Element): boolean => {
  if (tag !== TAG.sequence) throw new RangeError(`DER of type ${tag}`)
  return true
}

/** @throws RangeError where it has another type */
function shaped({ tag }: Element, wanted: number): boolean {
  if (tag !== wanted) throw new RangeError(`DER of type ${tag}`)
  return true
}

function shapedSequence(value: Uint8Array): Element {
  const element = readElement(value)
  shaped(element, TAG.sequence)
  return element
}
