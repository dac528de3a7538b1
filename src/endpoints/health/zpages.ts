/**
 * `/flagz` and `/statusz`: the server's settings and state, as text for people and as config.k8s.io objects for
 * programs.
 */
import { settingsOf } from '../../settings.ts'
import type { JsonObject } from '../../api/object.ts'
import { notAcceptable } from '../../api/status.ts'
import { encodeCborValue } from '../../codec/cbor/encode.ts'
import { covers, parseAccept } from '../../codec/negotiation/media-type.ts'
import { mediaTypes } from '../../codec/negotiation/negotiate.ts'
import { answerHeaders } from '../../codec/respond.ts'
import { formatDuration, timeText } from '../../schema/time.ts'
import type { ApiRequest } from '../../request/context.ts'
import { respondDocument } from '../discovery/respond-document.ts'
import { textResponse } from '../documents/text-response.ts'
import { RELEASE, versionInfo } from '../documents/version.ts'

type Page = 'Flagz' | 'Statusz'

const versions = ['v1alpha1', 'v1beta1']
type Structured = 'json' | 'yaml' | 'cbor'

interface Form {
  /** Undefined means text. */
  readonly target?: { readonly serialization: Structured; readonly version: string }
}

/** @throws StatusError 406 */
function formOf({ env, headers }: ApiRequest, page: Page): Form {
  const isCborOn = settingsOf(env).gates.enabled('CBORServingAndStorage')
  const structured: readonly Structured[] = isCborOn ? ['json', 'yaml', 'cbor'] : ['json', 'yaml']
  const accept = headers.get('Accept') ?? ''
  if (accept.trim() === '') return {}
  for (const clause of parseAccept(accept)) {
    const { parameters } = clause
    const version = parameters.get('v') ?? ''
    const named = parameters.get('as') === page && parameters.get('g') === 'config.k8s.io' && versions.includes(version)
    const serialization = named ? structured.find((one) => covers(clause, mediaTypes[one])) : undefined
    if (serialization !== undefined) return { target: { serialization, version } }
    if (covers(clause, 'text/plain') && !parameters.has('as')) return {}
  }
  const cbor = isCborOn ? [mediaTypes.cbor] : []
  throw notAcceptable([mediaTypes.json, mediaTypes.yaml, 'text/plain', ...cbor])
}

const heading = (page: string): string =>
  `\napiserver ${page}\nWarning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.\n`

function respond(request: ApiRequest, page: Page, fields: JsonObject, text: () => string): Response {
  const { target } = formOf(request, page)
  if (target === undefined) return textResponse(text())
  if (target.version === 'v1alpha1')
    request.warnings.push(
      `This version of the ${page.toLowerCase()} endpoint is deprecated. Please use a newer version.`,
    )
  const { serialization, version } = target
  const document = { kind: page, apiVersion: `config.k8s.io/${version}`, metadata: { name: 'apiserver' }, ...fields }
  const contentType = `${mediaTypes[serialization]};g=config.k8s.io;v=${version};as=${page}`
  if (serialization === 'cbor') return new Response(encodeCborValue(document), { headers: answerHeaders(contentType) })
  return respondDocument({ serialization, pretty: false }, document, { contentType })
}

const duration = (milliseconds: number): string => formatDuration(BigInt(milliseconds) * 1_000_000n)

/** The settings that clients can notice, under the names of kube-apiserver's flags, in their order. */
function flagsOf({ env }: ApiRequest): Record<string, string> {
  const settings = settingsOf(env)
  const { anonymousAuth = true, authorizationConfig, eventLifetime = 0, nodePorts } = settings
  const flags: Record<string, string> = {
    'allow-privileged': 'true',
    'anonymous-auth': String(anonymousAuth),
    'api-audiences': `[${settings.audiences.join(',')}]`,
    // a configuration has authorizers of its own
    ...(authorizationConfig === undefined && { 'authorization-mode': '[Node,RBAC]' }),
    'enable-bootstrap-token-auth': 'true',
    'event-ttl': duration(eventLifetime),
    'feature-gates': settings.featureGates,
    'min-request-timeout': String(settings.watchSeconds),
    'request-timeout': duration(settings.requestTime),
    'runtime-config': settings.runtimeConfig,
    'service-account-extend-token-expiration': String(settings.extendsTokens),
    'service-account-issuer': `[${settings.issuers.join(',')}]`,
    'service-cluster-ip-range': settings.serviceRange,
    'service-node-port-range': `${nodePorts.first}-${nodePorts.last}`,
  }
  return flags
}

export function serveFlagz(request: ApiRequest): Response {
  const flags = flagsOf(request)
  const text = () =>
    `${heading('flagz')}${Object.entries(flags)
      .map(([name, value]) => `${name}=${value}\n`)
      .join('')}`
  return respond(request, 'Flagz', { flags }, text)
}

const paths = ['/flagz', '/healthz', '/livez', '/metrics', '/readyz', '/statusz', '/version']

let startedAt: Date | undefined

/** Go's layout UnixDate: `Mon Jan  2 15:04:05 UTC 2006`. */
function unixDate(date: Date): string {
  const [weekday = '', day = '', month, year, time] = date.toUTCString().split(' ')
  return `${weekday.slice(0, 3)} ${month} ${String(Number(day)).padStart(2)} ${time} UTC ${year}`
}

function uptime(seconds: number): string {
  const twoDigits = (part: number): string => String(Math.floor(part)).padStart(2, '0')
  return `${Math.floor(seconds / 3600)} hr ${twoDigits((seconds % 3600) / 60)} min ${twoDigits(seconds % 60)} sec`
}

export function serveStatusz(request: ApiRequest): Response {
  startedAt ??= request.now
  const uptimeSeconds = Math.floor((request.now.getTime() - startedAt.getTime()) / 1000)
  const { goVersion } = versionInfo()
  const release = `${RELEASE.major}.${RELEASE.minor}`
  const fields = {
    startTime: timeText(startedAt),
    uptimeSeconds,
    goVersion: String(goVersion),
    binaryVersion: RELEASE.gitVersion.slice(1),
    emulationVersion: release,
    paths,
  }
  const text = () =>
    `${heading('statusz')}\nStarted: ${unixDate(startedAt!)}\nUp: ${uptime(uptimeSeconds)}\nGo version: ${fields.goVersion}\nBinary version: ${fields.binaryVersion}\nEmulation version: ${release}\nPaths: ${paths.join(' ')}\n`
  return respond(request, 'Statusz', fields, text)
}
