import type { KubeObject } from '../api/object.ts'
import { atOnce, inTurns, turnOfOthers } from '../api/slices.ts'
import type { Steps } from '../api/slices.ts'
import { copyWithEmptied } from '../schema/emptied.ts'
import { negotiateInput, negotiateOutput } from '../codec/negotiate.ts'
import { respondObject } from '../codec/respond.ts'
import { guaranteedUpdate } from '../registry/store.ts'
import { parseUpdateOptions } from '../request/options.ts'
import { admitMutating } from './admit-mutating.ts'
import { admissionAttributes, validatingOf } from './admission-attributes.ts'
import { authorizeCreate } from './authorize-create.ts'
import { afterConversion } from '../registry/convert-version.ts'
import { checkName } from './check-name.ts'
import { decodingBody, readBody } from './decode-body.ts'
import { dropDuplicateOwners } from './owner-references.ts'
import { inRequestVersion } from '../registry/converted.ts'
import type { ResourceScope } from '../registry/resource-scope.ts'
import { throughView } from './through-view.ts'
import { trackingFields } from '../registry/track-fields.ts'

export async function update(scope: ResourceScope): Promise<Response> {
  const { request } = scope
  const output = negotiateOutput(request, { kind: 'object', custom: scope.custom })
  const body = await readBody(request)
  const options = parseUpdateOptions(request.query)
  const input = negotiateInput(request, { custom: scope.custom })
  const decoding = decodingBody(scope, input, body, options.fieldValidation)
  const sent = request.isLarge ? await inTurns(decoding) : atOnce(decoding)
  checkName(scope, sent)
  dropDuplicateOwners(sent, request.warnings)

  const { result, created } = await guaranteedUpdate(scope, scope.name, {
    dryRun: options.dryRun,
    // also through the status, where there is one: Services
    mayCreate: ['', 'status'].includes(scope.subresource) && scope.strategy.allowCreateOnUpdate === true,
    uid: sent.metadata.uid,
    authorizeCreate: () => authorizeCreate(scope),
    async transform(stored) {
      if (request.isLarge) await turnOfOthers()
      const live = stored && scope.fromStorage(stored)
      const decoded = function* (before: KubeObject | undefined): Steps<KubeObject> {
        const object = afterConversion(scope, copyWithEmptied(sent))
        yield
        yield* trackingFields(scope, before, object, options.fieldManager)
        return object
      }
      const operation = stored === undefined ? 'CREATE' : 'UPDATE'
      const admit = (object: KubeObject, oldObject: KubeObject | undefined) =>
        admitMutating(admissionAttributes(scope, operation, options, { object, oldObject }))
      // a view never creates: what is absent was answered with 404 before
      if (scope.view !== undefined) {
        const viewed = (before: KubeObject) => atOnce(decoded(before))
        return scope.toStorage(await throughView(scope, scope.view, live!, viewed, admit))
      }
      const wanted = request.isLarge ? await inTurns(decoded(live)) : atOnce(decoded(live))
      if (request.isLarge) await turnOfOthers()
      const object = scope.toStorage(wanted)
      await admit(object, stored)
      return object
    },
    validating: validatingOf(scope, 'UPDATE', options),
  })
  if (request.isLarge) await turnOfOthers()
  return respondObject(
    scope,
    output,
    created ? 201 : 200,
    await inRequestVersion(scope, result.stored ?? result.object),
  )
}
