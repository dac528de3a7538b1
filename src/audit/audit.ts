/**
 * Auditing of requests (kubernetes.io/docs/tasks/debug/debug-cluster/audit): after authentication the policy decides,
 * the steps fill the request's record, and the last event has the outcome.
 */
import type { Clock } from '../base/clock.ts'
import { internalError, serviceUnavailable, StatusError } from '../api/status.ts'
import { attributesOf } from '../authorization/attributes.ts'
import type { UserInfo } from '../request/user-info.ts'
import type { Env } from '../env.ts'
import type { ApiCall, ApiRequest } from '../request/context.ts'
import { RequestRecord } from '../request/record.ts'
import type { ObjectFacts } from '../request/record.ts'
import { internalErrorText } from '../request/receive.ts'
import { targetOf } from '../request/target.ts'
import { isLongRunning } from '../request/timeout.ts'
import { settingsOf } from '../settings.ts'
import { StorageError } from '../storage/errors.ts'
import { statusFor } from '../storage/storage-status.ts'
import type { AuditMode } from '../settings/audit.ts'
import { consoleBackend, fileBackend, webhookBackend } from './backends.ts'
import { eventLine, originOf } from './event.ts'
import type { Moment, Origin } from './event.ts'
import { auditCounts, countUp } from './metrics.ts'
import type { AuditStage, Policy } from '../configuration/audit-policy.ts'
import type { AuditedAttributes, Decision } from './policy.ts'
import { decide } from './policy.ts'
import { pause, Sink } from './sink.ts'

const BUFFER_LENGTH = 16 << 20
/** The defaults of kube-apiserver's --audit-webhook-batch-buffer-size and …-max-size. */
const BUFFER_EVENTS = 10_000
const BATCH_EVENTS = 400
/** The wait for a full batch. It is shorter than kube-apiserver's 30 s: a Worker has only 30 s after a response. */
const WEBHOOK_WAIT_MS = 1_000
const WEBHOOK_RETRY_MS = [500, 1_000, 2_000, 4_000]

/**
 * The sinks of each environment. A Durable Object has sinks of its own: the end of a request would stop calls that
 * both share.
 */
const sinksOf = { request: new WeakMap<Env, readonly Sink[]>(), object: new WeakMap<Env, readonly Sink[]>() }

function sinks({ env, clock, isObject = false }: ApiCall): readonly Sink[] {
  const all = isObject ? sinksOf.object : sinksOf.request
  let known = all.get(env)
  if (known === undefined) all.set(env, (known = makeSinks(env, clock)))
  return known
}

function makeSinks(env: Env, now: Clock): readonly Sink[] {
  const { audit } = settingsOf(env)
  if (audit === undefined) return []
  const options = (mode: AuditMode, batchWaitMs: number, retryMs: readonly number[]) => ({
    mode,
    bufferEvents: BUFFER_EVENTS,
    bufferLength: BUFFER_LENGTH,
    batchEvents: BATCH_EVENTS,
    batchWaitMs,
    retryMs,
  })
  const { webhook, logMode } = audit
  const clock = { now, sleep: pause }
  const made: Sink[] = []
  const file = env.AUDIT_LOG
  if (file !== undefined) made.push(new Sink(fileBackend(file), options(logMode, 0, []), clock))
  if (webhook !== undefined)
    made.push(new Sink(webhookBackend(webhook), options(webhook.mode, WEBHOOK_WAIT_MS, WEBHOOK_RETRY_MS), clock))
  // always blocking: console.log writes at once, so there is nothing to batch
  if (made.length === 0 || audit.console) made.push(new Sink(consoleBackend(), options('blocking', 0, []), clock))
  return made
}

interface Audited {
  readonly asked: AuditedAttributes
  readonly decision: Decision
  readonly origin: Origin
}

/** The policy's decision about a call, for its later stages. */
const audited = new WeakMap<RequestRecord, Audited>()

function decideFor(request: ApiRequest, record: RequestRecord, policy: Policy, user: UserInfo | undefined): Audited {
  const asked: AuditedAttributes = { ...attributesOf(request.user, request.info, request.query), user }
  return decided(record, policy, asked, () => originOf(request))
}

function decided(record: RequestRecord, policy: Policy, asked: AuditedAttributes, origin: () => Origin): Audited {
  const decision = decide(policy, asked)
  record.level = decision.level
  countUp(auditCounts.levels, decision.level)
  const found = { asked, decision, origin: decision.level === 'None' ? NOWHERE : origin() }
  audited.set(record, found)
  return found
}

const NOWHERE: Origin = { requestURI: '' }

/**
 * Writes the event of stage RequestReceived, after authentication and before impersonation.
 * @returns the error response where the request needs an audit event that could not be written
 */
export async function auditReceived(request: ApiRequest, record: RequestRecord): Promise<Response | undefined> {
  record.user = request.user
  const { audit } = settingsOf(request.env)
  if (audit === undefined) return undefined
  const found = decideFor(request, record, audit.policy, request.user)
  const stage = 'RequestReceived'
  if (await write(request, record, { stage, at: request.now })) return undefined
  auditCounts.rejected++
  audited.set(record, { ...found, decision: { ...found.decision, level: 'None' } }) // it has no later stages
  return internalErrorText(targetOf(request.request), 'failed to store audit event')
}

/** Writes the events of the response. @returns the response, whose body may be wrapped to see its end */
export async function auditAnswered(request: ApiRequest, record: RequestRecord, response: Response): Promise<Response> {
  const { audit } = settingsOf(request.env)
  if (audit === undefined) return response
  const code = response.status
  // authentication failed: kube-apiserver writes only this stage
  if (!audited.has(record)) {
    decideFor(request, record, audit.policy, undefined)
    // the level was not known when the answer was made
    if (record.wantsResponse && record.status !== undefined)
      record.responseObject = record.bounded(JSON.stringify(record.status))
    await write(request, record, {
      ...(await answerOf(record)),
      stage: 'ResponseStarted',
      at: new Date(request.clock()),
      code,
    })
    return response
  }
  if (record.panic !== undefined) {
    await write(request, record, { stage: 'Panic', at: new Date(request.clock()), code })
    return response
  }
  const complete = async (): Promise<void> => {
    await write(request, record, {
      ...(await answerOf(record)),
      stage: 'ResponseComplete',
      at: new Date(request.clock()),
      code,
    })
  }
  if (!isLongRunning(request.info)) {
    // a streamed object is complete when the client has read the response
    if (record.responseObject instanceof Promise) request.waitUntil(complete())
    else await complete()
    return response
  }
  // of a refusal the object is known; a stream has none
  const refusal = record.status === undefined ? {} : await answerOf(record)
  await write(request, record, { ...refusal, stage: 'ResponseStarted', at: new Date(request.clock()), code })
  return followed(request, response, complete)
}

const answerOf = async ({ responseObject }: RequestRecord): Promise<Pick<Moment, 'responseObject'>> => ({
  responseObject: await responseObject,
})

/** Completes the audit event when the body is sent; at once for a response without a body, such as a socket. */
function followed(request: ApiRequest, response: Response, complete: () => Promise<void>): Response {
  const { body } = response
  if (body === null) {
    request.waitUntil(complete())
    return response
  }
  const through = new TransformStream<Uint8Array, Uint8Array>()
  request.waitUntil(body.pipeTo(through.writable).then(complete, complete))
  return new Response(through.readable, response)
}

/** A write of the server itself, described like a client's request. */
export interface OwnWrite {
  readonly asked: AuditedAttributes
  /** The name and namespace, which the path of a create lacks; filled in when the write has been tried. */
  readonly written: ObjectFacts
  readonly origin: Origin
  /** The body of the request in JSON. */
  readonly requestObject?: string
}

/**
 * Does a write of the server and audits it by the policy, like a client's request.
 * @throws StatusError where the write needs an audit event that could not be written; and errors of the work
 */
export async function auditedWrite<Written>(
  call: ApiCall,
  { asked, written: facts, origin, requestObject }: OwnWrite,
  work: () => Promise<Written>,
  answered: (written: Written) => { readonly code: number; readonly object?: string },
): Promise<Written> {
  const { audit } = settingsOf(call.env)
  if (audit === undefined) return work()
  const record = new RequestRecord()
  record.user = call.user
  decided(record, audit.policy, asked, () => origin)
  if (!(await write(call, record, { stage: 'RequestReceived', at: call.now }))) {
    auditCounts.rejected++
    throw serviceUnavailable('failed to store audit event')
  }
  record.object = facts
  if (record.wantsRequest && requestObject !== undefined) record.requestObject = record.bounded(requestObject)
  const complete = (code: number, responseObject?: string): Promise<boolean> =>
    write(call, record, { stage: 'ResponseComplete', at: new Date(call.clock()), code, responseObject })
  let written: Written
  try {
    written = await work()
  } catch (error) {
    const { status } = toStatus(error, asked, facts)
    record.status = status
    await complete(status.code ?? 500)
    throw error
  }
  const { code, object } = answered(written)
  await complete(code, record.wantsResponse && object !== undefined ? record.bounded(object) : undefined)
  return written
}

function toStatus(
  error: unknown,
  { apiGroup: group, resource }: AuditedAttributes,
  { name = '' }: ObjectFacts,
): StatusError {
  if (error instanceof StatusError) return error
  if (error instanceof StorageError) return statusFor(error, { group, resource }, name)
  return internalError(error instanceof Error ? error.message : String(error))
}

/** @returns whether the request may go on */
async function write(request: ApiCall, record: RequestRecord, moment: Moment): Promise<boolean> {
  const { asked, decision, origin } = audited.get(record)!
  if (decision.level === 'None' || omits(decision, moment.stage)) return true
  if (record.truncated) record.annotate('audit.k8s.io/truncated', 'true')
  auditCounts.events++
  const line = eventLine(request, origin, record, asked, decision, moment)
  const keep = (work: Promise<unknown>): void => request.waitUntil(work)
  const results = await Promise.all(sinks(request).map((sink) => sink.process(line, keep)))
  return results.every((mayGoOn) => mayGoOn)
}

const omits = ({ omitStages }: Decision, stage: AuditStage): boolean => omitStages.includes(stage)
