/** Makes certificates of every kind, valid and invalid, for tests of code that reads them. */
import { generateKeyPairSync } from 'node:crypto'
import {
  bitString,
  contextTag,
  namedBits,
  objectIdentifier,
  printable,
  sequence,
  TAG,
  timeOf,
  unsignedInteger,
  write,
} from '../../src/x509/der.ts'
import { toBase64, pemText } from '../../src/x509/pem.ts'
import { signerOf } from '../../src/x509/signature.ts'

export interface Made {
  readonly der: Uint8Array
  readonly pem: string
  /** The certificate as an RFC 9440 header item. */
  readonly item: string
  readonly name: Uint8Array
  /** In PKCS #8. */
  readonly key: Uint8Array
}

export interface Wanted {
  readonly subject: readonly (readonly [type: string, value: string])[]
  /** The signer. Absent: the certificate is self-signed. */
  readonly by?: Made
  /** The issuer's name, if it differs from the signer's name. */
  readonly issuer?: Uint8Array
  readonly from?: Date
  readonly to?: Date
  readonly extensions?: readonly Uint8Array[]
}

export const CN = '2.5.4.3'
export const O = '2.5.4.10'

export const extension = (type: string, isCritical: boolean, value: Uint8Array): Uint8Array =>
  sequence(
    objectIdentifier(type),
    ...(isCritical ? [write(TAG.boolean, Uint8Array.of(0xff))] : []),
    write(TAG.octetString, value),
  )
const number = (value: number): Uint8Array => unsignedInteger(Uint8Array.of(value))

export const authorityBit = (pathLength?: number): Uint8Array =>
  extension(
    '2.5.29.19',
    true,
    sequence(write(TAG.boolean, Uint8Array.of(0xff)), ...(pathLength === undefined ? [] : [number(pathLength)])),
  )
export const keyUsage = (...bits: number[]): Uint8Array => extension('2.5.29.15', true, namedBits(bits))
export const purposes = (...ids: string[]): Uint8Array =>
  extension('2.5.29.37', false, sequence(...ids.map(objectIdentifier)))
export const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'
export const SERVER_AUTH = '1.3.6.1.5.5.7.3.1'
export const client = [keyUsage(0), purposes(CLIENT_AUTH)]

export async function makeCertificate(now: Date, wanted: Wanted): Promise<Made> {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = new Uint8Array(keys.privateKey.export({ type: 'pkcs8', format: 'der' }))
  const name = sequence(
    ...wanted.subject.map(([type, value]) => write(TAG.set, sequence(objectIdentifier(type), printable(value)))),
  )
  const signer = await signerOf(wanted.by?.key ?? key)
  const day = 86_400_000
  const toBeSigned = sequence(
    write(contextTag(0), number(2)),
    unsignedInteger(crypto.getRandomValues(new Uint8Array(8)).map((byte, i) => (i === 0 ? 1 : byte))),
    signer.algorithm,
    wanted.issuer ?? wanted.by?.name ?? name,
    sequence(timeOf(wanted.from ?? new Date(now.getTime() - day)), timeOf(wanted.to ?? new Date(now.getTime() + day))),
    name,
    new Uint8Array(keys.publicKey.export({ type: 'spki', format: 'der' })),
    ...(wanted.extensions?.length ? [write(contextTag(3), sequence(...wanted.extensions))] : []),
  )
  const der = sequence(toBeSigned, signer.algorithm, bitString(await signer.sign(toBeSigned)))
  return { der, pem: pemText('CERTIFICATE', der), item: `:${toBase64(der)}:`, name, key }
}
