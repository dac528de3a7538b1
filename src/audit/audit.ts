/**
 * Auditing of requests (kubernetes.io/docs/tasks/debug/debug-cluster/audit): after authentication the policy decides,
 * the steps fill the request's record, and what came of it is written at the end.
 */
import type { Clock } from '../api/clock.ts'
import { attributesOf } from '../authorization/attributes.ts'
import type { UserInfo } from '../request/user-info.ts'
import type { Env } from '../env.ts'
import type { ApiRequest } from '../request/context.ts'
import type { RequestRecord } from '../request/record.ts'
import { internalErrorText } from '../request/receive.ts'
import { targetOf } from '../request/target.ts'
import { isLongRunning } from '../request/timeout.ts'
import { settingsOf } from '../settings.ts'
import type { AuditMode } from '../settings.ts'
import { consoleBackend, fileBackend, webhookBackend } from './backends.ts'
import { eventLine } from './event.ts'
import type { Moment } from './event.ts'
import { auditCounts, countUp } from './metrics.ts'
import type { AuditedAttributes, AuditStage, Decision, Policy } from './policy.ts'
import { decide } from './policy.ts'
import { pause, Sink } from './sink.ts'

const BUFFER_LENGTH = 16 << 20
/** As kube-apiserver's --audit-webhook-batch-buffer-size and …-max-size. */
const BUFFER_EVENTS = 10_000
const BATCH_EVENTS = 400
/** Shorter than kube-apiserver's half minute: a Worker's time after an answer is 30 s. */
const WEBHOOK_WAIT_MS = 1_000
const WEBHOOK_RETRY_MS = [500, 1_000, 2_000, 4_000]

/** Where the events of an environment go. */
const sinksOf = new WeakMap<Env, readonly Sink[]>()

function sinks({ env, clock }: ApiRequest): readonly Sink[] {
  let known = sinksOf.get(env)
  if (known === undefined) sinksOf.set(env, (known = makeSinks(env, clock)))
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
  // Workers' logs have no say in when they are written
  if (made.length === 0 || audit.console) made.push(new Sink(consoleBackend(), options('blocking', 0, []), clock))
  return made
}

/** What was decided of a request, for its later stages. */
const audited = new WeakMap<RequestRecord, { asked: AuditedAttributes; decision: Decision }>()

function decideFor(request: ApiRequest, record: RequestRecord, policy: Policy, user: UserInfo | undefined) {
  const asked: AuditedAttributes = { ...attributesOf(request.user, request.info, request.query), user }
  const decision = decide(policy, asked)
  record.level = decision.level
  countUp(auditCounts.levels, decision.level)
  const found = { asked, decision }
  audited.set(record, found)
  return found
}

/**
 * The stage RequestReceived, of a request that is authenticated and not yet impersonated.
 * Returns the answer where it must not go on without its event.
 */
export async function auditReceived(request: ApiRequest, record: RequestRecord): Promise<Response | undefined> {
  record.user = request.user
  const { audit } = settingsOf(request.env)
  if (audit === undefined) return undefined
  const { asked, decision } = decideFor(request, record, audit.policy, request.user)
  const stage = 'RequestReceived'
  if (await write(request, record, { stage, at: request.now })) return undefined
  auditCounts.rejected++
  audited.set(record, { asked, decision: { ...decision, level: 'None' } }) // it has no later stages
  return internalErrorText(targetOf(request.request), 'failed to store audit event')
}

/** The stages of the answer. Returns it, perhaps with a body that is followed to its end. */
export async function auditAnswered(request: ApiRequest, record: RequestRecord, response: Response): Promise<Response> {
  const { audit } = settingsOf(request.env)
  if (audit === undefined) return response
  const code = response.status
  // refused before anybody was known: kube-apiserver tells of that in this stage alone
  if (!audited.has(record)) {
    decideFor(request, record, audit.policy, undefined)
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
    // an object that comes as a stream is there when the answer has been read
    if (record.responseObject instanceof Promise) request.waitUntil(complete())
    else await complete()
    return response
  }
  await write(request, record, { stage: 'ResponseStarted', at: new Date(request.clock()), code })
  return followed(request, response, complete)
}

const answerOf = async ({ responseObject }: RequestRecord): Promise<Pick<Moment, 'responseObject'>> => ({
  responseObject: await responseObject,
})

/** A socket's end is not seen from here: what has no body is complete at once. */
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

/** Whether the request may go on. */
async function write(request: ApiRequest, record: RequestRecord, moment: Moment): Promise<boolean> {
  const { asked, decision } = audited.get(record)!
  if (decision.level === 'None' || omits(decision, moment.stage)) return true
  if (record.truncated) record.annotate('audit.k8s.io/truncated', 'true')
  auditCounts.events++
  const line = eventLine(request, record, asked, decision, moment)
  const keep = (work: Promise<unknown>): void => request.waitUntil(work)
  const results = await Promise.all(sinks(request).map((sink) => sink.process(line, keep)))
  return results.every((mayGoOn) => mayGoOn)
}

const omits = ({ omitStages }: Decision, stage: AuditStage): boolean => omitStages.includes(stage)
