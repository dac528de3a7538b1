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

/** Encodings by the tag of the string type. Two readers that decode the same octets differently would see two names. */
const decoders: Readonly<Record<number, string>> = {
  0x0c: 'utf-8', // UTF8String
  0x12: 'utf-8', // NumericString
  0x13: 'utf-8', // PrintableString
  0x14: 'utf-8', // TeletexString: Go reads it as UTF-8 too
  0x16: 'utf-8', // IA5String
  0x1e: 'utf-16be', // BMPString
}

function readText({ tag, content }: Element): string {
  const encoding = decoders[tag]
  if (encoding === undefined) throw new RangeError(`a name's value of type ${tag}`)
  if (encoding === 'utf-16be') return utf16(content)
  return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(content)
}

function utf16(content: Uint8Array): string {
  if (content.length % 2 !== 0) throw new RangeError('half a character in a name')
  let text = ''
  for (let i = 0; i < content.length; i += 2) text += String.fromCharCode(content[i]! * 256 + content[i + 1]!)
  return text
}
