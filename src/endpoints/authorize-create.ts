import { attributesOf } from '../authorization/attributes.ts'
import { authorize } from '../authorization/authorize.ts'
import { assertAuthorized } from '../authorization/authorized.ts'
import type { RequestScope } from '../registry/resource-scope.ts'
import { actionOf } from '../registry/resource-scope.ts'

/** A write that turns out to create needs the permission to create too. @throws 403 */
export async function authorizeCreate(scope: RequestScope): Promise<void> {
  const {
    request,
    place: { name },
  } = scope
  const asked = { ...attributesOf(request.user, request.info, request.query), verb: 'create', name }
  assertAuthorized(await authorize(request, asked), actionOf(scope, 'create'))
}
