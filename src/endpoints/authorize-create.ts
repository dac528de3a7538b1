import { attributesOf } from '../authorization/attributes.ts'
import { authorize } from '../authorization/authorize.ts'
import { assertAuthorized } from '../authorization/authorized.ts'
import type { RequestScope } from '../registry/resource-scope.ts'
import { actionOf } from '../registry/resource-scope.ts'

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
