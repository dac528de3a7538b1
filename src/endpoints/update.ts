import type { KubeObject } from '../api/object.ts'
import { turnOfOthers } from '../api/slices.ts'
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
import { decodeBody, readBody } from './decode-body.ts'
import { dropDuplicateOwners } from './owner-references.ts'
import type { ResourceScope } from '../registry/resource-scope.ts'
import { throughView } from './through-view.ts'
import { trackFields } from '../registry/track-fields.ts'

export async function update(scope: ResourceScope): Promise<Response> {
  const { request } = scope
  const output = negotiateOutput(request, { kind: 'object', custom: scope.custom })
  const body = await readBody(request)
  const options = parseUpdateOptions(request.query)
  const input = negotiateInput(request, { custom: scope.custom })
  if (request.isLarge) await turnOfOthers()
  const sent = decodeBody(scope, input, body, options.fieldValidation)
  checkName(scope, sent)
  dropDuplicateOwners(sent, request.warnings)

  const { left, created } = await guaranteedUpdate(scope, scope.name, {
    dryRun: options.dryRun,
    // also through the status, where there is one: Services
    mayCreate: ['', 'status'].includes(scope.subresource) && scope.strategy.allowCreateOnUpdate === true,
    uid: sent.metadata.uid,
    authorizeCreate: () => authorizeCreate(scope),
    async transform(stored) {
      if (request.isLarge) await turnOfOthers()
      const live = stored && scope.fromStorage(stored)
      const decoded = (before: KubeObject | undefined) => {
        const object = afterConversion(scope, copyWithEmptied(sent))
        trackFields(scope, before, object, options.fieldManager)
        return object
      }
      const operation = stored === undefined ? 'CREATE' : 'UPDATE'
      const admit = (object: KubeObject, oldObject: KubeObject | undefined) =>
        admitMutating(admissionAttributes(scope, operation, options, { object, oldObject }))
      // a view never creates: what is absent was answered with 404 before
      if (scope.view !== undefined) return scope.toStorage(await throughView(scope, scope.view, live!, decoded, admit))
      const wanted = decoded(live)
      if (request.isLarge) await turnOfOthers()
      const object = scope.toStorage(wanted)
      await admit(object, stored)
      return object
    },
    validating: validatingOf(scope, 'UPDATE', options),
  })
  if (request.isLarge) await turnOfOthers()
  return respondObject(scope, output, created ? 201 : 200, left.stored ?? left.object)
}
