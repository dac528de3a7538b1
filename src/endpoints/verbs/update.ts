import { admissionChain } from '../../admission/chain.ts'
import { negotiateInput, negotiateOutput } from '../../codec/negotiation/negotiate.ts'
import { checkNameParameter } from '../../registry/key-name.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'
import { checkName } from '../../registry/write/check-name.ts'
import { update as updateObject } from '../../registry/write/update.ts'
import { parseUpdateOptions } from '../../request/options.ts'
import { authorizeCreate } from './authorize-create.ts'
import { decodeBody, readBody } from '../bodies/decode-body.ts'
import { respondWritten } from './respond-written.ts'
import { withManager } from './with-manager.ts'

export async function update(scope: RequestScope): Promise<Response> {
  const { request } = scope
  const output = negotiateOutput(request, { kind: 'object', forms: scope.resource.forms })
  const body = await readBody(request)
  const options = withManager(request, parseUpdateOptions(request.query))
  const input = negotiateInput(request)
  const sent = await decodeBody(scope, input, body, options.fieldValidation)
  checkName(scope.place, sent)
  checkNameParameter(scope.place.name)
  const updated = await updateObject(scope, sent, options, admissionChain, {
    authorizeCreate: () => authorizeCreate(scope),
  })
  return respondWritten(scope, output, updated)
}
