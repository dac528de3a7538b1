/** Defaults of a whole Pod: templates have those of its members alone. */
import { overlaid } from '../../schema/overlaid.ts'
import type { Pod, ResourceRequirements } from '../../api/core/v1.ts'
import type { DefaultingContext } from '../../schema/default-rules.ts'
import { defaultPodResources } from '../../schema/pod-resource-defaults.ts'

export function defaultPod(pod: Pod, context: DefaultingContext): void {
  const spec = pod.spec!
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
  for (const { resources } of containers) if (resources !== undefined) requestsFromLimits(resources)
  if (context.enabled('PodLevelResources')) defaultPodResources(spec)
  spec.enableServiceLinks ??= true
  if (spec.hostNetwork)
    for (const { ports } of containers) for (const port of ports ?? []) port.hostPort ||= port.containerPort!
}

function requestsFromLimits(resources: ResourceRequirements): void {
  if (resources.limits === undefined) return
  resources.requests = overlaid(resources, resources.limits, resources.requests)
}
