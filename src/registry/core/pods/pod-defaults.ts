/** Defaults of a whole Pod. A pod template has only the defaults of its members. */
import { eachPart } from '../../../base/parts.ts'
import { overlaid } from '../../../schema/overlaid.ts'
import type { Pod, ResourceRequirements } from '../../../api/core/v1.ts'
import type { DefaultingContext } from '../../../schema/default-rules.ts'
import { defaultPodResources } from '../../../schema/pod-resource-defaults.ts'

export function defaultPod(pod: Pod, context: DefaultingContext): void {
  const spec = pod.spec!
  const lists = [spec.containers ?? [], spec.initContainers ?? []]
  for (const containers of lists)
    eachPart(containers, ({ resources }) => {
      if (resources !== undefined) requestsFromLimits(resources)
    })
  if (context.enabled('PodLevelResources')) defaultPodResources(spec)
  spec.enableServiceLinks ??= true
  if (spec.hostNetwork)
    for (const containers of lists)
      eachPart(containers, ({ ports }) =>
        eachPart(ports ?? [], (port) => {
          port.hostPort ||= port.containerPort!
        }),
      )
}

function requestsFromLimits(resources: ResourceRequirements): void {
  if (resources.limits === undefined) return
  resources.requests = overlaid(resources, resources.limits, resources.requests)
}
