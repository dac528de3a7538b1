import type { Pod } from '../../api/core/v1.ts'
import type { Attributes } from '../attributes.ts'

/** Whether a request writes pods, or one of the given subresources of pods. */
export const isOfPods = ({ resource, subresource }: Attributes, ...subresources: readonly string[]): boolean =>
  resource.group === '' && resource.resource === 'pods' && ['', ...subresources].includes(subresource)

/** @param attributes of a request for which `isOfPods` holds, so that the object was decoded as a Pod */
export const podOf = ({ object }: Attributes): Pod => object as unknown as Pod
