/**
 * The server's log: lines of JSON on the console, which are Workers Logs on Cloudflare and the output of `kedge start`
 * locally. A line about a request has its auditID, which the Audit-Id header and the audit events have too.
 */
export interface LogFields {
  /** The audit id of the request that the line is about. */
  readonly auditID?: string
  /** The thrown value: the line has its message, and its stack where it has one. */
  readonly error?: unknown
  readonly [name: string]: unknown
}

export const logError = (message: string, fields: LogFields = {}): void =>
  console.error(lineOf('error', message, fields))
export const logInfo = (message: string, fields: LogFields = {}): void => console.log(lineOf('info', message, fields))

function lineOf(level: 'error' | 'info', message: string, { error, ...fields }: LogFields): string {
  return JSON.stringify({ level, message, ...fields, ...(error === undefined ? {} : errorFields(error)) }, bounded)
}

/**
 * Characters of one text. Clients choose paths, user agents and audit ids, and errors quote requests: the limit keeps
 * them from filling the log.
 */
const MAX_TEXT = 4096
/** The limit of kube-apiserver's log. */
const MAX_AUDIT_ID = 64

function bounded(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  const most = name === 'auditID' ? MAX_AUDIT_ID : MAX_TEXT
  return value.length > most ? `${value.slice(0, most)}…` : value
}

function errorFields(error: unknown): { error: string; stack?: string } {
  if (!(error instanceof Error)) return { error: String(error) }
  return { error: error.message, ...(error.stack === undefined ? {} : { stack: error.stack }) }
}
