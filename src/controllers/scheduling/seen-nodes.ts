/**
 * The nodes that the scheduler has just read. Admission of each binding needs the pod's node. It takes the node from
 * here, and reads it only if the last read of the scheduler is more than a second old.
 */
import type { Node } from '../../api/core/v1.ts'
import { readingRecent } from '../../tenancy/recent-objects.ts'
import type { ControllerContext } from '../controller.ts'
import type { ResourceClient } from '../client/resource-client.ts'
import type { ClusterState } from './cluster-state.ts'
import type { NodeState } from './node-state.ts'

/** Milliseconds after which the scheduler checks whether nodes changed. */
const RENEW_MS = 500

export class SeenNodes {
  private at = 0
  private seen: (name: string, node: Node) => void = () => {}

  constructor(
    private readonly state: ClusterState,
    private readonly nodes: ResourceClient<Node>,
    private readonly context: ControllerContext,
  ) {}

  /** Applies the changes of nodes. */
  async read(): Promise<void> {
    this.begin()
    for await (const page of this.nodes.changes(this.state.nodesAt)) this.state.takeNodes(page)
  }

  /** If no node changed, the known nodes count as just read. The next run applies changes. */
  async renew(): Promise<void> {
    if (this.context.now().getTime() - this.at < RENEW_MS) return
    const { seen } = this
    this.begin()
    for await (const { changed, reset } of this.nodes.changes(this.state.nodesAt))
      if (reset || changed.length > 0) {
        this.seen = seen
        return
      }
  }

  private begin(): void {
    this.at = this.context.now().getTime()
    this.seen = readingRecent<Node>(this.context, { group: '', resource: 'nodes' })
  }

  /** Offers the node to admission, because a pod is about to be bound to it. */
  tell({ name, node }: NodeState): void {
    this.seen(name, node)
  }
}
