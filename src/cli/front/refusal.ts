// Answers that the front gives itself.
import type { MalformedRequest } from './http-framing.ts'

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  414: 'URI Too Long',
  417: 'Expectation Failed',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  501: 'Not Implemented',
  503: 'Service Unavailable',
  505: 'HTTP Version Not Supported',
}

export const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'

/** The last answer of a connection. */
export function refusal({ status, message }: MalformedRequest): string {
  const text = `${status} ${REASONS[status] ?? 'Error'}`
  const isJson = status === 414
  const body = isJson ? tooLongStatus(message) : `${text}: ${message}`
  return (
    `HTTP/1.1 ${text}\r\nContent-Type: ${isJson ? 'application/json' : 'text/plain; charset=utf-8'}\r\nConnection: close\r\n` +
    (status === 429 ? 'Retry-After: 1\r\n' : '') +
    `Content-Length: ${body.length}\r\n\r\n${body}`
  )
}

/** A well-formed request of the API is refused with a Status. */
const tooLongStatus = (message: string): string =>
  JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `Request entity too large: ${message}`,
    reason: 'RequestEntityTooLarge',
    code: 414,
  })
