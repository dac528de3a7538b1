// The time of an answer (RFC 9110, section 6.6.1). Cloudflare adds it, workerd does not. The caches of clients need it:
// client-go's takes a document without a Date as stale, however long its Expires allows to keep it.

const HAS_DATE = /\r\ndate[ \t]*:/i

/** @param head of an answer, with the line break behind its last line */
export const hasDate = (head: string): boolean => HAS_DATE.test(head)

/** Copies of more octets are memory outside of V8's heap, which makes it collect (arriving.ts). */
const LONG = 4 << 10

/**
 * @param data a part of an engine's answer
 * @param at where its head takes another line, if this part has the place
 * @returns what the client gets, in order
 */
export function withDate(data: Buffer, at: number | undefined, now = Date.now()): readonly Buffer[] {
  if (at === undefined) return [data]
  const parts = [data.subarray(0, at), lineOf(now), data.subarray(at)]
  return data.length < LONG ? [Buffer.concat(parts)] : parts // one part is one record of TLS
}

/** The line of the last second in which somebody asked. */
let last = { second: NaN, line: Buffer.alloc(0) }

function lineOf(now: number): Buffer {
  const second = Math.floor(now / 1000)
  if (second !== last.second) last = { second, line: Buffer.from(`Date: ${new Date(now).toUTCString()}\r\n`) }
  return last.line
}
