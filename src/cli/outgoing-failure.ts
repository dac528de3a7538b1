// Why a call to another server failed, in Node's codes.
import type { CallFailure } from '../webhooks/failure-text.ts'

/** What Node's network and TLS errors have besides a code. */
interface NodeError extends Error {
  readonly code?: string
  readonly address?: string
  readonly port?: number
  readonly hostname?: string
  readonly host?: string
  readonly cert?: { readonly subjectaltname?: string }
  /** Of an AggregateError: one for each address of a name. */
  readonly errors?: readonly NodeError[]
}

export function failureOf(thrown: unknown): CallFailure {
  // errors of a call are errors of Node
  const whole = thrown as NodeError
  const error = whole.errors?.at(-1) ?? whole
  const { code = '', message, address, port, cert } = error
  return {
    code,
    message,
    address: address === undefined ? undefined : `${address.includes(':') ? `[${address}]` : address}:${port}`,
    host: error.hostname ?? error.host,
    names: cert?.subjectaltname,
  }
}
