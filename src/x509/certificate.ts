/** What of a certificate somebody here asks for (RFC 5280). */
import type { Element } from './der.ts'
import { contextTag, elements, readObjectIdentifier, readTime } from './der.ts'
import type { Signed } from './signature.ts'
import { readSigned } from './signature.ts'

export interface Certificate {
  readonly signed: Signed
  /** Milliseconds since 1970. */
  readonly notBefore: number
  readonly notAfter: number
  /** Name, DER. */
  readonly subject: Uint8Array
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Uint8Array
  readonly subjectKeyId?: Uint8Array
}

const SUBJECT_KEY_ID = '2.5.29.14'

/** @throws RangeError, TypeError for what is no certificate */
export function readCertificate(der: Uint8Array): Certificate {
  const signed = readSigned(der)
  const fields = elements(signed.content)
  if (fields[0]?.tag === contextTag(0)) fields.shift() // version
  const [, , , validity, subject, publicKey, ...rest] = fields // serial, algorithm, issuer
  const [notBefore, notAfter] = elements(validity!.content).map(readTime)
  const extensions = rest.find(({ tag }) => tag === contextTag(3))
  const keyId = extensions && extensionValue(elements(extensions.content)[0]!, SUBJECT_KEY_ID)
  return {
    signed,
    notBefore: notBefore!,
    notAfter: notAfter!,
    subject: subject!.whole,
    publicKey: publicKey!.whole,
    // the value is an octet string in an octet string
    ...(keyId === undefined ? {} : { subjectKeyId: elements(keyId)[0]!.content }),
  }
}

/** The DER in an extension's value. `extensions` is the sequence of them. */
export function extensionValue(extensions: Element, wanted: string): Uint8Array | undefined {
  for (const { content } of elements(extensions.content)) {
    const parts = elements(content)
    if (readObjectIdentifier(parts[0]!.content) === wanted) return parts.at(-1)!.content
  }
  return undefined
}
