import { ClusterState } from './cluster-state.ts'
import { LateBindings } from './late-bindings.ts'

/** What stays of a control plane between two runs. An isolate remembers a limited number of control planes. */
export class Kept {
  readonly late = new LateBindings()
  state = new ClusterState(this.late)
  /** Settles: at the end of the decision that goes on. */
  decision: Promise<void> | undefined
  /** A write failed after its run. */
  isDoubtful = false

  /** The next run reads everything again. */
  forget(): void {
    this.state = new ClusterState(this.late)
    this.isDoubtful = false
  }
}
