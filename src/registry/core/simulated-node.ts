/** A simulated Node. The command line makes some of them, too. */

/** Its label. */
export const SIMULATED = 'kedge.dev/simulated'

/** The node of this number, from 1 on. */
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
