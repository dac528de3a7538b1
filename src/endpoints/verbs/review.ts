import { admissionChain } from '../../admission/chain.ts'
import { negotiateInput, negotiateOutput } from '../../codec/negotiation/negotiate.ts'
import { respondObject } from '../../codec/respond.ts'
import type { Review } from '../../registry/review.ts'
import { parseCreateOptions } from '../../request/options.ts'
import { finished, walked } from '../../request/turns.ts'
import { decodeBody, readBody } from '../bodies/decode-body.ts'
import { prepareNewMetadata } from '../../registry/write/new-metadata.ts'
import { trackingFields } from '../../registry/track-fields.ts'
import { noteSecretUses } from '../secret-use.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'
import { withManager } from './with-manager.ts'

/** POST of a kind that is answered and not stored. */
export async function review(
  scope: RequestScope,
  answer: Review,
  { keepsSystemFields = false }: { readonly keepsSystemFields?: boolean } = {},
): Promise<Response> {
  const {
    request,
    resource: { forms },
  } = scope
  const output = negotiateOutput(request, { kind: 'object', forms })
  const input = negotiateInput(request)
  const body = await readBody(request)
  const options = withManager(request, parseCreateOptions(request.query))
  const object = await decodeBody(scope, input, body, options.fieldValidation)
  await prepareNewMetadata(scope, object, { keepsSystemFields })
  await finished(request, trackingFields(scope, undefined, object, options.fieldManager))
  await admissionChain.mutate(scope, 'CREATE', options, { object })
  const validate = async () => void (await admissionChain.validate(scope, 'CREATE', options, { object }))
  const answered = await answer(request, object, validate)
  noteSecretUses(request)
  return walked(request, () => respondObject(scope, output, 201, answered))
}
