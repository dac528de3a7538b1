import type { Pod } from '../api/core/v1.ts'
import { StatusError } from '../api/status.ts'
import { forbidden } from '../api/status.ts'
import type { Attributes } from './attributes.ts'

/** Whether a request writes pods themselves, or one of their named subresources. */
export const isOfPods = ({ resource, subresource }: Attributes, ...subresources: readonly string[]): boolean =>
  resource.group === '' && resource.resource === 'pods' && ['', ...subresources].includes(subresource)

/** @param attributes of a request for which `isOfPods` holds, so its object was decoded as a Pod */
export const podOf = ({ object }: Attributes): Pod => object as unknown as Pod

/** Why a pod is not admitted, as kube-apiserver says it: pods that are yet to be named by their prefix. */
export function podForbidden({ resource, object, name }: Attributes, why: string): StatusError {
  const { generateName = '' } = object?.metadata ?? {}
  const shown = name !== '' ? name : (object?.metadata.name ?? '')
  if (shown !== '' || generateName === '') return forbidden(resource, shown, why)
  return forbidden(resource, `${generateName}`, why)
}
