import type { OutputNegotiation } from '../../codec/negotiation/negotiate.ts'
import { LARGE } from '../../base/slices.ts'
import { respondObject, weightOfAnswer } from '../../codec/respond.ts'
import { forAnswer } from '../../registry/converted.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'
import type { Updated } from '../../registry/write/guaranteed-update.ts'
import { walked } from '../../request/turns.ts'

/** The answer to a write: the object as it is stored now, or as a dry run would have stored it. */
export async function respondWritten(
  scope: RequestScope,
  output: OutputNegotiation,
  { result, created }: Updated,
): Promise<Response> {
  const object = await forAnswer(scope, result.stored ?? result.object)
  if (weightOfAnswer(scope.resource, output, result.stored?.text.length ?? 0) > LARGE) scope.request.isLarge = true
  return walked(scope.request, () => respondObject(scope, output, created ? 201 : 200, object))
}
