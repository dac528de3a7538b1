import type { KubeObject } from '../../api/object.ts'
import { badRequest } from '../../api/status.ts'
import type { Place } from '../resource-scope.ts'

/** The object must have the namespace and the name of the URL. The check of the namespace comes first. @throws 400 */
export function checkName({ name, namespace }: Pick<Place, 'name' | 'namespace'>, { metadata }: KubeObject): void {
  if (namespace !== '' && metadata.namespace && metadata.namespace !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  if (!metadata.name)
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  if (metadata.name !== name)
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`)
}
