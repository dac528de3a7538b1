/** The objects of bookmarks, which have only a resourceVersion. */
import { apiVersionOf } from '../../api/group-version.ts'
import type { ObjectMeta } from '../../api/meta/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import type { EncodedResource } from '../encoded-resource.ts'

export function zeroObject(
  { storageKind, presentation: { zero } }: Pick<EncodedResource, 'storageKind' | 'presentation'>,
  metadata: ObjectMeta,
): KubeObject {
  const annotations =
    zero?.annotations === undefined ? {} : { annotations: { ...zero.annotations, ...metadata.annotations } }
  return {
    kind: storageKind.kind,
    apiVersion: apiVersionOf(storageKind),
    metadata: { ...metadata, ...annotations },
    ...zero?.members,
  }
}
