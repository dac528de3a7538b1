import { atOnce, inTurns, turnOfOthers } from '../api/slices.ts'
import { negotiateInput, negotiateOutput } from '../codec/negotiate.ts'
import { respondObject } from '../codec/respond.ts'
import { reviewOf } from '../registry/review.ts'
import { createObject } from '../registry/store.ts'
import { parseCreateOptions } from '../request/options.ts'
import { admitMutating } from './admit-mutating.ts'
import { admissionAttributes, validatingOf } from './admission-attributes.ts'
import { checkName } from './check-name.ts'
import { afterConversion } from '../registry/convert-version.ts'
import { decodingBody, readBody } from './decode-body.ts'
import { trackingFields } from '../registry/track-fields.ts'
import { legacyBinding } from './pods/binding.ts'
import { prepareNewMetadata } from './new-metadata.ts'
import { inRequestVersion } from '../registry/converted.ts'
import type { ResourceScope } from '../registry/resource-scope.ts'
import { review } from './review.ts'

export async function create(scope: ResourceScope): Promise<Response> {
  const { request } = scope
  const answer = reviewOf(scope.resource)
  if (answer !== undefined) return review(scope, answer)
  if (scope.resource.group === '' && scope.resource.resource === 'bindings') return legacyBinding(scope)
  const output = negotiateOutput(request, { kind: 'object', custom: scope.custom })
  const input = negotiateInput(request, { custom: scope.custom })
  const body = await readBody(request)
  const options = parseCreateOptions(request.query)
  const decoding = decodingBody(scope, input, body, options.fieldValidation)
  const decoded = afterConversion(scope, request.isLarge ? await inTurns(decoding) : atOnce(decoding))
  if (request.isLarge) await turnOfOthers()
  prepareNewMetadata(scope, decoded)
  // a custom resource's item takes POST too, which was authorized for the name in the path
  if (scope.name !== '') checkName(scope, decoded)
  const tracking = trackingFields(scope, undefined, decoded, options.fieldManager)
  if (request.isLarge) await inTurns(tracking)
  else atOnce(tracking)
  if (request.isLarge) await turnOfOthers()
  const object = scope.toStorage(decoded)
  await admitMutating(admissionAttributes(scope, 'CREATE', options, { object }))
  const result = await createObject(scope, object, options, validatingOf(scope, 'CREATE', options))
  if (request.isLarge) await turnOfOthers()
  return respondObject(scope, output, 201, await inRequestVersion(scope, result.stored ?? result.object))
}
