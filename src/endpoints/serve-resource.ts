/** Finds the verb of a RequestInfo and runs it, exactly as it was authorized. */
import { notServed } from '../api/status.ts'
import type { Authorized } from '../authorization/authorized.ts'
import { assertAuthorized } from '../authorization/authorized.ts'
import type { ApiRequest } from '../request/context.ts'
import type { ResourceEntry, ServedResources } from '../registry/served/resources.ts'
import { checkNameParameter } from '../registry/key-name.ts'
import { serveRemote } from './aggregation/proxy.ts'
import { freshServedResources } from '../registry/served/served.ts'
import type { Handlers } from './handlers.ts'
import { handlerOf } from './handlers.ts'
import type { RequestScope } from '../registry/resource-scope.ts'
import { actionOf } from '../registry/resource-scope.ts'
import type { Route } from './route.ts'
import { routeOf } from './route.ts'
import { readyResource } from '../registry/resource-of.ts'
import { resourceScope } from '../registry/scope.ts'
import { notFoundText } from './documents/text-response.ts'

/** @param served the served resources at the start of the request */
export async function serveResource(
  request: ApiRequest,
  authorized: Authorized,
  served: ServedResources,
  table: Handlers,
): Promise<Response> {
  const { info, method } = request
  let entry = served.find(info.apiGroup, info.apiVersion, info.resource)
  if (entry === undefined && !served.isBuiltInGroup(info.apiGroup)) {
    // the definition may be new
    served = await freshServedResources(request)
    entry = served.find(info.apiGroup, info.apiVersion, info.resource)
    if (served.version(info.apiGroup, info.apiVersion)?.remote === true)
      return serveRemote(request, info.apiGroup, info.apiVersion)
  }
  const builtIn = info.apiPrefix === 'api' || served.isBuiltInGroup(info.apiGroup)
  if (entry === undefined) {
    if (builtIn) throw notServed()
    return notFoundText()
  }
  const route = warned(request, entry, () => routeOf(entry, info, method, builtIn))
  if (route === undefined) return notFoundText()
  const reading = readyResource(request, entry)
  if (reading !== undefined) await reading
  request.stage.maker = 'handler'
  const scope = resourceScope(request, entry, route)
  // the verbs check the name themselves, after other parts of the request
  if (route.name !== '' && scope.resource.endpoint !== undefined) checkNameParameter(route.name)
  return perform(authorized, route, scope, table)
}

/** Warns that a version is deprecated where there is a route, or where its server warns of refusals as well. */
function warned(request: ApiRequest, entry: ResourceEntry, findRoute: () => Route | undefined): Route | undefined {
  const { warnings, record } = request
  const { deprecationWarning: warning } = entry
  try {
    const route = findRoute()
    if (route !== undefined && warning !== undefined) {
      warnings.push(warning)
      record?.annotate('k8s.io/deprecated', 'true')
      if (entry.removedRelease !== undefined) record?.annotate('k8s.io/removed-release', entry.removedRelease)
    }
    return route
  } catch (refusal) {
    if (entry.serving.warnsWhenRefused && warning !== undefined) warnings.push(warning)
    throw refusal
  }
}

/** The only way to a handler. */
function perform(authorized: Authorized, route: Route, scope: RequestScope, table: Handlers): Promise<Response> {
  const handler = handlerOf(table, route, scope.resource.endpoint)
  assertAuthorized(authorized, actionOf(scope, route.verb))
  return handler(scope, route.verb, route.deeper)
}
