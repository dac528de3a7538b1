/** The parts of a certificate that the server reads (RFC 5280). */
import type { Element } from './der.ts'
import { contextTag, elements, readElement, readObjectIdentifier, readTime, TAG } from './der.ts'
import type { Signed } from './signature.ts'
import { readSigned } from './signature.ts'

export interface Certificate {
  readonly signed: Signed
  /** Milliseconds since 1970. */
  readonly notBefore: number
  readonly notAfter: number
  /** Names, DER. */
  readonly issuer: Uint8Array
  readonly subject: Uint8Array
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Uint8Array
  readonly subjectKeyId?: Uint8Array
  readonly extensions: readonly Extension[]
}

export interface Extension {
  /** OID. */
  readonly type: string
  readonly isCritical: boolean
  /** DER. */
  readonly value: Uint8Array
}

const SUBJECT_KEY_ID = '2.5.29.14'

/** @throws RangeError, TypeError where it is no certificate */
export function readCertificate(der: Uint8Array): Certificate {
  const signed = readSigned(der)
  const fields = elements(signed.content)
  if (fields[0]?.tag === contextTag(0)) fields.shift() // version
  const [, , issuer, validity, subject, publicKey, ...rest] = fields // serial, algorithm
  const [notBefore, notAfter] = elements(validity!.content).map(readTime)
  const extensions = rest.filter(({ tag }) => tag === contextTag(3)).flatMap(readExtensions)
  const keyId = extensions.find(({ type }) => type === SUBJECT_KEY_ID)?.value
  return {
    signed,
    notBefore: notBefore!,
    notAfter: notAfter!,
    issuer: issuer!.whole,
    subject: subject!.whole,
    publicKey: publicKey!.whole,
    // the value is an octet string in an octet string
    ...(keyId === undefined ? {} : { subjectKeyId: elements(keyId)[0]!.content }),
    extensions,
  }
}

function readExtensions({ content }: Element): Extension[] {
  return elements(readElement(content).content).map((extension) => {
    const [type, ...rest] = elements(extension.content)
    const [flag] = rest
    return {
      type: readObjectIdentifier(type!.content),
      isCritical: flag?.tag === TAG.boolean && flag.content[0] !== 0,
      value: rest.at(-1)!.content,
    }
  })
}

/**
 * The DER in an extension's value.
 * @param extensions the sequence of extensions
 */
export function extensionValue(extensions: Element, wanted: string): Uint8Array | undefined {
  for (const { content } of elements(extensions.content)) {
    const parts = elements(content)
    if (readObjectIdentifier(parts[0]!.content) === wanted) return parts.at(-1)!.content
  }
  return undefined
}
