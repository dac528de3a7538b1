/** `Status`, the body of every error, and its reasons (apimachinery's pkg/api/errors and meta/v1 StatusReason). */
import type { GroupResource } from './group-version.ts'
import { groupResourceText } from './group-version.ts'
import type { FieldError } from './field.ts'
import { goQuote } from '../go/quote.ts'
import { causesOf, messageOf } from './field.ts'

export interface StatusCause {
  reason?: string
  message?: string
  field?: string
}

export interface StatusDetails {
  name?: string
  group?: string
  kind?: string
  uid?: string
  causes?: StatusCause[]
  retryAfterSeconds?: number
}

/** A Status. The keys have the order in which kube-apiserver writes them. */
export interface Status {
  kind: 'Status'
  apiVersion: 'v1'
  metadata: { continue?: string }
  status: 'Success' | 'Failure'
  message?: string
  reason?: string
  details?: StatusDetails
  code?: number
}

// V8 has stackTraceLimit, and both workerd and Node run on V8
const stacks = Error as unknown as { stackTraceLimit: number }

/**
 * The part of the server that reports an error, as in kube-apiserver. A handler writes the media types of its resource.
 * The router and the filters before the handlers do not write CBOR. The end of a request's time has one form only.
 */
export type Maker = 'handler' | 'router' | 'timeout'

/**
 * A response that is a Status. Any code of the request path can throw it, and the server renders it once. It has no
 * stack trace, because its Status is complete and collecting the trace takes a fifth of the time of a denial.
 */
export class StatusError extends Error {
  override readonly name = 'StatusError'
  /** Absent: the part of the server that is running when the error is thrown. */
  maker?: Maker
  readonly code: number
  readonly headers: Readonly<Record<string, string>>
  readonly status: Status

  constructor(
    code: number,
    reason: string | undefined,
    message: string,
    details?: StatusDetails,
    metadata: Status['metadata'] = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    const { stackTraceLimit } = stacks
    stacks.stackTraceLimit = 0
    super(message)
    stacks.stackTraceLimit = stackTraceLimit
    this.code = code
    this.headers = headers
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata,
      status: 'Failure',
      message,
      ...(reason === undefined ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    }
  }
}

export const madeBy = (maker: Maker, error: StatusError): StatusError => Object.assign(error, { maker })

const detailsOf = ({ group, resource }: GroupResource, name: string): StatusDetails => ({
  ...(name === '' ? {} : { name }),
  ...(group === '' ? {} : { group }),
  ...(resource === '' ? {} : { kind: resource }),
})

export const notFound = (resource: GroupResource, name: string) =>
  new StatusError(
    404,
    'NotFound',
    `${groupResourceText(resource)} ${goQuote(name)} not found`,
    detailsOf(resource, name),
  )

/** The 404 for a path, version or resource that is not served. */
export const notServed = () =>
  madeBy('router', new StatusError(404, 'NotFound', 'the server could not find the requested resource', {}))

export const alreadyExists = (resource: GroupResource, name: string) =>
  new StatusError(
    409,
    'AlreadyExists',
    `${groupResourceText(resource)} ${goQuote(name)} already exists`,
    detailsOf(resource, name),
  )

/** Like alreadyExists, for an object with a generateName, whether its name came from that or not. */
export const generatedNameExists = (resource: GroupResource, name: string) =>
  new StatusError(
    409,
    'AlreadyExists',
    `${groupResourceText(resource)} ${goQuote(name)} already exists, the server was not able to generate a unique name for the object`,
    { ...detailsOf(resource, name), retryAfterSeconds: 1 },
  )

export const OBJECT_HAS_CHANGED =
  'the object has been modified; please apply your changes to the latest version and try again'

export const conflict = (resource: GroupResource, name: string, why: string) =>
  new StatusError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${groupResourceText(resource)} ${goQuote(name)}: ${why}`,
    detailsOf(resource, name),
  )

export const unauthorized = () => new StatusError(401, 'Unauthorized', 'Unauthorized')

export const forbidden = (
  resource: GroupResource,
  name: string,
  why: string,
  causes?: StatusCause[],
  headers?: StatusError['headers'],
) =>
  new StatusError(
    403,
    'Forbidden',
    groupResourceText(resource) === ''
      ? `forbidden: ${why}`
      : `${groupResourceText(resource)}${name === '' ? '' : ` ${goQuote(name)}`} is forbidden: ${why}`,
    { ...detailsOf(resource, name), ...(causes === undefined ? {} : { causes }) },
    {},
    headers,
  )

export const badRequest = (message: string) => new StatusError(400, 'BadRequest', message)

/**
 * The most characters of messages and the most errors in a response, so that a body full of invalid values does not get
 * a response many times its size. Validation stops there.
 */
export const MAX_REPORTED = 1024 * 1024
export const MAX_PROBLEMS = 10_000

function reported(errors: readonly FieldError[]): readonly FieldError[] {
  let length = 0
  const count = errors.findIndex(({ field, message }) => (length += field.length + message.length) > MAX_REPORTED)
  return errors.slice(0, count < 0 ? MAX_PROBLEMS : Math.min(MAX_PROBLEMS, Math.max(1, count)))
}

/** 422 with all errors of an object. `kind.group ""` stands for query options (`ListOptions.meta.k8s.io`). */
export function invalid(kind: { group: string; kind: string }, name: string, all: readonly FieldError[]) {
  const errors = reported(all)
  const named = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`
  return new StatusError(422, 'Invalid', `${named} ${goQuote(name)} is invalid: ${messageOf(errors)}`, {
    ...(name === '' ? {} : { name }),
    ...(kind.group === '' ? {} : { group: kind.group }),
    ...(kind.kind === '' ? {} : { kind: kind.kind }),
    ...(errors.length === 0 ? {} : { causes: causesOf(errors) }),
  })
}

export const methodNotAllowed = () =>
  madeBy(
    'router',
    new StatusError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {}),
  )

export const methodNotSupported = (resource: GroupResource, action: string) =>
  new StatusError(
    405,
    'MethodNotAllowed',
    `${action} is not supported on resources of kind ${JSON.stringify(groupResourceText(resource))}`,
    detailsOf(resource, ''),
  )

export const unsupportedMediaType = (accepted: readonly string[]) =>
  new StatusError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  )

export const notAcceptable = (accepted: readonly string[]) =>
  new StatusError(406, 'NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`)

export const requestEntityTooLarge = (message: string) =>
  new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`)

export const expired = (message: string, continueToken?: string) =>
  new StatusError(410, 'Expired', message, undefined, continueToken === undefined ? {} : { continue: continueToken })

export const tooManyRequests = (message: string, retryAfterSeconds: number) =>
  new StatusError(
    429,
    'TooManyRequests',
    message,
    { retryAfterSeconds },
    {},
    { 'Retry-After': String(retryAfterSeconds) },
  )

/** A request whose time is over (request/time-left.ts). */
export const notInTime = () =>
  madeBy(
    'timeout',
    new StatusError(504, 'Timeout', 'Timeout: request did not complete within the allotted timeout', {}),
  )

/** The request's time is over, or its client gone, before another server's decision came. */
export const requestTimeout = () =>
  new StatusError(504, 'Timeout', 'Timeout: request did not complete within requested timeout', {})

export const internalError = (why: string) =>
  new StatusError(500, 'InternalError', `Internal error occurred: ${why}`, { causes: [{ message: why }] })

/** The response for a plain Go error that reaches kube-apiserver's response writer: code 500 without a reason. */
export const plainError = (message: string) => new StatusError(500, undefined, message)

export const serviceUnavailable = (message: string) => new StatusError(503, 'ServiceUnavailable', message)

export const serverTimeout = (resource: GroupResource, operation: string, retryAfterSeconds: number) =>
  new StatusError(
    500,
    'ServerTimeout',
    `The ${operation} operation against ${groupResourceText(resource)} could not be completed at this time, please try again.`,
    { ...detailsOf(resource, operation), retryAfterSeconds },
    {},
    { 'Retry-After': String(retryAfterSeconds) },
  )

/**
 * 504 for a resourceVersion that the server has not reached. `retryAfterSeconds` is absent for resources without a
 * cache.
 */
export const resourceVersionTooLarge = (
  revision: number | string,
  current: number | string,
  retryAfterSeconds?: number,
) =>
  new StatusError(
    504,
    'Timeout',
    `Timeout: Too large resource version: ${revision}, current: ${current}`,
    {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
    {},
    retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) },
  )
