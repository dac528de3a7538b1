/** Distinguished names (RFC 5280, 4.1.2.4). */
import type { Element } from './der.ts'
import { elements, readObjectIdentifier } from './der.ts'

export const COMMON_NAME = '2.5.4.3'
export const ORGANIZATION = '2.5.4.10'

export type NameAttribute = readonly [type: string, value: string]

/**
 * Pairs of OID and text in the order of the name.
 * @param content of the name's DER
 * @throws RangeError, TypeError where it is no name, or a value is no text
 */
export function nameAttributes(content: Uint8Array): NameAttribute[] {
  return elements(content)
    .flatMap((set) => elements(set.content))
    .map(({ content }) => {
      const [type, value] = elements(content)
      return [readObjectIdentifier(type!.content), readText(value!)]
    })
}

/**
 * Texts by the tag of the string type, as Go reads them. Two readers that decode the same octets differently would see
 * two names, so octets outside of a type's alphabet are refused.
 */
const readers: Readonly<Record<number, (content: Uint8Array) => string>> = {
  0x0c: (content) => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content), // UTF8String
  0x12: (content) => ascii(content, /^[0-9 ]*$/), // NumericString
  0x13: (content) => ascii(content, /^[A-Za-z0-9 '()+,\-./:=?*&]*$/), // PrintableString: * and & are widespread
  0x14: latin1, // TeletexString
  0x16: (content) => ascii(content, /^[\0-\x7f]*$/), // IA5String
  0x1e: bmp, // BMPString
}

function readText({ tag, content }: Element): string {
  const read = readers[tag]
  if (read === undefined) throw new RangeError(`a name's value of type ${tag}`)
  return read(content)
}

function ascii(content: Uint8Array, alphabet: RegExp): string {
  const text = latin1(content)
  if (!alphabet.test(text)) throw new RangeError("a name's value with a character that its type does not have")
  return text
}

function latin1(content: Uint8Array): string {
  let text = ''
  for (const octet of content) text += String.fromCharCode(octet)
  return text
}

/** Code points of two octets; a zero at the end is a terminator. */
function bmp(content: Uint8Array): string {
  if (content.length % 2 !== 0) throw new RangeError('half a character in a name')
  let text = ''
  for (let i = 0; i < content.length; i += 2) text += String.fromCharCode(content[i]! * 256 + content[i + 1]!)
  if (text.endsWith('\0')) text = text.slice(0, -1)
  if (/[\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]/.test(text)) throw new RangeError('no character in a name')
  return text
}
