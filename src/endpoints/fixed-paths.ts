/**
 * Every path that is no resource: discovery, OpenAPI, version, health, metrics. One router serves them. A path
 * without a route gets `404 page not found`, or a Status below a built-in group.
 */
import { HonoBase } from 'hono/hono-base'
import { LinearRouter } from 'hono/router/linear-router'
import { methodNotAllowed, notServed } from '../api/status.ts'
import { assertPrivileged, isPrivilegedPath, privilegedPaths } from '../authorization/privileged-paths.ts'
import type { PrivilegedPath } from '../authorization/privileged-paths.ts'
import type { ServedResources } from '../registry/served/resources.ts'
import { builtInServed } from '../registry/served/built-in-served.ts'
import { freshServedResources } from '../registry/served/served.ts'
import { withoutEmptyNames } from '../request/request-info.ts'
import type { ApiRequest } from '../request/context.ts'
import { serveRemote } from './aggregation/proxy.ts'
import { serveShardStats } from './health/debug.ts'
import { serveBackup } from './backup/backup.ts'
import { serveRestore } from './backup/restore.ts'
import { serveApiGroup, serveApiGroupList, serveApiResourceList, serveApiVersions } from './discovery/serve.ts'
import { healthEndpoints, serveHealth } from './health/health.ts'
import { serveMetrics } from './metrics/metrics.ts'
import { serveOpenApiV2, serveOpenApiV3 } from './documents/openapi.ts'
import { requireProduced, serveKeySet, serveOpenIdConfiguration } from './documents/openid.ts'
import { rootPaths } from './documents/root-paths.ts'
import { NO_CACHE, notFoundText, textResponse } from './documents/text-response.ts'
import { versionInfo } from './documents/version.ts'
import { serveFlagz, serveStatusz } from './health/zpages.ts'

export { notFoundText } from './documents/text-response.ts'

/**
 * Undefined for resource requests.
 * @throws StatusError
 */
export function serveFixedPath(request: ApiRequest, served: ServedResources): Response | Promise<Response> | undefined {
  const remote = remoteVersion(request.info.path, served)
  if (remote !== undefined) return serveRemote(request, ...remote)
  if (request.info.isResourceRequest && isRoutable(request)) return undefined
  return answer(request, served)
}

/** Hono answers a HEAD as a GET without its body. */
async function answer(request: ApiRequest, served: ServedResources): Promise<Response> {
  // before a path is answered with 404, the newest definitions are read
  if (!isKnown(request.info.path, served)) {
    served = await freshServedResources(request)
    const remote = remoteVersion(request.info.path, served)
    if (remote !== undefined) return serveRemote(request, ...remote)
  }
  return routes.fetch(request.request, { request, served })
}

/** The group version in the path, where an APIService says that another server serves it. */
function remoteVersion(path: string, served: ServedResources): [group: string, version: string] | undefined {
  const [, group = '', version = ''] = /^\/apis\/([^/]+)\/([^/]+)/.exec(path) ?? []
  return served.version(group, version)?.remote === true ? [group, version] : undefined
}

/**
 * A path with an empty part inside is not routed, even where it could be parsed as a resource's path, unless the part
 * is the name of a namespace or of an object. Behind a proxy any path may follow.
 */
const isRoutable = ({ info }: ApiRequest): boolean =>
  !/^\/\/|[^/]\/\/+[^/]/.test(withoutEmptyNames(info.path)) || (info.subresource === 'proxy' && PROXIED.test(info.path))

const PROXIED = /^\/api\/v1(?:\/namespaces\/[^/]+)?\/[^/]+\/[^/]*\/proxy\//

/** Whether a path below `/apis` or `/openapi/v3/apis` names a group and version that are served; true elsewhere. */
function isKnown(path: string, served: ServedResources): boolean {
  const [, group, version] = /^(?:\/openapi\/v3)?\/apis\/([^/]+)(?:\/([^/]+))?/.exec(path) ?? []
  if (group === undefined) return true
  return version === undefined ? served.group(group) !== undefined : served.isServedGroupVersion(group, version)
}

type Serve = (request: ApiRequest, served: ServedResources) => Response | Promise<Response>

/**
 * A path that allows only GET.
 * @throws StatusError 405
 */
const routed =
  (serve: Serve): Serve =>
  (request, served) => {
    if (request.method !== 'GET') throw methodNotAllowed()
    return serve(request, served)
  }

/** A path that exists while its feature gate is on. */
const gated =
  (gate: string, serve: Serve): Serve =>
  (request, served) =>
    builtInServed(request.env).gates.enabled(gate) ? serve(request, served) : notFoundText()

const serveRoot: Serve = async ({ env }, served) => {
  await served.read()
  return indentedJson({ paths: rootPaths(served, builtInServed(env).gates) })
}

/** JSON, whatever the client accepts. */
const indentedJson = (document: object): Response =>
  new Response(JSON.stringify(document, null, 2), {
    headers: { 'Cache-Control': NO_CACHE, 'Content-Type': 'application/json' },
  })

const serveVersion = routed((request) => {
  requireProduced(request, 'application/json')
  return indentedJson(versionInfo())
})

/** Paths for members of system:masters only. */
const privileged: Readonly<Record<PrivilegedPath, Serve>> = {
  '/backup': routed(serveBackup),
  '/debug/shards': routed(serveShardStats),
  '/restore': (request) => serveRestore(request),
}

/** Paths that match only without a slash or anything else at the end. */
const exactPaths: Readonly<Record<string, Serve>> = {
  '/': serveRoot,
  '/index.html': serveRoot,
  '/api': serveApiVersions,
  '/apis': (request, served) => serveApiGroupList(request, served, true),
  '/apis/': (request, served) => serveApiGroupList(request, served, false),
  '/version': serveVersion,
  '/version/': serveVersion,
  '/metrics': (request) => serveMetrics(request, { slis: false }),
  '/metrics/slis': (request) => serveMetrics(request, { slis: true }),
  '/openapi/v2': serveOpenApiV2,
  '/openapi/v3': (request, served) => serveOpenApiV3(request, served, ''),
  '/.well-known/openid-configuration': routed(serveOpenIdConfiguration),
  '/.well-known/openid-configuration/': routed(serveOpenIdConfiguration),
  '/openid/v1/jwks': routed(serveKeySet),
  '/openid/v1/jwks/': routed(serveKeySet),
  '/flagz': gated('ComponentFlagz', serveFlagz),
  '/statusz': gated('ComponentStatusz', serveStatusz),
  '/debug/pprof': redirectToProfiles,
  '/debug/flags/v': () => unsupportedMethod(),
}

interface FixedPaths {
  Bindings: { readonly request: ApiRequest; readonly served: ServedResources }
}

const routes = new HonoBase<FixedPaths>({
  router: new LinearRouter(),
  // the path as received: Hono's own getPath would decode it again
  getPath: (_request, options) => options!.env!.request.info.path,
})

const at = (path: string, serve: Serve): void => {
  routes.all(path, ({ env }) => serve(env.request, env.served))
}

for (const path of privilegedPaths)
  at(path, (request, served) => {
    // authorization knows only the path without a slash at the end
    if (!isPrivilegedPath(request.info.path)) return notFoundText()
    assertPrivileged(request.user)
    return privileged[path](request, served)
  })
// Hono ignores a slash at the end, but in kube-apiserver `/apis/` is another path than `/apis`
for (const [path, serve] of Object.entries(exactPaths))
  routes.all(path, ({ env }, next) => (env.request.info.path === path ? serve(env.request, env.served) : next()))
at('/openapi/v3/*', (request, served) => serveOpenApiV3(request, served, request.info.path.slice('/openapi/v3'.length)))
at('/debug/pprof/*', () => notFoundText('Unknown profile'))
for (const path of ['/version/*', '/openid/v1/jwks/*', '/.well-known/openid-configuration/*'])
  at(path, () => {
    throw notServed()
  })
for (const endpoint of healthEndpoints)
  at(`/${endpoint}/*`, (request) => serveHealth(request, endpoint, request.info.path.slice(endpoint.length + 1)))
at('/api/*', (request, served) => {
  const names = request.info.path.split('/').slice(2)
  // here more slashes change nothing
  return names.every((name) => name === '')
    ? serveApiVersions(request, served)
    : serveGroupVersion(request, served, '', names)
})
at('/apis/*', (request, served) => serveGroup(request, served, request.info.path.split('/').slice(2)))
routes.notFound(() => notFoundText())
routes.onError((error) => {
  throw error
})

/** Paths below `/apis`: `GROUP` or `GROUP/VERSION`, with any number of slashes at the end. */
function serveGroup(request: ApiRequest, served: ServedResources, names: readonly string[]): Response {
  const [name = '', ...rest] = names
  const group = name === '' ? undefined : served.group(name)
  if (group === undefined) return notFoundText()
  if (rest.every((one) => one === '')) return serveApiGroup(request, group)
  return serveGroupVersion(request, served, name, rest)
}

function serveGroupVersion(
  request: ApiRequest,
  served: ServedResources,
  group: string,
  [name = '', ...rest]: readonly string[],
): Response {
  const version = served.version(group, name)
  if (version !== undefined && version.unreachable !== true && rest.every((one) => one === ''))
    return serveApiResourceList(request, served, group, version)
  if (!served.isBuiltInGroup(group)) return notFoundText()
  throw notServed()
}

function redirectToProfiles(): Response {
  return new Response('<a href="/debug/pprof/">Found</a>.\n\n', {
    status: 302,
    headers: { 'Cache-Control': NO_CACHE, 'Content-Type': 'text/html; charset=utf-8', Location: '/debug/pprof/' },
  })
}

/** The answer to a change of the log level, which a running server cannot make. */
function unsupportedMethod(): Response {
  const response = textResponse('unsupported http method\n', { status: 406 })
  response.headers.set('Content-Type', 'text/plain')
  return response
}
