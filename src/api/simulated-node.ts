/** What simulated Nodes are, and the manifest of one. The command line creates such Nodes, too. */
import { ownValue } from '../base/own.ts'
import type { KubeObject } from './object.ts'

/** The label of simulated nodes. */
export const SIMULATED = 'kedge.dev/simulated'

export const isSimulated = ({ metadata }: Pick<KubeObject, 'metadata'>): boolean =>
  ownValue(metadata.labels, SIMULATED) === 'true'

/** The owner of the fields that their kubelets write, as of a real one. */
export const KUBELET_MANAGER = 'kubelet'

/** @param index the number of the node, from 1 on */
export function simulatedNode(index: number) {
  const name = `node-${index}`
  const labels = {
    [SIMULATED]: 'true',
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
  }
  return { kind: 'Node', apiVersion: 'v1', metadata: { name, labels } }
}
