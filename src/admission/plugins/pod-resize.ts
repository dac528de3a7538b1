/** PodResizeValidator (KEP-1287): a pod on a node cannot request more than the whole node has. */
import type { Node, Pod } from '../../api/core/v1.ts'
import { goQuote } from '../../go/quote.ts'
import { ownValue } from '../../base/own.ts'
import type { StatusError } from '../../api/status.ts'
import { forbidden } from '../../api/status.ts'
import { amountsOf } from '../../registry/quota/amounts.ts'
import { podAmounts } from '../../registry/quota/pod-resources.ts'
import { Quantity } from '../../schema/quantity.ts'
import { storedObject } from '../../tenancy/stored-object.ts'
import type { AdmissionPlugin, Attributes } from '../attributes.ts'
import { podOf } from './pod-attributes.ts'
import { admissionForbidden } from '../forbidden.ts'

const NODES = { group: '', resource: 'nodes' }
const OS = 'kubernetes.io/os'

export const podResizeValidator: AdmissionPlugin = {
  name: 'PodResizeValidator',
  handles: (attributes) => {
    const { operation, resource, subresource } = attributes
    const isResize = resource.group === '' && resource.resource === 'pods' && subresource === 'resize'
    return operation === 'UPDATE' && isResize && isChangedOnNode(attributes)
  },
  async validate(attributes) {
    const pod = podOf(attributes)
    const node = await nodeOf(attributes, pod)
    const os = ownValue(node.metadata?.labels, OS) ?? 'linux'
    if (os !== 'linux') {
      const name = goQuote(node.metadata?.name ?? '')
      throw refusal(
        attributes,
        'UnsupportedPlatform',
        `pod resize is only supported on linux nodes, node ${name} is ${goQuote(os)}`,
      )
    }
    const problems = lacking(pod, node)
    if (problems.length > 0)
      throw refusal(attributes, 'NodeCapacity', `node didn't have enough allocatable resources: ${problems.join('; ')}`)
  },
}

/** Whether the spec of a pod on a node changes: the generation counts such changes. */
export function isChangedOnNode({ object, oldObject }: Attributes): boolean {
  // only pods are written at these paths
  const [pod, old] = [object as unknown as Pod, oldObject as unknown as Pod | undefined]
  return (pod.spec?.nodeName ?? '') !== '' && pod.metadata.generation !== old?.metadata.generation
}

/** @throws StatusError where the node does not exist */
export async function nodeOf(attributes: Attributes, { spec }: Pod): Promise<Node> {
  const name = spec?.nodeName ?? ''
  const found = await storedObject<Node>(attributes.request, NODES, name)
  if (found === undefined) throw admissionForbidden(attributes, `node ${goQuote(name)} not found`)
  return found
}

function lacking(pod: Pod, { status }: Node): string[] {
  const allocatable = amountsOf(status?.allocatable)
  // only the requests count, not the amounts that a resize in progress has reached
  const requests = podAmounts({ ...pod, status: {} }, 'requests')
  return (['cpu', 'memory'] as const).flatMap((name) => {
    const [asked, has] = [requests.get(name) ?? Quantity.zero, allocatable.get(name) ?? Quantity.zero]
    if (asked.compare(has) <= 0) return []
    const number = (of: Quantity): number => (name === 'cpu' ? of.milliValue() : of.value())
    return [`${name}, requested: ${number(asked)}, allocatable: ${number(has)}`]
  })
}

function refusal(attributes: Attributes, reason: string, why: string): StatusError {
  const { resource, name } = attributes
  return forbidden(resource, name, why, [{ reason }])
}
