/**
 * The statement of the local server's front about a request, which the engine gets in `request.cf`: the client's
 * certificate, its address, and the method where the engine cannot carry it. A MAC binds it to one connection, one
 * request of it, a method, a target and a moment: a stolen statement is worth nothing in another request.
 */
import type { ClientCertificate } from './client-certificate.ts'

/** The header that becomes `request.cf`. It is no secret; the front refuses requests in which it occurs. */
export const FRONT_STATEMENT = 'Kedge-Front-Statement'

export interface FrontStatement {
  readonly tlsClientAuth?: ClientCertificate
  /** The request's method, where the engine was given POST instead. */
  readonly method?: string
  /** Of the client. */
  readonly clientAddress?: string
  /** Random, one for each connection of a client. */
  readonly connection: string
  /** Counts that connection's requests. */
  readonly request: number
  /** Milliseconds since 1970. */
  readonly made: number
  /** HMAC with SHA-256 of `statedText`, in base64. */
  readonly mac: string
}

/** How long a statement may be under way: a request waits so long at most for an engine that begins. */
export const STATEMENT_HOLDS_MS = 30_000

/** The authenticated part of a statement. */
export type Stated = Omit<FrontStatement, 'mac' | 'tlsClientAuth'>

/**
 * No two statements have the same text.
 * @param method as the engine is given it
 * @param target path and query
 * @param certificate `certificateText` of the statement's
 */
export function statedText(method: string, target: string, stated: Stated, certificate: string): string {
  const { connection, request, made } = stated
  return (
    JSON.stringify([method, target, connection, request, made, stated.method ?? null, stated.clientAddress ?? null]) +
    certificate
  )
}

export function certificateText(certificate: ClientCertificate | undefined): string {
  if (certificate === undefined) return ''
  const { certPresented, certVerified, certRevoked, certRFC9440, certChainRFC9440 } = certificate
  return JSON.stringify([certPresented, certVerified, certRevoked, certRFC9440, certChainRFC9440])
}
