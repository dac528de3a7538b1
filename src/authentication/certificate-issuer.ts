/**
 * Whether a certificate was signed by an authority and holds now (RFC 5280, only as far as that): for the authority of
 * front proxies, which whoever ends TLS does not tell from the one of clients.
 */

interface Certificate {
  readonly signed: Uint8Array
  readonly algorithm: string
  readonly signature: Uint8Array
  readonly notBefore: number
  readonly notAfter: number
  readonly publicKey: Uint8Array
  /** OIDs of the public key's algorithm and, for elliptic keys, of its curve. */
  readonly keyAlgorithm: readonly string[]
}

/** @param der base64 */
export async function isIssuedBy(der: string, authorityPem: string, now: Date): Promise<boolean> {
  try {
    const certificate = readCertificate(fromBase64(der))
    const authority = readCertificate(fromPem(authorityPem))
    const time = now.getTime()
    if (![certificate, authority].every(({ notBefore, notAfter }) => notBefore <= time && time <= notAfter))
      return false
    return await isSignedBy(certificate, authority)
  } catch {
    return false
  }
}

const hashes: Readonly<Record<string, { readonly kind: 'RSA' | 'EC'; readonly hash: string }>> = {
  '1.2.840.113549.1.1.11': { kind: 'RSA', hash: 'SHA-256' },
  '1.2.840.113549.1.1.12': { kind: 'RSA', hash: 'SHA-384' },
  '1.2.840.113549.1.1.13': { kind: 'RSA', hash: 'SHA-512' },
  '1.2.840.10045.4.3.2': { kind: 'EC', hash: 'SHA-256' },
  '1.2.840.10045.4.3.3': { kind: 'EC', hash: 'SHA-384' },
  '1.2.840.10045.4.3.4': { kind: 'EC', hash: 'SHA-512' },
}

const curves: Readonly<Record<string, { readonly namedCurve: string; readonly bytes: number }>> = {
  '1.2.840.10045.3.1.7': { namedCurve: 'P-256', bytes: 32 },
  '1.3.132.0.34': { namedCurve: 'P-384', bytes: 48 },
  '1.3.132.0.35': { namedCurve: 'P-521', bytes: 66 },
}

async function isSignedBy({ signed, algorithm, signature }: Certificate, authority: Certificate): Promise<boolean> {
  const scheme = hashes[algorithm]
  if (scheme === undefined) return false
  if (scheme.kind === 'RSA') {
    const rsa = { name: 'RSASSA-PKCS1-v1_5', hash: scheme.hash }
    const key = await crypto.subtle.importKey('spki', authority.publicKey, rsa, false, ['verify'])
    return crypto.subtle.verify(rsa, key, signature, signed)
  }
  const curve = curves[authority.keyAlgorithm[1] ?? '']
  if (curve === undefined) return false
  const ecdsa = { name: 'ECDSA', namedCurve: curve.namedCurve, hash: scheme.hash }
  const key = await crypto.subtle.importKey('spki', authority.publicKey, ecdsa, false, ['verify'])
  return crypto.subtle.verify(ecdsa, key, rawSignature(signature, curve.bytes), signed)
}

/** WebCrypto wants both numbers at full length, DER has them as integers. */
function rawSignature(der: Uint8Array, bytes: number): Uint8Array {
  const raw = new Uint8Array(bytes * 2)
  elements(readElement(der, 0).content).forEach(({ content }, index) => {
    const number = content.subarray(Math.max(0, content.length - bytes))
    raw.set(number, bytes * (index + 1) - number.length)
  })
  return raw
}

interface Element {
  readonly tag: number
  readonly whole: Uint8Array
  readonly content: Uint8Array
}

const CONTEXT_0 = 0xa0
const GENERALIZED_TIME = 0x18

function readCertificate(der: Uint8Array): Certificate {
  const [signed, algorithm, signature] = elements(readElement(der, 0).content)
  const fields = elements(signed!.content).filter(({ tag }, index) => index > 0 || tag !== CONTEXT_0)
  const [, , , validity, , publicKey] = fields // serial, algorithm, issuer, validity, subject, key
  const [notBefore, notAfter] = elements(validity!.content).map(timeOf)
  return {
    signed: signed!.whole,
    algorithm: objectIdentifier(elements(algorithm!.content)[0]!.content),
    signature: signature!.content.subarray(1), // a bit string begins with the number of unused bits
    notBefore: notBefore!,
    notAfter: notAfter!,
    publicKey: publicKey!.whole,
    keyAlgorithm: elements(elements(publicKey!.content)[0]!.content).map(({ content }) => objectIdentifier(content)),
  }
}

function readElement(der: Uint8Array, at: number): Element {
  let position = at + 2
  let length = der[at + 1]!
  if (length >= 0x80) {
    const digits = length & 0x7f
    length = 0
    for (let i = 0; i < digits; i++) length = length * 256 + der[position++]!
  }
  if (position + length > der.length) throw new RangeError('DER element beyond the end')
  return {
    tag: der[at]!,
    whole: der.subarray(at, position + length),
    content: der.subarray(position, position + length),
  }
}

function elements(content: Uint8Array): Element[] {
  const found: Element[] = []
  for (let at = 0; at < content.length;) {
    const element = readElement(content, at)
    found.push(element)
    at += element.whole.length
  }
  return found
}

function objectIdentifier(content: Uint8Array): string {
  const numbers: number[] = []
  let number = 0
  for (const byte of content) {
    number = number * 128 + (byte & 0x7f)
    if (byte < 0x80) {
      numbers.push(number)
      number = 0
    }
  }
  const [first = 0, ...rest] = numbers
  const root = Math.min(2, Math.floor(first / 40))
  return [root, first - root * 40, ...rest].join('.')
}

function timeOf({ tag, content }: Element): number {
  const text = new TextDecoder().decode(content)
  const digits = tag === GENERALIZED_TIME ? text : (Number(text.slice(0, 2)) < 50 ? '20' : '19') + text
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits)!
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
}

const fromBase64 = (text: string): Uint8Array => Uint8Array.from(atob(text), (character) => character.charCodeAt(0))

const fromPem = (pem: string): Uint8Array =>
  fromBase64(pem.replace(/-----(BEGIN|END) CERTIFICATE-----/g, '').replace(/\s/g, ''))
