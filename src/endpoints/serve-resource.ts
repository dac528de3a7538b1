/** Finds the verb of a RequestInfo and runs it, exactly as it was authorized. */
import { notServed } from '../api/status.ts'
import type { Authorized } from '../authorization/authorized.ts'
import { assertAuthorized } from '../authorization/authorized.ts'
import type { ApiRequest } from '../request/context.ts'
import type { ServedResources } from '../registry/resources.ts'
import { checkNameParameter } from '../registry/store.ts'
import { serveRemote } from './aggregation/proxy.ts'
import { freshServedResources } from '../registry/served.ts'
import type { Handlers } from './handlers.ts'
import { handlerOf } from './handlers.ts'
import type { RequestScope } from '../registry/resource-scope.ts'
import { actionOf } from '../registry/resource-scope.ts'
import type { Route } from './route.ts'
import { routeOf } from './route.ts'
import { readyResource } from '../registry/resource-of.ts'
import { resourceScope } from '../registry/scope.ts'
import { notFoundText } from './text-response.ts'

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
  const route = routeOf(entry, info, method, builtIn)
  if (route === undefined) return notFoundText()
  if (entry.deprecationWarning !== undefined) {
    request.warnings.push(entry.deprecationWarning)
    request.record?.annotate('k8s.io/deprecated', 'true')
    if (entry.removedRelease !== undefined) request.record?.annotate('k8s.io/removed-release', entry.removedRelease)
  }
  const reading = readyResource(request, entry)
  if (reading !== undefined) await reading
  request.stage.maker = 'handler'
  const scope = resourceScope(request, entry, route)
  if (route.name !== '') checkNameParameter(route.name)
  return perform(authorized, route, scope, table)
}

/** The only way to a handler. */
function perform(authorized: Authorized, route: Route, scope: RequestScope, table: Handlers): Promise<Response> {
  const handler = handlerOf(table, route, scope.resource.endpoint)
  assertAuthorized(authorized, actionOf(scope, route.verb))
  return handler(scope, route.verb, route.deeper)
}
