import { cloneJson } from '../../json/clone-json.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ResourceScope } from '../resource-scope.ts'
import { trackingFields } from '../track-fields.ts'
import { BY_SERVER } from './actor.ts'
import type { Admission } from './admission.ts'
import { updateWith } from './update.ts'

/**
 * A change that kube-apiserver makes with a loopback request while it serves another one: it reads the object, sends a
 * PUT, and retries on conflict.
 * @param scope made by `loopbackScope`
 * @param change changes a copy of the object in place
 * @throws 404, and errors of `change`
 */
export async function changeAsServer<O extends KubeObject>(
  scope: ResourceScope,
  admission: Admission,
  change: (object: O) => void,
): Promise<void> {
  await updateWith(scope, BY_SERVER, admission, {
    mayCreate: false,
    *wanted(live) {
      // an absent object has caused NotFound before, and the objects of this scope have this type
      const object = cloneJson(live!) as O
      change(object)
      yield* trackingFields(scope, live, object, BY_SERVER.fieldManager)
      return object
    },
  })
}
