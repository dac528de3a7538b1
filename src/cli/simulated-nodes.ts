// The Nodes of a server that simulates them: `kedge start --workloads simulated --nodes 3`.
import { ask } from './ask.ts'
import type { Server } from './backup.ts'

const CREATED = 201
const EXISTS = 409

/** Those that are there stay as they are. */
export async function createSimulatedNodes(server: Server, count: number): Promise<void> {
  for (let index = 1; index <= count; index++) {
    const name = `node-${index}`
    const labels = {
      'kedge.dev/simulated': 'true',
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
    }
    const node = { kind: 'Node', apiVersion: 'v1', metadata: { name, labels } }
    await ask(server, 'POST', '/api/v1/nodes', node, [CREATED, EXISTS])
  }
}
