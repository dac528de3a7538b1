/** PodResizeValidator (KEP-1287): a pod that has a node asks for no more than the node has in all. */
import type { Node, Pod } from '../api/core/v1.ts'
import { goQuote } from '../go/quote.ts'
import { ownValue } from '../api/own.ts'
import type { StatusError } from '../api/status.ts'
import { forbidden } from '../api/status.ts'
import { amountsOf } from '../registry/quota/amounts.ts'
import { podAmounts } from '../registry/quota/pod-resources.ts'
import { Quantity } from '../schema/quantity.ts'
import { storedObject } from '../tenancy/stored-object.ts'
import type { AdmissionPlugin, Attributes } from './attributes.ts'
import { podOf } from './pod-attributes.ts'
import { admissionForbidden } from './forbidden.ts'

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

/** The generation of a pod counts the changes of its spec. */
export function isChangedOnNode({ object, oldObject }: Attributes): boolean {
  // only pods are written there
  const [pod, old] = [object as unknown as Pod, oldObject as unknown as Pod | undefined]
  return (pod.spec?.nodeName ?? '') !== '' && pod.metadata.generation !== old?.metadata.generation
}

/** @throws StatusError where it is gone */
export async function nodeOf(attributes: Attributes, { spec }: Pod): Promise<Node> {
  const name = spec?.nodeName ?? ''
  const found = await storedObject<Node>(attributes.request, NODES, name)
  if (found === undefined) throw admissionForbidden(attributes, `node ${goQuote(name)} not found`)
  return found
}

function lacking(pod: Pod, { status }: Node): string[] {
  const allocatable = amountsOf(status?.allocatable)
  // of the requests; the amounts that a resize under way has reached do not count
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
