/**
 * Bindings that go on after the run that decided them. A run does not wait for them where other work waits for the run: a
 * webhook for the bindings of one namespace may take thirty seconds, and kube-scheduler, too, goes on meanwhile.
 */
import type { Pod } from '../../api/core/v1.ts'

/** The writes that earlier runs may have left. With more of them a run waits for its own. */
const MOST_LATE = 64

interface LateBinding {
  readonly uid: string
  readonly node: string
  /** Whether the pod changed meanwhile. */
  hasChanged?: true
}

export class LateBindings {
  /** By NAMESPACE/NAME. Bound: MOST_LATE, and the writes of one run. */
  private readonly pods = new Map<string, LateBinding>()
  private writes = 0

  get areMany(): boolean {
    return this.writes >= MOST_LATE
  }

  /** A run leaves its last writes: these pods are among them. */
  begin(writes: number, bindings: Iterable<readonly [key: string, binding: LateBinding]>): void {
    this.writes += writes
    for (const [key, binding] of bindings) this.pods.set(key, binding)
  }

  end(writes: number): void {
    this.writes -= writes
  }

  /** @returns the node that a pod is being bound to, which has changed and is unbound */
  nodeOfChanged(key: string, pod: Pod): string | undefined {
    const binding = this.pods.get(key)
    if (binding === undefined || binding.uid !== pod.metadata.uid) return undefined
    binding.hasChanged = true
    return binding.node
  }

  /** The binding is over. @returns undefined: the pod is gone, or has a node */
  take(key: string, uid: string): LateBinding | undefined {
    const binding = this.pods.get(key)
    if (binding?.uid !== uid) return undefined
    this.pods.delete(key)
    return binding
  }

  /** The pod is gone, or has a node. */
  forget(key: string): void {
    this.pods.delete(key)
  }
}
