/** Certificate requests (PKCS #10, RFC 2986). */
import type { Element } from './der.ts'
import { contextTag, elements, primitiveContextTag, readElement, readObjectIdentifier } from './der.ts'
import { COMMON_NAME, nameAttributes, ORGANIZATION } from './name.ts'
import { pemBlocks } from './pem.ts'
import type { Signed } from './signature.ts'
import { isRequestSignedBy, readSigned } from './signature.ts'

export interface AlternativeNames {
  readonly dnsNames: readonly string[]
  readonly emails: readonly string[]
  /** 4 or 16 bytes each. */
  readonly addresses: readonly Uint8Array[]
  readonly uris: readonly string[]
}

export interface CertificateRequest {
  readonly signed: Signed
  /** Attributes by OID, in the order of the request. */
  readonly subject: readonly (readonly [type: string, value: string])[]
  readonly commonName: string
  readonly organizations: readonly string[]
  readonly alternativeNames: AlternativeNames
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Uint8Array
}

export const ALTERNATIVE_NAME = '2.5.29.17'
const EXTENSION_REQUEST = '1.2.840.113549.1.9.14'

export class BadRequestText extends Error {}

/**
 * Parses the first block of a PEM text.
 * @throws BadRequestText with the problem
 */
export function parseCertificateRequest(pem: string): CertificateRequest {
  const [block] = pemBlocks(pem)
  if (block?.type !== 'CERTIFICATE REQUEST') throw new BadRequestText('PEM block type must be CERTIFICATE REQUEST')
  try {
    return readRequest(block.bytes)
  } catch {
    throw new BadRequestText('asn1: structure error: malformed certificate request')
  }
}

/** The signature proves that the requester has the key. */
export const hasOwnSignature = async ({ signed, publicKey }: CertificateRequest): Promise<boolean> => {
  try {
    return await isRequestSignedBy(signed, publicKey)
  } catch {
    return false
  }
}

/** @throws RangeError, TypeError where it is no certificate request */
export function readRequest(der: Uint8Array): CertificateRequest {
  if (readElement(der).whole.length !== der.length) throw new RangeError('octets behind a certificate request')
  const signed = readSigned(der)
  const [, subject, publicKey, attributes] = elements(signed.content) // version first
  const names = nameAttributes(subject!.content)
  const of = (type: string): string[] => names.filter(([name]) => name === type).map(([, value]) => value)
  return {
    signed,
    subject: names,
    commonName: of(COMMON_NAME).at(-1) ?? '',
    organizations: of(ORGANIZATION),
    alternativeNames: alternativeNames(attributes),
    publicKey: publicKey!.whole,
  }
}

const none: AlternativeNames = { dnsNames: [], emails: [], addresses: [], uris: [] }

function alternativeNames(attributes: Element | undefined): AlternativeNames {
  if (attributes?.tag !== contextTag(0)) return none
  const requested = elements(attributes.content).flatMap(({ content }) => {
    const [type, values] = elements(content)
    if (readObjectIdentifier(type!.content) !== EXTENSION_REQUEST) return []
    return elements(elements(values!.content)[0]!.content)
  })
  const types = requested.map(({ content }) => readObjectIdentifier(elements(content)[0]!.content))
  if (new Set(types).size < types.length) throw new RangeError('an extension is requested twice')
  const at = types.indexOf(ALTERNATIVE_NAME)
  return at < 0 ? none : readAlternativeNames(elements(requested[at]!.content).at(-1)!.content)
}

/**
 * @param value of the extension, DER
 * @throws RangeError for a name that its type cannot have
 */
export function readAlternativeNames(value: Uint8Array): AlternativeNames {
  const names = elements(readElement(value).content)
  const of = (number: number): Uint8Array[] =>
    names.filter(({ tag }) => tag === primitiveContextTag(number)).map(({ content }) => content)
  const texts = (number: number): string[] => of(number).map(ia5Text)
  const addresses = of(7)
  if (addresses.some(({ length }) => length !== 4 && length !== 16)) throw new RangeError('no IP address')
  return { emails: texts(1), dnsNames: texts(2), uris: texts(6), addresses }
}

/**
 * IA5String (RFC 5280 §4.2.1.6). Octets that are not ASCII are refused, and never replaced by a character that looks
 * alike.
 */
function ia5Text(content: Uint8Array): string {
  if (content.some((octet) => octet >= 0x80)) throw new RangeError('an alternative name that is no IA5String')
  return new TextDecoder().decode(content)
}
