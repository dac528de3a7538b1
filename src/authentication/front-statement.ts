/**
 * The statement of the local server's front about a request, which the engine gets in `request.cf`: the client's
 * certificate, its address, and the method where the engine cannot carry it. A MAC binds it to one connection, one
 * request of it, a method, a target and a time. So a stolen statement is useless in another request.
 */
import type { ClientCertificate } from './client-certificate.ts'

/** The header that becomes `request.cf`. Its name is no secret: the front refuses requests that contain it. */
export const FRONT_STATEMENT = 'Kedge-Front-Statement'

export interface FrontStatement {
  readonly tlsClientAuth?: ClientCertificate
  /** The method of the request, where the engine gets POST instead. */
  readonly method?: string
  /** The client's address. */
  readonly clientAddress?: string
  /** A random id for each connection of a client. */
  readonly connection: string
  /** Counts the requests of that connection. */
  readonly request: number
  /** Milliseconds since 1970. */
  readonly made: number
  /** HMAC with SHA-256 of `statedText`, in base64. */
  readonly mac: string
}

/** Milliseconds for which a statement is valid. A request waits at most this long for an engine that starts. */
export const STATEMENT_HOLDS_MS = 30_000

/** The authenticated part of a statement. */
export type Stated = Omit<FrontStatement, 'mac' | 'tlsClientAuth'>

/**
 * Different statements have different texts.
 * @param method as the engine gets it
 * @param target path and query
 * @param certificate `certificateText` of the statement's certificate
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
