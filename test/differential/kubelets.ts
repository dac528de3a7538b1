/**
 * Kubelets for a control plane that has none: what src/controllers/simulation works out for a pod, written through the
 * API. With them beside kube-apiserver, kube-controller-manager and kube-scheduler, the recorder compares controllers
 * alone: pods go the same way on both sides.
 */
import type { Node, Pod } from '../../src/api/core/v1.ts'
import { advance } from '../../src/controllers/simulation/pod-lifecycle.ts'
import { statusOf } from '../../src/controllers/simulation/simulated-node.ts'
import type { Cluster } from './cluster.ts'
import { pause } from './cluster.ts'

const LOOK_EVERY_MS = 200
const RENEW_EVERY_MS = 10_000
const TYPE = { apiVersion: 'v1', kind: 'Node' }

export class Kubelets {
  #isStopped = false
  #lastAddress = 0
  #renewed = 0

  constructor(private readonly cluster: Cluster) {}

  stop(): void {
    this.#isStopped = true
  }

  /** Registers these nodes and runs their pods until it is stopped; so it does with every node labelled as simulated. */
  async run(names: readonly string[]): Promise<void> {
    for (const [index, name] of names.entries()) await this.#register(name, `10.244.${index + 1}`)
    void this.#work()
  }

  async #register(name: string, range: string): Promise<void> {
    const labels = {
      'kedge.dev/simulated': 'true',
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
    }
    const cidr = `${range}.0/24`
    const spec = { podCIDR: cidr, podCIDRs: [cidr] }
    await this.cluster.send('POST', '/api/v1/nodes', { ...TYPE, metadata: { name, labels }, spec }, [409])
  }

  async #work(): Promise<void> {
    while (!this.#isStopped) {
      try {
        await this.#look()
      } catch (error) {
        if (!this.#isStopped) console.error(error)
      }
      await pause(LOOK_EVERY_MS)
    }
  }

  async #look(): Promise<void> {
    const nodes = (await this.cluster.list('/api/v1/nodes?labelSelector=kedge.dev/simulated=true')) as unknown as Node[]
    const now = new Date()
    const isTime = now.getTime() - this.#renewed > RENEW_EVERY_MS
    for (const node of nodes) if (isTime || node.status?.addresses === undefined) await this.#beat(node, now)
    if (isTime) this.#renewed = now.getTime()
    const known = new Set(nodes.map(({ metadata }) => metadata.name))
    const pods = (await this.cluster.list('/api/v1/pods?resourceVersion=0')) as unknown as Pod[]
    await Promise.all(pods.filter(({ spec }) => known.has(spec?.nodeName ?? '')).map((pod) => this.#advance(pod, now)))
  }

  async #beat(node: Node, now: Date): Promise<void> {
    const { name = '' } = node.metadata
    const lease = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases`
    const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime: now.toISOString().replace('Z', '000Z') }
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name }, spec }
    await this.cluster.send('POST', lease, body, [409])
    await this.cluster.patch(`${lease}/${name}`, { spec })
    const status = { ...statusOf(node, now), ...sizeOf(node) }
    await this.cluster.send('PUT', `/api/v1/nodes/${name}/status`, { ...TYPE, ...node, status }, [404, 409])
  }

  async #advance(pod: Pod, now: Date): Promise<void> {
    const allocateIP = () => {
      this.#lastAddress++
      return `10.245.${Math.floor(this.#lastAddress / 250) % 250}.${(this.#lastAddress % 250) + 1}`
    }
    const { status, isGone } = advance(pod, { hostIPs: ['10.0.0.1'], allocateIP }, now)
    const { namespace, name, uid } = pod.metadata
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`
    if (isGone === true)
      await this.cluster.send('DELETE', path, { gracePeriodSeconds: 0, preconditions: { uid } }, [404, 409])
    else if (status !== undefined)
      await this.cluster.send('PUT', `${path}/status`, { apiVersion: 'v1', kind: 'Pod', ...pod, status }, [404, 409])
  }
}

function sizeOf({ status }: Node) {
  const { capacity, allocatable } = status ?? {}
  return capacity === undefined ? {} : { capacity, allocatable: allocatable ?? capacity }
}
