import type { Node } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import type { AdmissionPlugin } from '../attributes.ts'

const NOT_READY = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }

/** TaintNodesByCondition: a new node gets the not-ready taint, so that it takes no pods before it is ready. */
export const nodeTaint: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  handles: ({ operation, resource, subresource }) =>
    operation === 'CREATE' && resource.group === '' && resource.resource === 'nodes' && subresource === '',
  admit({ object }) {
    const node = object as (KubeObject & Node) | undefined // only nodes are created at this path
    if (node === undefined) return
    const taints = node.spec?.taints ?? []
    if (taints.some(({ key, effect }) => key === NOT_READY.key && effect === NOT_READY.effect)) return
    node.spec = { ...node.spec, taints: [...taints, { ...NOT_READY }] }
  },
}
