/**
 * The request path, in the order in which it runs. Start reading here.
 *
 *   receive → the page's origin → time → authenticate → audit → impersonate → classify → take a seat → authorize →
 *   a fixed path (discovery, health …) or a verb → audit
 *
 * Every refusal is a thrown StatusError, rendered at the end.
 */
import { ensureBootstrapped } from './bootstrap/ensure-bootstrapped.ts'
import type { Clock } from './base/clock.ts'
import { serviceUnavailable } from './api/status.ts'
import { authenticate, authenticateAgain } from './authentication/authenticate.ts'
import { admitOrigin, originOf } from './authentication/cross-origin.ts'
import { noteSecretUses } from './endpoints/secret-use.ts'
import { compileExpressionsWith } from './authentication/expression.ts'
import { configurationProblem, hasConfigurations } from './authorization/configuration-problem.ts'
import { impersonate } from './authorization/impersonation.ts'
import { attributesOf } from './authorization/attributes.ts'
import { authorize } from './authorization/authorize.ts'
import { finish, respondLate, respondStatus } from './codec/respond.ts'
import { RESTORE_PATH } from './endpoints/backup/restore.ts'
import { statusFor } from './storage/storage-status.ts'
import { serveFixedPath } from './endpoints/fixed-paths.ts'
import { handlers } from './endpoints/handlers.ts'
import { measureRequest } from './metrics/measurements.ts'
import { tooManyRequests } from './endpoints/documents/text-response.ts'
import { serveResource } from './endpoints/serve-resource.ts'
import type { Env } from './env.ts'
import { auditAnswered, auditReceived } from './audit/audit.ts'
import { logError } from './log/log.ts'
import { logRequest } from './endpoints/access-log.ts'
import { problemOf, WRONG_SETTINGS } from './settings.ts'
import type { BadSettings } from './settings.ts'
import { admitRequest, endsBySelf, leaveSeat } from './flowcontrol/admit-request.ts'
import { classify, flowControlHeaders } from './flowcontrol/classify.ts'
import { takesRoom } from './flowcontrol/large-values.ts'
import { builtInServed } from './registry/served/built-in-served.ts'
import { servedAt } from './registry/served/served.ts'
import { beginFirstRead } from './registry/first-read.ts'
import type { ApiRequest } from './request/context.ts'
import { inTime } from './request/in-time.ts'
import { receive } from './request/receive.ts'
import type { RequestInfo } from './request/request-info.ts'
import { checkHops } from './request/hops.ts'
import { checkTimeout, isLongRunning } from './request/timeout.ts'
import { readRest } from './request/unread-body.ts'
import { StorageError } from './storage/errors.ts'
import { bootstrapWith, controlSnapshot, snapshotAtHand, SnapshotData } from './tenancy/control-snapshot.ts'
import type { ControlSnapshot } from './tenancy/control-snapshot.ts'
import { credentialEpoch } from './tenancy/credential-writes.ts'

bootstrapWith(ensureBootstrapped)
compileExpressionsWith(async () => (await import('./expressions/identity-expressions.ts')).compileIdentityExpression)

/** An error of the control plane's own storage belongs to no resource. */
const NO_RESOURCE = { group: '', resource: '' }

/** @param isAttested the local front has made a statement about the request */
export async function serve(
  request: Request,
  env: Env,
  execution: ExecutionContext,
  clock: Clock,
  isAttested = false,
): Promise<Response> {
  const problem = problemOf(env) ?? (hasConfigurations(env) ? await configurationProblem(env) : undefined)
  if (problem !== undefined) return refuseAll(problem, env)
  const { isBuiltInGroup } = builtInServed(env).resources
  const received = receive(request, env, execution, clock, isBuiltInGroup, isAttested)
  if (received instanceof Response) return received
  const origin = originOf(received)
  const preflight = origin === undefined ? undefined : await admitOrigin(received, origin)
  if (preflight !== undefined) return preflight
  const answered = inTime(
    received,
    () => respond(received),
    () => respondLate(received),
  )
  const response = env.CONFIGURATION === undefined ? withBodyRead(request, answered) : answered
  if (endsBySelf(received)) received.waitUntil(response)
  return response
}

/** A GET has no body, and costs nothing here. */
const withBodyRead = (request: Request, response: Promise<Response>): Promise<Response> =>
  request.body === null ? response : response.then((answer) => readRest(request).then(() => answer))

async function respond(received: ApiRequest): Promise<Response> {
  const measured = measureRequest(received)
  let response: Response
  try {
    response = await answer(received)
  } catch (error) {
    response = await respondStatus(received, error instanceof StorageError ? statusFor(error, NO_RESOURCE, '') : error)
  }
  finish(received, response)
  measured(response)
  const { record } = received
  if (record === undefined) return response
  logRequest(received, record, response)
  return auditAnswered(received, record, response)
}

/**
 * Without valid settings users cannot be told apart. The answer says less than the log; on a local server it has
 * everything, because the person who starts the server reads it.
 */
function refuseAll(problem: Pick<BadSettings, 'message' | 'details'>, env: Env): Response {
  logError(`wrong settings: ${problem.details}`)
  const why = env.CONFIGURATION === undefined ? problem.message : problem.details
  const { status } = serviceUnavailable(WRONG_SETTINGS + why)
  return Response.json(status, { status: 503, headers: { 'Cache-Control': 'no-store' } })
}

/** The steps that decide what is allowed and what runs. Tests replace them to record both. */
export const steps = { authorize, handlers }

/** @throws StatusError */
export async function answer(received: ApiRequest, { authorize, handlers } = steps): Promise<Response> {
  checkTimeout(received)
  checkHops(received)
  const epoch = credentialEpoch(received.tenant)
  const known = await authenticate(received).finally(() => noteSecretUses(received))
  const { record } = received
  const refusal = record === undefined ? undefined : await auditReceived(known, record)
  if (refusal !== undefined) return refusal
  const acting = impersonate(known)
  const request = acting instanceof Promise ? await acting : acting
  request.stage.user = request.user
  const asked = attributesOf(request.user, request.info, request.query)
  const isRestore = request.info.path === RESTORE_PATH
  const snapshot = isRestore
    ? await snapshotToRestore(request)
    : (snapshotAtHand(request) ?? (await coldSnapshot(request)))
  request.epoch = credentialEpoch(received.tenant)
  if (request.epoch !== epoch) await authenticateAgain(received, known.user)
  const classification = classify(snapshot, asked)
  if (record !== undefined) record.flowSchema = classification.schema.metadata.name ?? ''
  // kube-apiserver's flow control passes by long requests other than watches
  if (asked.verb === 'watch' || !isLongRunning(request.info))
    // own key: the server names the headers
    Object.assign(received.answerHeaders, flowControlHeaders(classification))
  const admitted = admitRequest(request, snapshot, classification)
  const seat = admitted instanceof Promise ? await admitted : admitted
  if (typeof seat === 'string') return tooManyRequests()
  let isSeated = true
  const leave = (): void => {
    if (isSeated) leaveSeat(request.tenant, seat)
    isSeated = false
  }
  request.delegate = leave
  const leaveRoom = takesRoom(request)
  try {
    const authorized = await authorize(request, asked)
    // authorized by the new state, for a user of the old one
    if (credentialEpoch(received.tenant) !== request.epoch) throw new StorageError('Restoring')
    const served = servedAt(request.env, snapshot)
    const reading = served.reading(groupOf(request.info))
    if (reading !== undefined) await reading
    return await (serveFixedPath(request, served) ?? serveResource(request, authorized, served, handlers))
  } finally {
    leave()
    leaveRoom()
  }
}

/** The group in a path: of a resource, of a discovery document or of an OpenAPI document. */
const groupOf = ({ isResourceRequest, apiGroup, path }: RequestInfo): string =>
  isResourceRequest ? apiGroup : (/^(?:\/openapi\/v3)?\/apis\/([^/]+)/.exec(path)?.[1] ?? '')

/**
 * Starts the first read of the request beside the call for the snapshot. Its result is dropped where the request is
 * denied.
 */
function coldSnapshot(request: ApiRequest): Promise<ControlSnapshot> {
  beginFirstRead(request)
  return controlSnapshot(request)
}

/**
 * While a control plane is restored there is no snapshot of it, but another restore may begin. For that the mandatory
 * configuration is enough.
 */
async function snapshotToRestore(request: ApiRequest): Promise<ControlSnapshot> {
  try {
    return await controlSnapshot(request)
  } catch (error) {
    if (error instanceof StorageError && error.code === 'Restoring') return SnapshotData.empty
    throw error
  }
}
