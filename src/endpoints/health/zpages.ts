/**
 * `/flagz` and `/statusz`: the server's settings and state, as text for people and as config.k8s.io objects for
 * programs.
 */
import { settingsOf } from '../../settings.ts'
import type { JsonObject } from '../../api/object.ts'
import { notAcceptable } from '../../api/status.ts'
import { covers, parseAccept } from '../../codec/negotiation/media-type.ts'
import { timeText } from '../../schema/time.ts'
import type { ApiRequest } from '../../request/context.ts'
import { respondDocument } from '../discovery/respond-document.ts'
import { textResponse } from '../documents/text-response.ts'
import { RELEASE, versionInfo } from '../documents/version.ts'

type Page = 'Flagz' | 'Statusz'

const versions = ['v1alpha1', 'v1beta1']
const structured = { 'application/json': 'json', 'application/yaml': 'yaml' } as const

interface Form {
  /** Undefined means text. */
  readonly target?: { readonly serialization: 'json' | 'yaml'; readonly version: string }
}

/** @throws StatusError 406 */
function formOf({ headers }: ApiRequest, page: Page): Form {
  const accept = headers.get('Accept') ?? ''
  if (accept.trim() === '') return {}
  for (const clause of parseAccept(accept)) {
    const { parameters } = clause
    const version = parameters.get('v') ?? ''
    const named = parameters.get('as') === page && parameters.get('g') === 'config.k8s.io' && versions.includes(version)
    for (const [mediaType, serialization] of Object.entries(structured))
      if (named && covers(clause, mediaType)) return { target: { serialization, version } }
    if (covers(clause, 'text/plain') && !parameters.has('as')) return {}
  }
  throw notAcceptable(['application/json', 'application/yaml', 'text/plain'])
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
  const apiVersion = `config.k8s.io/${target.version}`
  const mediaType = target.serialization === 'json' ? 'application/json' : 'application/yaml'
  return respondDocument(
    { serialization: target.serialization, pretty: false },
    { kind: page, apiVersion, metadata: { name: 'apiserver' }, ...fields },
    { contentType: `${mediaType};g=config.k8s.io;v=${target.version};as=${page}` },
  )
}

/** The settings that clients can notice, under the names of kube-apiserver's flags. */
function flagsOf({ env }: ApiRequest): Record<string, string> {
  const { featureGates, runtimeConfig, issuers, serviceRange } = settingsOf(env)
  const flags: Record<string, string> = {
    'allow-privileged': 'true',
    'anonymous-auth': 'true',
    'authorization-mode': '[Node,RBAC]',
    'enable-bootstrap-token-auth': 'true',
    'feature-gates': featureGates,
    'runtime-config': runtimeConfig,
    'service-account-issuer': `[${issuers.join(' ')}]`,
    'service-cluster-ip-range': serviceRange,
    'service-node-port-range': '30000-32767',
  }
  return flags
}

export function serveFlagz(request: ApiRequest): Response {
  const flags = flagsOf(request)
  const text = () =>
    `${heading('flagz')}\n${Object.entries(flags)
      .map(([name, value]) => `${name}=${value}\n`)
      .join('')}`
  return respond(request, 'Flagz', { flags }, text)
}

const paths = ['/flagz', '/healthz', '/livez', '/metrics', '/readyz', '/statusz', '/version']

let startedAt: Date | undefined

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
    `${heading('statusz')}\nStarted: ${startedAt!.toUTCString()}\nUp: ${uptimeSeconds}s\nGo version: ${fields.goVersion}\nBinary version: ${fields.binaryVersion}\nEmulation version: ${release}\nPaths: ${paths.join(' ')}\n`
  return respond(request, 'Statusz', fields, text)
}
