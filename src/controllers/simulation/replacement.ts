/** When a kubelet replaces a running container because its definition has changed. */
import type { Container, ContainerStatus, ResourceRequirements } from '../../api/core/v1.ts'
import { Quantity } from '../../schema/quantity.ts'
import { ownValue } from '../../base/own.ts'

/** What the IDs of simulated containers begin with. */
export const SIMULATED_ID = 'simulated://'

/**
 * Why, in a kubelet's words; undefined: the container stays.
 * @param known of the running container
 */
export function replacementOf(container: Container, known: ContainerStatus): string | undefined {
  // the status of another program may name the image in another way
  if (known.containerID?.startsWith(SIMULATED_ID) !== true) return undefined
  if ((known.image ?? '') !== (container.image ?? ''))
    return `Container ${container.name} definition changed, will be restarted`
  const { resources: before } = known
  const { resources: after = {}, resizePolicy = [] } = container
  if (before === undefined) return undefined
  const isRestarted = resizePolicy.some(
    ({ resourceName = '', restartPolicy }) =>
      restartPolicy === 'RestartContainer' && !isSame(before, after, resourceName),
  )
  return isRestarted ? `Container ${container.name} resize requires restart` : undefined
}

const isSame = (a: ResourceRequirements, b: ResourceRequirements, resource: string): boolean =>
  amount(a.requests, resource).compare(amount(b.requests, resource)) === 0 &&
  amount(a.limits, resource).compare(amount(b.limits, resource)) === 0

const amount = (of: Record<string, string> | undefined, resource: string): Quantity =>
  Quantity.tryParse(ownValue(of, resource) ?? '0') ?? Quantity.zero
