import { cloneJson } from '../../api/clone-json.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ResourceScope } from '../resource-scope.ts'
import { trackingFields } from '../track-fields.ts'
import { BY_SERVER } from './actor.ts'
import type { Admission } from './admission.ts'
import { updateWith } from './update.ts'

/**
 * A change that kube-apiserver makes with a request of its own while it serves another one: a PUT of the object that it
 * read, repeated while other writers are faster.
 * @param scope of `loopbackScope`
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
      // never undefined: an absent object was answered with NotFound. The scope is of objects of this type.
      const object = cloneJson(live!) as O
      change(object)
      yield* trackingFields(scope, live, object, BY_SERVER.fieldManager)
      return object
    },
  })
}
