import type { GroupVersionKind } from '../../api/group-version.ts'
import { methodNotAllowed } from '../../api/status.ts'
import { createToken } from '../../registry/authentication/token-request.ts'
import { ofKind } from '../../registry/resource.ts'
import type { Review } from '../../registry/review.ts'
import { typeOfKind } from '../../schema/built-in.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'
import { review } from './review.ts'
import type { Verb } from '../../registry/served/serving.ts'

const TOKEN_REQUEST: GroupVersionKind = { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' }

/** POST serviceaccounts/NAME/token. */
export function token(scope: RequestScope, verb: Verb | ''): Promise<Response> {
  if (verb !== 'create') throw methodNotAllowed()
  const type = typeOfKind(TOKEN_REQUEST)!
  const asRequest: RequestScope = { ...scope, resource: ofKind(scope.resource, TOKEN_REQUEST, type) }
  const answer: Review = (request, object, admitted) => createToken(request, scope.place, object, admitted)
  return review(asRequest, answer, { keepsSystemFields: true })
}
