import type { Pod } from '../../api/core/v1.ts'
import { StatusError } from '../../api/status.ts'
import { forbidden } from '../../api/status.ts'
import type { Attributes } from '../attributes.ts'

/** Whether a request writes pods, or one of the given subresources of pods. */
export const isOfPods = ({ resource, subresource }: Attributes, ...subresources: readonly string[]): boolean =>
  resource.group === '' && resource.resource === 'pods' && ['', ...subresources].includes(subresource)

/** @param attributes of a request for which `isOfPods` holds, so that the object was decoded as a Pod */
export const podOf = ({ object }: Attributes): Pod => object as unknown as Pod

/** The error of a refused pod, as in kube-apiserver. A pod without a name yet is shown by its prefix. */
export function podForbidden({ resource, object, name }: Attributes, why: string): StatusError {
  const { generateName = '' } = object?.metadata ?? {}
  const shown = name !== '' ? name : (object?.metadata.name ?? '')
  if (shown !== '' || generateName === '') return forbidden(resource, shown, why)
  return forbidden(resource, `${generateName}`, why)
}
