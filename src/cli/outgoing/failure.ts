// Why a call of another server failed, with Node's codes.
import type { CallFailure } from '../../webhooks/failure-text.ts'

/** Members of Node's network and TLS errors besides the code. */
interface NodeError extends Error {
  readonly code?: string
  readonly address?: string
  readonly port?: number
  readonly hostname?: string
  readonly host?: string
  readonly cert?: { readonly subjectaltname?: string }
  /** The errors of an AggregateError, one for each address of a name. */
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
