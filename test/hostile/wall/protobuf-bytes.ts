// Builds protobuf messages byte by byte, also messages that no encoder writes.

export const PROTOBUF = 'application/vnd.kubernetes.protobuf'

/** A body with its Content-Type. */
export const typed = (type: string, body: unknown, more: Record<string, string> = {}) => ({
  headers: { 'Content-Type': type, ...more },
  body,
})

export const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...varint(Math.floor(value / 128))]
export const field = (number: number, bytes: Uint8Array): Uint8Array =>
  Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length), ...bytes])
export const text = (number: number, value: string): Uint8Array => field(number, Buffer.from(value))
export const envelope = (apiVersion: string, kind: string, raw: Uint8Array, magic = 'k8s\0'): Uint8Array =>
  Buffer.concat([Buffer.from(magic), field(1, Buffer.concat([text(1, apiVersion), text(2, kind)])), field(2, raw)])
