/**
 * The nodes that the scheduler has just read. Admission looks at the node of each binding: it finds it here, and reads it
 * only where the scheduler has not looked for a second.
 */
import type { Node } from '../../api/core/v1.ts'
import { readingRecent } from '../../tenancy/recent-objects.ts'
import type { ControllerContext } from '../controller.ts'
import type { ResourceClient } from '../resource-client.ts'
import type { ClusterState } from './cluster-state.ts'
import type { NodeState } from './node-state.ts'

/** Milliseconds after which it is looked whether nodes changed. */
const RENEW_MS = 500

export class SeenNodes {
  private at = 0
  private seen: (name: string, node: Node) => void = () => {}

  constructor(
    private readonly state: ClusterState,
    private readonly nodes: ResourceClient<Node>,
    private readonly context: ControllerContext,
  ) {}

  /** Takes over what changed. */
  async read(): Promise<void> {
    this.begin()
    for await (const page of this.nodes.changes(this.state.nodesAt)) this.state.takeNodes(page)
  }

  /** Where nothing changed since, they are as they were seen. What changed is for the next look. */
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

  /** A pod is about to be bound to it. */
  tell({ name, node }: NodeState): void {
    this.seen(name, node)
  }
}
