/** Messages in protobuf's text format, as far as test files use it. A field that comes more than once is a list. */

export type Message = ReadonlyMap<string, readonly Field[]>
export type Field = string | TextField | Message
/** A text in quotation marks: bytes, of which UTF-8 is made where the field is a string. */
export interface TextField {
  readonly bytes: Uint8Array
}

const TOKEN =
  /\s+|#[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\[[\w./]+\]|[{}<>:,;[\]]|[-+]?[\w.]+(?:[-+]\d+)?|[^\s]/gy

export function parseTextProto(text: string): Message {
  const tokens = [...text.matchAll(TOKEN)].map(([token]) => token).filter((token) => !/^(?:\s|#)/.test(token))
  let at = 0
  const message = (end: string | undefined): Message => {
    const fields = new Map<string, Field[]>()
    while (tokens[at] !== end) {
      const name = tokens[at++]!
      if (tokens[at] === ':') at++
      fields.set(name, [...(fields.get(name) ?? []), ...values()])
      if (tokens[at] === ',' || tokens[at] === ';') at++
    }
    at++
    return fields
  }
  const values = (): Field[] => {
    if (tokens[at] !== '[') return [value()]
    const list: Field[] = []
    for (at++; tokens[at] !== ']';) {
      list.push(value())
      if (tokens[at] === ',') at++
    }
    at++
    return list
  }
  const value = (): Field => {
    const token = tokens[at++]!
    if (token === '{') return message('}')
    if (token === '<') return message('>')
    if (!/^["']/.test(token)) return token
    const parts = [unquoted(token)]
    while (/^["']/.test(tokens[at] ?? '')) parts.push(unquoted(tokens[at++]!))
    return { bytes: Uint8Array.from(parts.flat()) }
  }
  return message(undefined)
}

const simple: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, a: 7, b: 8, f: 12, v: 11 }
const encoder = new TextEncoder()

function unquoted(token: string): number[] {
  const parts = token
    .slice(1, -1)
    .matchAll(/\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)|[^\\]+/gu)
  return [...parts].flatMap(([whole, escape]) => {
    if (escape === undefined) return [...encoder.encode(whole)]
    if (/^[0-7]/.test(escape)) return [Number.parseInt(escape, 8)]
    if (/^x./.test(escape)) return [Number.parseInt(escape.slice(1), 16)]
    if (/^[uU]./.test(escape)) return [...encoder.encode(String.fromCodePoint(Number.parseInt(escape.slice(1), 16)))]
    return [Object.hasOwn(simple, escape) ? simple[escape]! : escape.codePointAt(0)!]
  })
}

export const messageAt = (from: Message | undefined, name: string): Message | undefined => {
  const field = from?.get(name)?.[0]
  return field instanceof Map ? field : undefined
}
export const messagesAt = (from: Message, name: string): Message[] =>
  (from.get(name) ?? []).filter((field): field is Message => field instanceof Map)

export function textAt(from: Message, name: string): string | undefined {
  const field = from.get(name)?.[0]
  if (typeof field === 'string') return field
  return field !== undefined && 'bytes' in field ? new TextDecoder().decode(field.bytes) : undefined
}
