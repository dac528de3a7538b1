/** The containers of a pod by the name in the path. */
import type { Container, ContainerStatus, Pod } from '../../../api/core/v1.ts'

export function containerNamed({ spec = {} }: Pod, name: string): Container | undefined {
  const all: readonly Container[] = [
    ...(spec.containers ?? []),
    ...(spec.initContainers ?? []),
    ...((spec.ephemeralContainers ?? []) as readonly Container[]), // they have the fields that are read here
  ]
  return all.find((container) => container.name === name)
}

export function statusNamed({ status = {} }: Pod, name: string): ContainerStatus | undefined {
  const all = [
    ...(status.containerStatuses ?? []),
    ...(status.initContainerStatuses ?? []),
    ...(status.ephemeralContainerStatuses ?? []),
  ]
  return all.find((one) => one.name === name)
}
