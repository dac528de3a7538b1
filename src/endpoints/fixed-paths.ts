/**
 * Every path without a resource: discovery, OpenAPI, version, health, metrics. One router has them all. A path without
 * a route is `404 page not found`, or a Status below a built-in group.
 */
import { HonoBase } from 'hono/hono-base'
import { LinearRouter } from 'hono/router/linear-router'
import { methodNotAllowed, notServed } from '../api/status.ts'
import { assertPrivileged, isPrivilegedPath, privilegedPaths } from '../authorization/privileged-paths.ts'
import type { PrivilegedPath } from '../authorization/privileged-paths.ts'
import type { ServedResources } from '../registry/resources.ts'
import { builtInServed } from '../registry/built-in-served.ts'
import { freshServedResources } from '../registry/served.ts'
import type { ApiRequest } from '../request/context.ts'
import { serveRemote } from './aggregation/proxy.ts'
import { serveShardStats } from './debug.ts'
import { serveBackup } from './backup.ts'
import { serveRestore } from './restore.ts'
import { serveApiGroup, serveApiGroupList, serveApiResourceList, serveApiVersions } from './discovery/serve.ts'
import { healthEndpoints, serveHealth } from './health.ts'
import { serveMetrics } from './metrics.ts'
import { serveOpenApiV2, serveOpenApiV3 } from './openapi.ts'
import { requireProduced, serveKeySet, serveOpenIdConfiguration } from './openid.ts'
import { rootPaths } from './root-paths.ts'
import { NO_CACHE, notFoundText, textResponse } from './text-response.ts'
import { versionInfo } from './version.ts'
import { serveFlagz, serveStatusz } from './zpages.ts'

export { notFoundText } from './text-response.ts'

/** Undefined for a request of a resource. @throws StatusError */
export function serveFixedPath(request: ApiRequest, served: ServedResources): Response | Promise<Response> | undefined {
  const remote = remoteVersion(request.info.path, served)
  if (remote !== undefined) return serveRemote(request, ...remote)
  if (request.info.isResourceRequest && isRoutable(request)) return undefined
  return answer(request, served)
}

/** Hono answers a HEAD as a GET without its body. */
async function answer(request: ApiRequest, served: ServedResources): Promise<Response> {
  // before something is called unknown, the newest definitions are asked for
  if (!isKnown(request.info.path, served)) {
    served = await freshServedResources(request)
    const remote = remoteVersion(request.info.path, served)
    if (remote !== undefined) return serveRemote(request, ...remote)
  }
  return routes.fetch(request.request, { request, served })
}

/** Served by another server, as an APIService says; the path may go on behind the version. */
function remoteVersion(path: string, served: ServedResources): [group: string, version: string] | undefined {
  const [, group = '', version = ''] = /^\/apis\/([^/]+)\/([^/]+)/.exec(path) ?? []
  return served.version(group, version)?.remote === true ? [group, version] : undefined
}

/** Names that are empty lead nowhere, though the path can be read as a resource's. */
const isRoutable = ({ info }: ApiRequest): boolean => !/^\/\/|[^/]\/\/+[^/]/.test(info.path)

/** Whether a path below `/apis` or `/openapi/v3/apis` names a group and version that are served; true elsewhere. */
function isKnown(path: string, served: ServedResources): boolean {
  const [, group, version] = /^(?:\/openapi\/v3)?\/apis\/([^/]+)(?:\/([^/]+))?/.exec(path) ?? []
  if (group === undefined) return true
  return version === undefined ? served.group(group) !== undefined : served.isServedGroupVersion(group, version)
}

type Serve = (request: ApiRequest, served: ServedResources) => Response | Promise<Response>

/** Routed: only GET is answered. @throws StatusError 405 */
const routed =
  (serve: Serve): Serve =>
  (request, served) => {
    if (request.method !== 'GET') throw methodNotAllowed()
    return serve(request, served)
  }

const serveRoot: Serve = async ({ env }, served) => {
  await served.read()
  return indentedJson({ paths: rootPaths(served, builtInServed(env).gates) })
}

/** Whatever the client accepts. */
const indentedJson = (document: object): Response =>
  new Response(JSON.stringify(document, null, 2), {
    headers: { 'Cache-Control': NO_CACHE, 'Content-Type': 'application/json' },
  })

const serveVersion = routed((request) => {
  requireProduced(request, 'application/json')
  return indentedJson(versionInfo())
})

/** Members of system:masters only. */
const privileged: Readonly<Record<PrivilegedPath, Serve>> = {
  '/backup': routed(serveBackup),
  '/debug/shards': routed(serveShardStats),
  '/restore': (request) => serveRestore(request),
}

/** Each without anything behind it, a slash neither. */
const exactPaths: Readonly<Record<string, Serve>> = {
  '/': serveRoot,
  '/index.html': serveRoot,
  '/api': serveApiVersions,
  '/api/': serveApiVersions,
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
  '/flagz': serveFlagz,
  '/statusz': serveStatusz,
  '/debug/pprof': redirectToProfiles,
  '/debug/flags/v': () => unsupportedMethod(),
}

interface FixedPaths {
  Bindings: { readonly request: ApiRequest; readonly served: ServedResources }
}

const routes = new HonoBase<FixedPaths>({
  router: new LinearRouter(),
  // as it came: Hono's own getPath decodes it once more
  getPath: (_request, options) => options!.env!.request.info.path,
})

const at = (path: string, serve: Serve): void => {
  routes.all(path, ({ env }) => serve(env.request, env.served))
}

for (const path of privilegedPaths)
  at(path, (request, served) => {
    // authorization knows the path without a slash behind
    if (!isPrivilegedPath(request.info.path)) return notFoundText()
    assertPrivileged(request.user)
    return privileged[path](request, served)
  })
// Hono takes a slash at the end for nothing; kube-apiserver's `/apis/` is another path than `/apis`
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
at('/api/*', (request, served) => serveGroupVersion(request, served, '', request.info.path.split('/').slice(2)))
at('/apis/*', (request, served) => serveGroup(request, served, request.info.path.split('/').slice(2)))
routes.notFound(() => notFoundText())
routes.onError((error) => {
  throw error
})

/** Below `/apis`: `GROUP`, `GROUP/VERSION`, each perhaps with a slash behind. */
function serveGroup(request: ApiRequest, served: ServedResources, names: readonly string[]): Response {
  const [name = '', ...rest] = names
  const group = name === '' ? undefined : served.group(name)
  if (group === undefined) return notFoundText()
  if (rest.length === 0 || (rest.length === 1 && rest[0] === '')) return serveApiGroup(request, group)
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

/** A running server cannot change its log level. */
function unsupportedMethod(): Response {
  const response = textResponse('unsupported http method\n', { status: 406 })
  response.headers.set('Content-Type', 'text/plain')
  return response
}
