import type { KubeObject } from '../../api/object.ts'
import { atOnce, inTurns, turnOfOthers } from '../../api/slices.ts'
import type { WriteResult } from '../../codec/stored-object.ts'
import type { WriteOptions } from '../../request/options.ts'
import { afterConversion } from '../convert-version.ts'
import type { ResourceScope } from '../resource-scope.ts'
import { createObject } from '../store.ts'
import { trackingFields } from '../track-fields.ts'
import type { Admission } from './admission.ts'
import { checkName } from './check-name.ts'
import { prepareNewMetadata } from './new-metadata.ts'

/**
 * @param sent decoded, with defaults, in the version of the request; becomes part of what is written
 * @throws StatusError
 */
export async function create(
  scope: ResourceScope,
  sent: KubeObject,
  options: WriteOptions,
  admission: Admission,
): Promise<WriteResult> {
  const { request } = scope
  const wanted = afterConversion(scope, sent)
  if (request.isLarge) await turnOfOthers()
  prepareNewMetadata(scope, wanted)
  // a custom resource's item takes POST too, which was authorized for the name in the path
  if (scope.name !== '') checkName(scope, wanted)
  const tracking = trackingFields(scope, undefined, wanted, options.fieldManager)
  if (request.isLarge) await inTurns(tracking)
  else atOnce(tracking)
  if (request.isLarge) await turnOfOthers()
  const object = scope.toStorage(wanted)
  await admission.mutate(scope, 'CREATE', options, { object })
  return createObject(scope, object, options, (created) =>
    admission.validate(scope, 'CREATE', options, { object: created }),
  )
}
