/** The total resources of a pod's containers (KEP-753 for sidecars, KEP-2837 for resources of the pod itself). */
import type { Container, ContainerStatus, Pod } from '../../api/core/v1.ts'
import { Quantity } from '../../schema/quantity.ts'
import type { Amounts } from './amounts.ts'
import { amountsOf, larger, sum } from './amounts.ts'

/** Requests or limits of a container. The status counts, too, because a resize may be in progress. */
type Part = 'requests' | 'limits'

const isOfPods = (name: string): boolean => name === 'cpu' || name === 'memory' || name.startsWith('hugepages-')

export const hasOwnResources = ({ spec }: Pod): boolean =>
  [spec?.resources?.requests, spec?.resources?.limits].some((amounts) => Object.keys(amounts ?? {}).some(isOfPods))

/** @param duringResize also counts what the node has given the pod itself: the scheduler does, quotas do not */
export function podAmounts(pod: Pod, part: Part, duringResize = false): Amounts {
  const { spec = {} } = pod
  let total = ofContainers(pod, part)
  const own = amountsOf(spec.resources?.[part])
  for (const [name, amount] of duringResize ? resized(pod, own) : own) if (isOfPods(name)) total.set(name, amount)
  const overhead = amountsOf(spec.overhead)
  // the pod's overhead limits a resource only if its containers do
  if (part === 'limits') for (const name of [...overhead.keys()]) if (!hasSome(total, name)) overhead.delete(name)
  total = sum(total, overhead)
  return total
}

const hasSome = (amounts: Amounts, name: string): boolean => amounts.get(name)?.isZero === false

/** The pod's own requests while its node resizes it, by the rule for containers. */
function resized(pod: Pod, own: Amounts): Amounts {
  const { resources, allocatedResources } = pod.status ?? {}
  if (resources === undefined) return own
  const known = larger(amountsOf(resources.requests), amountsOf(allocatedResources))
  const all = isResizeInfeasible(pod) ? known : larger(own, known)
  return new Map([...own.keys()].map((name) => [name, all.get(name) ?? Quantity.zero]))
}

/** Containers run together. An init container runs beside the sidecars that started before it. */
function ofContainers(pod: Pod, part: Part): Map<string, Quantity> {
  const { spec = {}, status = {} } = pod
  const statuses = new Map(
    [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])].map((one) => [one.name, one]),
  )
  let total = new Map<string, Quantity>()
  for (const container of spec.containers ?? [])
    total = sum(total, effective(pod, container, statuses.get(container.name), part))
  let sidecars: Amounts = new Map()
  let most: Amounts = new Map()
  for (const container of spec.initContainers ?? []) {
    const isSidecar = container.restartPolicy === 'Always'
    const amounts = effective(pod, container, isSidecar ? statuses.get(container.name) : undefined, part)
    const beside = sum(sidecars, amounts)
    if (isSidecar) {
      total = sum(total, amounts)
      sidecars = beside
    }
    most = larger(most, beside)
  }
  return larger(total, most)
}

/** The largest of a container's request, its resources on the node and its allocated resources. */
function effective(pod: Pod, { resources }: Container, status: ContainerStatus | undefined, part: Part): Amounts {
  const wanted = amountsOf(resources?.[part])
  if (status?.resources === undefined) return wanted
  const given = amountsOf(status.resources[part])
  const known = part === 'requests' ? larger(given, amountsOf(status.allocatedResources)) : given
  return isResizeInfeasible(pod) ? known : larger(wanted, known)
}

const isResizeInfeasible = ({ status }: Pod): boolean =>
  status?.conditions?.find(({ type }) => type === 'PodResizePending')?.reason === 'Infeasible'
