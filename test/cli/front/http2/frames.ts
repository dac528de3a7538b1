// Frames of HTTP/2 (RFC 9113, section 4) for tests that send what no library does.

/** What a client sends first. */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
/** The first octet of a header block that begins with the status 400 (RFC 7541, appendix A). */
export const INDEXED_400 = 0x8c
export const FRAME = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, windowUpdate: 8, continuation: 9 }
export const END_STREAM = 1
export const END_HEADERS = 4

export function frame(type: number, flags: number, stream: number, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** Header fields that nothing compresses (RFC 7541, section 6.2.2). */
export const headerBlock = (...fields: (readonly [name: string, value: string])[]): Buffer =>
  Buffer.concat(
    fields.map(([name, value]) =>
      Buffer.concat([
        Buffer.from([0, name.length]),
        Buffer.from(name),
        Buffer.from([value.length]),
        Buffer.from(value),
      ]),
    ),
  )

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly payload: Buffer
}

/** The whole frames at the beginning of these octets. */
export function framesIn(octets: Buffer): Frame[] {
  const frames: Frame[] = []
  for (let at = 0; at + 9 <= octets.length;) {
    const end = at + 9 + octets.readUIntBE(at, 3)
    if (end > octets.length) break
    frames.push({ type: octets[at + 3]!, flags: octets[at + 4]!, payload: octets.subarray(at + 9, end) })
    at = end
  }
  return frames
}
