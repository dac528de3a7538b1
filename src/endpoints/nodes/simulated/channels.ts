/**
 * Several streams in one WebSocket (channel.k8s.io and its variants). Each message begins with its channel: an octet,
 * or a digit before base64.
 */
import { base64ToBytes, bytesToBase64, canonicalBase64, corruptAt } from '../../../base/base64.ts'
import { joined } from '../../../base/bytes.ts'

const IN_BASE64 = /(?:^|\.)base64\.channel\.k8s\.io$/
const DIGIT = '0'.charCodeAt(0)

export interface ChannelMessage {
  readonly channel: number
  readonly data: Uint8Array
}

export interface ChannelCodec {
  written(channel: number, data: Uint8Array): Uint8Array | string
  /** Undefined where the message is empty. */
  read(message: string | ArrayBuffer): ChannelMessage | undefined
}

export const codecOf = (protocol: string): ChannelCodec => (IN_BASE64.test(protocol) ? inBase64 : inOctets)

const octetsOf = (message: string | ArrayBuffer): Uint8Array =>
  typeof message === 'string' ? new TextEncoder().encode(message) : new Uint8Array(message)

const inOctets: ChannelCodec = {
  written: (channel, data) => joined([new Uint8Array([channel]), data]),
  read(message) {
    const octets = octetsOf(message)
    return octets.length === 0 ? undefined : { channel: octets[0] ?? 0, data: octets.subarray(1) }
  },
}

const inBase64: ChannelCodec = {
  written: (channel, data) => String.fromCharCode(DIGIT + channel) + bytesToBase64(data),
  read(message) {
    const octets = octetsOf(message)
    const text = new TextDecoder('latin1').decode(octets.subarray(1))
    if (octets.length === 0 || corruptAt(text) !== undefined) return undefined
    return { channel: (octets[0] ?? 0) - DIGIT, data: base64ToBytes(canonicalBase64(text)) }
  },
}
