/** Builds and signs certificates of version 3 (RFC 5280, 4.1). */
import { bitString, contextTag, objectIdentifier, sequence, TAG, timeOf, unsignedInteger, write } from './der.ts'
import { pemText } from './pem.ts'
import type { Signer } from './signature.ts'

export interface CertificateContents {
  /** The serial number, most significant byte first. */
  readonly serial: Uint8Array
  /** Names, DER. */
  readonly issuer: Uint8Array
  readonly subject: Uint8Array
  readonly notBefore: Date
  readonly notAfter: Date
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Uint8Array
  readonly extensions: readonly Uint8Array[]
}

const VERSION_3 = Uint8Array.of(2)

/** @returns PEM */
export async function signCertificate(signer: Signer, contents: CertificateContents): Promise<string> {
  const toBeSigned = sequence(
    write(contextTag(0), unsignedInteger(VERSION_3)),
    unsignedInteger(contents.serial),
    signer.algorithm,
    contents.issuer,
    sequence(timeOf(contents.notBefore), timeOf(contents.notAfter)),
    contents.subject,
    contents.publicKey,
    write(contextTag(3), sequence(...contents.extensions)),
  )
  const signature = bitString(await signer.sign(toBeSigned))
  return pemText('CERTIFICATE', sequence(toBeSigned, signer.algorithm, signature))
}

/** @param value DER */
export const extension = (type: string, critical: boolean, value: Uint8Array): Uint8Array =>
  sequence(
    objectIdentifier(type),
    ...(critical ? [write(TAG.boolean, Uint8Array.of(0xff))] : []),
    write(TAG.octetString, value),
  )
