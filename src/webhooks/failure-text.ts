/** Why a call got no answer, with the texts of Go's net, crypto/tls and crypto/x509. */
import * as z from 'zod/mini'
import { ownValue } from '../base/own.ts'
import { familyOf } from '../api/ip-addresses.ts'

/** A failed call as the front reports it. */
export interface CallFailure {
  /** The code of a Node system error, of an OpenSSL verification error, or one of the front's own codes. */
  readonly code: string
  /** Node's message, for codes without a text here. */
  readonly message: string
  /** The dialled HOST:PORT. */
  readonly address?: string | undefined
  /** The name that the certificate should have. */
  readonly host?: string | undefined
  /** subjectAltName of the certificate as Node prints it: `DNS:a, IP Address:10.0.0.1`. */
  readonly names?: string | undefined
}

const text = z.optional(z.string())
/** The front's JSON. */
export const callFailure = z.object({ code: z.string(), message: z.string(), address: text, host: text, names: text })

/** The front's own codes: the call or the connection took too long, or too many calls to this host or in all are in progress. */
export const DEADLINE = 'DEADLINE'
export const DIAL_TIMEOUT = 'DIAL_TIMEOUT'
export const BUSY = 'BUSY'
export const BUSY_IN_ALL = 'BUSY_IN_ALL'
/** So much of other answers was there that this one was given up. */
export const NO_ROOM = 'NO_ROOM'
/** An address that no user may have this server connect with. */
export const NOT_ALLOWED = 'NOT_ALLOWED'

/** The name that was called is only the common name of the certificate's subject. */
export const LEGACY_COMMON_NAME = 'LEGACY_COMMON_NAME'

const dialled: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'connect: connection timed out',
  EADDRNOTAVAIL: 'connect: cannot assign requested address',
}

const certificates: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_GET_ISSUER_CERT',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'CERT_SIGNATURE_FAILURE',
    ].map((code) => [code, 'certificate signed by unknown authority']),
  ),
  CERT_HAS_EXPIRED: 'certificate has expired or is not yet valid',
  CERT_NOT_YET_VALID: 'certificate has expired or is not yet valid',
  [LEGACY_COMMON_NAME]: 'certificate relies on legacy Common Name field, use SANs instead',
  INVALID_PURPOSE: 'certificate specifies an incompatible key usage',
}

/** System errors of a machine that has no room for another connection: nobody was called. */
const fullMachine = {
  EMFILE: 'socket: too many open files',
  ENFILE: 'socket: too many open files in system',
  ENOBUFS: 'socket: no buffer space available',
  ENOMEM: 'socket: cannot allocate memory',
}

/** Codes of calls that the front has not made, or whose answers it has no room for. */
export const NOT_MADE: ReadonlySet<string> = new Set([BUSY, BUSY_IN_ALL, NO_ROOM, ...Object.keys(fullMachine)])

const others: Readonly<Record<string, string>> = {
  ...fullMachine,
  [DEADLINE]: 'context deadline exceeded',
  [DIAL_TIMEOUT]: 'dial tcp: i/o timeout',
  [NOT_ALLOWED]: 'address not allowed',
  [BUSY]: 'too many requests to this host are under way',
  [BUSY_IN_ALL]: 'too many requests to other servers are under way',
  [NO_ROOM]: 'too many long answers of other servers',
  ERR_SSL_WRONG_VERSION_NUMBER: 'http: server gave HTTP response to HTTPS client',
  EPROTO: 'remote error: tls: handshake failure',
  HPE_INVALID_CONSTANT: 'net/http: HTTP/1.x transport connection broken: malformed HTTP response',
}

export function failureText({ code, message, address = '', host = '', names = '' }: CallFailure): string {
  const dial = ownValue(dialled, code)
  if (dial !== undefined) return `dial tcp ${address}: ${dial}`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${host}: no such host`
  if (code === 'ECONNRESET') return /socket hang up/.test(message) ? 'EOF' : 'read: connection reset by peer'
  const certificate =
    code === 'ERR_TLS_CERT_ALTNAME_INVALID' ? otherNames(host, names.split(', ')) : ownValue(certificates, code)
  if (certificate !== undefined) return `tls: failed to verify certificate: x509: ${certificate}`
  return ownValue(others, code) ?? message
}

function otherNames(host: string, names: readonly string[]): string {
  const of = (type: string) => names.flatMap((name) => (name.startsWith(type) ? [name.slice(type.length)] : []))
  const addresses = of('IP Address:')
  if (familyOf(host) !== undefined)
    return addresses.length === 0
      ? `cannot validate certificate for ${host} because it doesn't contain any IP SANs`
      : `certificate is valid for ${addresses.join(', ')}, not ${host}`
  const valid = of('DNS:')
  return valid.length === 0
    ? `certificate is not valid for any names, but wanted to match ${host}`
    : `certificate is valid for ${valid.join(', ')}, not ${host}`
}
