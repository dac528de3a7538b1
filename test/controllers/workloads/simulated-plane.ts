/** A control plane in memory with simulated nodes, whose controllers work as time passes. */
import { clientsetFor } from '../../../src/controllers/client/clientset.ts'
import type { Clientset } from '../../../src/controllers/client/clientset.ts'
import { NODES } from '../../../src/controllers/simulation/simulated-node.ts'
import { PODS } from '../../../src/controllers/workloads/pods/pod-control.ts'
import { typedResource } from '../../../src/controllers/client/clientset.ts'
import type { Event, Pod } from '../../../src/api/core/v1.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import type { Env } from '../../../src/env.ts'
import { ControlPlaneInMemory } from '../control-plane.ts'

const EVENTS = typedResource<KubeObject & Event>('', 'events')

export class SimulatedPlane {
  private constructor(
    readonly plane: ControlPlaneInMemory,
    readonly clients: Clientset,
  ) {}

  static start(...nodes: readonly string[]): Promise<SimulatedPlane> {
    return SimulatedPlane.startWith({}, ...nodes)
  }

  static async startWith(settings: Partial<Env>, ...nodes: readonly string[]): Promise<SimulatedPlane> {
    const plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'simulated', ...settings })
    const simulated = new SimulatedPlane(plane, clientsetFor(await plane.context(), 'somebody'))
    for (const name of nodes) await simulated.addNode(name)
    await plane.settle()
    return simulated
  }

  async addNode(name: string, labels: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.clients.resource(NODES).create({
      kind: 'Node',
      apiVersion: 'v1',
      metadata: { name, labels: { 'kedge.dev/simulated': 'true', ...labels } },
    })
  }

  /** Rollouts look at ready pods, whose times have whole seconds. */
  async settled(seconds = 20): Promise<void> {
    for (let look = 0; look < seconds; look++) await this.plane.pass(1_000)
  }

  /** By name. */
  async pods(): Promise<Pod[]> {
    const pods = await this.clients.resource(PODS, 'default').list()
    return pods.sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
  }

  /** What was said about an object, each reason and message once. */
  async said(kind: string): Promise<string[]> {
    const events = await this.clients.resource(EVENTS, 'default').list()
    return events
      .filter(({ involvedObject }) => involvedObject?.kind === kind)
      .map(({ type, reason, message, source }) => `${type} ${source?.component} ${reason}: ${message}`)
      .sort()
  }
}
