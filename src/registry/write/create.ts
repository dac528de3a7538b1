import type { KubeObject } from '../../api/object.ts'
import type { WriteResult } from '../../codec/stored-object.ts'
import type { WriteOptions } from '../../request/options.ts'
import { finished, walked } from '../../request/turns.ts'
import type { ResourceScope } from '../resource-scope.ts'
import { createObject } from './create-object.ts'
import { trackingFields } from '../track-fields.ts'
import type { Admission } from './admission.ts'
import { checkName } from './check-name.ts'
import { prepareNewMetadata } from './new-metadata.ts'
import { dropDuplicateOwners } from './owner-references.ts'

/**
 * @param sent the decoded object with defaults, in the version of the request; becomes part of the written object
 * @throws StatusError
 */
export async function create(
  scope: ResourceScope,
  sent: KubeObject,
  options: WriteOptions,
  admission: Admission,
): Promise<WriteResult> {
  const { request } = scope
  const wanted = await walked(request, () => scope.resource.afterConversion(sent))
  await prepareNewMetadata(scope, wanted)
  // custom resources also accept POST to the path of an item, and authorization was for the name in that path
  if (scope.place.name !== '') checkName(scope.place, wanted)
  await finished(request, trackingFields(scope, undefined, wanted, options.fieldManager))
  const object = await walked(request, () => scope.resource.toStorage(wanted))
  const named = object.metadata.name ?? ''
  await admission.mutate(scope, 'CREATE', options, { object })
  if (scope.place.name !== '' && object.metadata.name) checkName(scope.place, object)
  await walked(request, () => dropDuplicateOwners(object, request.warnings, 'after admission'))
  return createObject(scope, object, { options, admission, named })
}
