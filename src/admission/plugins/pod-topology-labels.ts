/** PodTopologyLabels (KEP-4742): a pod gets the labels of its node's zone and region. */
import type { Binding, Node } from '../../api/core/v1.ts'
import { ownValue } from '../../base/own.ts'
import { builtInServed } from '../../registry/served/built-in-served.ts'
import { recentObject } from '../../tenancy/recent-objects.ts'
import type { AdmissionPlugin, Attributes } from '../attributes.ts'
import { isOfPods, podOf } from './pod-attributes.ts'

const NODES = { group: '', resource: 'nodes' }
const LABELS = ['topology.kubernetes.io/region', 'topology.kubernetes.io/zone']

export const podTopologyLabels: AdmissionPlugin = {
  name: 'PodTopologyLabels',
  handles: (attributes) =>
    attributes.operation === 'CREATE' && isOfPods(attributes, 'binding') && nodeOf(attributes) !== '',
  async admit(attributes) {
    const { request, object } = attributes
    if (object === undefined || !builtInServed(request.env).gates.enabled('PodTopologyLabelsAdmission')) return
    const node = await recentObject<Node>(request, NODES, nodeOf(attributes))
    const labels = LABELS.flatMap((label) => {
      const value = ownValue(node?.metadata.labels, label)
      return value === undefined ? [] : [[label, value] as const]
    })
    if (labels.length > 0) object.metadata.labels = { ...object.metadata.labels, ...Object.fromEntries(labels) }
  },
}

/** '' where the request assigns no node. The endpoint of Bindings copies the Binding's labels to the pod. */
function nodeOf(attributes: Attributes): string {
  if (attributes.subresource === '') return podOf(attributes).spec?.nodeName ?? ''
  // only Bindings are posted at this path
  const { target } = attributes.object as unknown as Binding
  return target?.kind === 'Node' ? (target.name ?? '') : ''
}
