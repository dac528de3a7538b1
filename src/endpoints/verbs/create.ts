import { admissionChain } from '../../admission/chain.ts'
import { negotiateInput, negotiateOutput } from '../../codec/negotiation/negotiate.ts'
import { reviewOf } from '../../registry/review.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'
import { create as createObject } from '../../registry/write/create.ts'
import { parseCreateOptions } from '../../request/options.ts'
import { decodeBody, readBody } from '../bodies/decode-body.ts'
import { respondWritten } from './respond-written.ts'
import { review } from './review.ts'
import { withManager } from './with-manager.ts'

export async function create(scope: RequestScope): Promise<Response> {
  const { request } = scope
  const answer = reviewOf(scope.resource.gvr)
  if (answer !== undefined) return review(scope, answer)
  const output = negotiateOutput(request, { kind: 'object', forms: scope.resource.forms })
  const input = negotiateInput(request)
  const body = await readBody(request)
  const options = withManager(request, parseCreateOptions(request.query))
  const sent = await decodeBody(scope, input, body, options.fieldValidation)
  const result = await createObject(scope, sent, options, admissionChain)
  return respondWritten(scope, output, { result, created: true })
}
