/** Streams to pods: log, exec, attach and portforward. This server connects the client with the pod's node. */
import { socketPaceOf } from '../../flowcontrol/socket-pace.ts'
import type { Container, Pod } from '../../api/core/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { FieldPath, forbiddenField, invalidValue, notSupportedString, path } from '../../api/field.ts'
import { badRequest, invalid, notFound, plainError } from '../../api/status.ts'
import { goQuote } from '../../go/quote.ts'
import { negotiateOutput } from '../../codec/negotiation/negotiate.ts'
import { answerHeaders } from '../../codec/respond.ts'
import { wholeAnswer } from '../../outgoing/bounded-answer.ts'
import type { ExchangeAnswer, Upgraded, WebSocketTranslation } from '../../outgoing/exchange.ts'
import { proxiedHeaders } from '../../outgoing/proxied-headers.ts'
import { hostPort } from '../../outgoing/host-port.ts'
import { readLive } from '../../registry/store.ts'
import type { Instant } from '../../schema/time.ts'
import { formatTime, parseTime, TimeError, ZERO_TIME_SECONDS } from '../../schema/time.ts'
import { NOT_NEGATIVE } from '../../validation/field-rules.ts'
import { visitContainers } from '../../validation/pod/visit-containers.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'
import type { QueryParameters } from '../../request/query-parameters.ts'
import { connectionUpgrades, wantsWebSocket } from '../../request/upgrade.ts'
import { remoteAnswer } from '../aggregation/remote-answer.ts'
import { logSocket } from './log-socket.ts'
import { asSpdy } from './websocket-as-spdy.ts'
import { connectionTo, kubeletError, reached } from '../nodes/node-connection.ts'
import { requestedList } from '../../codec/encode/partial-object-metadata.ts'
import { builtInFormsWithoutTable } from '../../codec/built-in-forms.ts'
import { CallFailed } from '../../webhooks/outgoing-call.ts'
import { notSent, notUpgraded } from './untranslated.ts'

/** GET pods/NAME/log */
export async function log(scope: RequestScope): Promise<Response> {
  const {
    request,
    place: { name },
    enabled,
  } = scope
  const output = negotiateOutput(request, {
    kind: 'object',
    forms: builtInFormsWithoutTable,
    produces: ['text/plain'],
  })
  const stream = enabled('PodLogsQuerySplitStreams') ? (request.query.get('stream') ?? ALL_STREAMS) : undefined
  const errors = validateLogOptions(request.query, stream)
  if (errors.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, name, errors)
  const pod = await podOf(scope)
  const container = containerOf(pod, request.query.get('container') ?? '')
  if (output.transform?.kind === 'PartialObjectMetadataList') throw requestedList('rest.LocationStreamer')
  if (output.transform !== undefined) throw plainError(NO_OBJECT)
  // a pod without a node has no logs
  if (!pod.spec?.nodeName) {
    const { 'Content-Type': _, ...headers } = answerHeaders('')
    return new Response(null, { status: 204, headers })
  }
  const node = await connectionTo(request, pod.spec.nodeName)
  const target = `/containerLogs/${placeOf(pod, container)}${queryText(logParameters(request.query, stream))}`
  const isInsecure = isTrue(request.query.get('insecureSkipTLSVerifyBackend'))
  const call = node.ask({ method: 'GET', target, headers: [], isInsecure })
  const answer = await reached(`Get ${goQuote(`https://${hostPort(node.host, node.port)}${target}`)}`, call)
  return logAnswer(scope, answer)
}

const ALL_STREAMS = 'All'
const STREAMS = ['Stdout', 'Stderr', ALL_STREAMS]

const NO_OBJECT = 'object does not implement the Object interfaces'

const MAX_ERROR = 50_000

async function logAnswer(
  { request, place: { name } }: RequestScope,
  answer: ExchangeAnswer | Upgraded,
): Promise<Response> {
  if ('upgraded' in answer) throw plainError('the node agreed to a protocol that nobody asked for')
  if (answer.status >= 200 && answer.status <= 206) {
    if (!wantsWebSocket(request.headers)) return new Response(answer.body, { headers: answerHeaders('text/plain') })
    const socket = logSocket(request.headers, socketPaceOf(request))
    if (socket instanceof Response) {
      void answer.body?.cancel()
      return socket
    }
    request.waitUntil(socket.send(answer.body))
    return socket.response
  }
  const { status, text } = await reached('the answer of the node', wholeAnswer(answer, MAX_ERROR))
  throw kubeletError(status, text, 'pods/log', name)
}

/**
 * The parameters for the kubelet in alphabetical order, without those that the client did not set. Values are those that
 * the options hold: an empty time is Go's zero time.
 * @param stream undefined where nobody may choose one
 */
export function logParameters(query: QueryParameters, stream?: string): [string, string][] {
  const flags = ['follow', 'previous', 'timestamps'].flatMap((name): [string, string][] =>
    isTrue(query.get(name)) ? [[name, 'true']] : [],
  )
  const numbers = ['limitBytes', 'sinceSeconds', 'tailLines'].flatMap((name): [string, string][] => {
    const value = query.get(name)
    return value === null ? [] : [[name, BigInt(value).toString()]]
  })
  const since = query.get('sinceTime')
  const times: [string, string][] = since === null ? [] : [['sinceTime', formatTime(timeOption(since))]]
  const streams: [string, string][] = stream === undefined ? [] : [['stream', stream]]
  return [...flags, ...numbers, ...times, ...streams].sort(([a], [b]) => (a < b ? -1 : 1))
}

export async function execOrAttach(scope: RequestScope): Promise<Response> {
  const { query } = scope.request
  const pod = await podOf(scope)
  const container = containerOf(pod, query.get('container') ?? '')
  const is = (name: string): boolean => isTrue(query.get(name))
  const flag = (name: string, shown: string): [string, string][] => (is(name) ? [[shown, '1']] : [])
  const parameters = [
    ...(scope.place.subresource === 'attach'
      ? []
      : query.getAll('command').map((word): [string, string] => ['command', word])),
    ...flag('stderr', 'error'),
    ...flag('stdin', 'input'),
    ...flag('stdout', 'output'),
    ...flag('tty', 'tty'),
  ]
  const streams = { stdin: is('stdin'), stdout: is('stdout'), stderr: is('stderr'), tty: is('tty') }
  return stream(scope, pod, `/${scope.place.subresource}/${placeOf(pod, container)}`, parameters, streams)
}

export async function portForward(scope: RequestScope): Promise<Response> {
  const pod = await podOf(scope)
  const ports = scope.request.query.getAll('ports').join(',')
  return stream(scope, pod, `/portForward/${placeOf(pod)}`, ports === '' ? [] : [['port', ports]])
}

/** NAMESPACE/POD[/CONTAINER]. These names need no encoding. */
const placeOf = ({ metadata }: Pod, container?: string): string =>
  [metadata.namespace, metadata.name, ...(container === undefined ? [] : [container])].join('/')

const queryText = (parameters: readonly [string, string][]): string =>
  parameters.length === 0 ? '' : `?${new URLSearchParams(parameters.map(([name, value]) => [name, value])).toString()}`

/** kube-apiserver takes any value of a boolean query parameter for true, except `false` and `0`. */
const isTrue = (text: string | null): boolean => text !== null && text.toLowerCase() !== 'false' && text !== '0'

async function stream(
  { request, place: { name } }: RequestScope,
  { spec }: Pod,
  path: string,
  parameters: readonly [string, string][],
  streams?: WebSocketTranslation['streams'],
): Promise<Response> {
  if (!spec?.nodeName) throw badRequest(`pod ${name} does not have a host assigned`)
  const node = await connectionTo(request, spec.nodeName)
  if (!connectionUpgrades(request.headers)) throw badRequest('Upgrade request required')
  const headers = proxiedHeaders(request.request, true)
  const inSpdy = node.speaksWebSocket ? undefined : asSpdy(headers, streams)
  const target = `${path}${queryText(parameters)}`
  const call = node.ask({ method: request.method, target, headers, upgrades: true, ...inSpdy })
  const translated = inSpdy?.translates?.streams
  if (translated !== undefined) {
    const answer = await call.catch((error: unknown) => failureOf(error))
    if (answer instanceof CallFailed)
      return notSent(translated, `https://${hostPort(node.host, node.port)}${target}`, answer)
    return 'upgraded' in answer ? remoteAnswer(answer, false) : notUpgraded(translated, answer)
  }
  const answer = await reached('error dialing backend', call)
  if (!('upgraded' in answer) && answer.status < 400) {
    void answer.body?.cancel()
    throw plainError(`invalid upgrade response: status code ${answer.status}`)
  }
  return remoteAnswer(answer, false)
}

function failureOf(error: unknown): CallFailed {
  if (error instanceof CallFailed) return error
  throw error
}

async function podOf(scope: RequestScope): Promise<Pod> {
  const live = await readLive(scope, scope.place.name)
  if (live === undefined) throw notFound(scope.resource.gvr, scope.place.name)
  return live.object as Pod
}

/** @throws StatusError 400 */
function containerOf({ metadata, spec = {} }: Pod, name: string): string {
  const all: readonly Container[] = visitContainers(spec, path('spec')).map(({ container }) => container)
  const names = all.map((container) => container.name ?? '')
  if (name !== '') {
    if (!names.includes(name)) throw badRequest(`container ${name} is not valid for pod ${metadata.name}`)
    return name
  }
  const containers = (spec.containers ?? []).length
  const needed = `a container name must be specified for pod ${metadata.name}`
  if (containers === 0) throw badRequest(needed)
  if (containers > 1) throw badRequest(`${needed}, choose one of: [${names.join(' ')}]`)
  return spec.containers?.[0]?.name ?? ''
}

/**
 * A whole number in the query.
 * @throws StatusError 400
 */
function integer(query: QueryParameters, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  if (BigInt.asIntN(64, BigInt(text)) !== BigInt(text))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`)
  return Number(text)
}

function validateLogOptions(query: QueryParameters, stream: string | undefined): FieldError[] {
  const sinceSeconds = integer(query, 'sinceSeconds')
  const sinceTime = query.get('sinceTime')
  if (sinceTime !== null) timeOption(sinceTime)
  const tailLines = integer(query, 'tailLines')
  const limitBytes = integer(query, 'limitBytes')
  const errors: FieldError[] = []
  if (tailLines !== undefined && tailLines < 0) errors.push(invalidValue(path('tailLines'), tailLines, NOT_NEGATIVE))
  if (limitBytes !== undefined && limitBytes < 1)
    errors.push(invalidValue(path('limitBytes'), limitBytes, 'must be greater than 0'))
  if (sinceSeconds !== undefined && sinceTime !== null)
    errors.push(forbiddenField(FieldPath.root.key(''), 'at most one of `sinceTime` or `sinceSeconds` may be specified'))
  else if (sinceSeconds !== undefined && sinceSeconds < 1)
    errors.push(invalidValue(path('sinceSeconds'), sinceSeconds, 'must be greater than 0'))
  if (stream === undefined) {
    if (query.get('stream') !== null) errors.push(forbiddenField(path('stream'), 'may not be specified'))
    return errors
  }
  if (!STREAMS.includes(stream)) errors.push(notSupportedString(path('stream'), stream, STREAMS))
  if (stream !== ALL_STREAMS && tailLines !== undefined)
    errors.push(
      forbiddenField(FieldPath.root.key(''), '`tailLines` and specific `stream` are mutually exclusive for now'),
    )
  return errors
}

/** @throws StatusError 400 */
function timeOption(text: string): Instant {
  if (text === '' || text === 'null') return { seconds: ZERO_TIME_SECONDS, nanos: 0 }
  try {
    return parseTime(text)
  } catch (error) {
    if (error instanceof TimeError) throw badRequest(error.message)
    throw error
  }
}
