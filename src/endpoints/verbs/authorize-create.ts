import { forbidden, internalError } from '../../api/status.ts'
import { attributesOf } from '../../authorization/attributes.ts'
import { authorize, verdictOn } from '../../authorization/authorize.ts'
import { assertAuthorized } from '../../authorization/authorized.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'
import { actionOf } from '../../registry/resource-scope.ts'

/**
 * An update or apply that creates an object also needs the permission to create.
 * @throws StatusError 403
 */
export async function authorizeCreate(scope: RequestScope): Promise<void> {
  const {
    request,
    place: { name },
  } = scope
  const asked = { ...attributesOf(request.user, request.info, request.query), verb: 'create', name }
  assertAuthorized(await authorize(request, asked), actionOf(scope, 'create'))
}

/**
 * A stream to a pod needs the permission to create by every method: a WebSocket begins with a GET, and the right to
 * read must not run commands.
 * @throws StatusError 403, 500
 */
export async function authorizeStream({ request, resource: { gvr }, enabled }: RequestScope): Promise<void> {
  if (request.info.verb === 'create' || !enabled('AuthorizePodWebsocketUpgradeCreatePermission')) return
  const asked = { ...attributesOf(request.user, request.info, request.query), verb: 'create' }
  const { allowed, reason, error } = await verdictOn(request, asked)
  if (allowed) return
  if (error !== undefined) throw internalError(`an authorizer could not be asked: create ${asked.path}`)
  throw forbidden(gvr, asked.name, reason)
}
