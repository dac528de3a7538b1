/**
 * Pods whose kubelets are at work. A run does not wait for them where other work waits for the run: a webhook for the
 * pods of one namespace may take thirty seconds, and no kubelet of a cluster waits for another.
 */

/** Pods that earlier runs left. Where there are so many, further pods wait for their end. */
const MOST_LEFT = 64
const MOST_LEFT_OF_NAMESPACE = 8

export interface PodUnderWay {
  /** The address that it gets. */
  ip?: string | undefined
  /** The kubelet handles it once more: it changed meanwhile. */
  isAgain?: true
}

export class PodsUnderWay {
  /** By NAMESPACE/NAME. Bound: MOST_LEFT, and those of one run. */
  private readonly pods = new Map<string, PodUnderWay>()
  /** Failed after their run. Bound: as above. */
  private readonly failed = new Set<string>()

  begin(key: string): PodUnderWay {
    const pod: PodUnderWay = {}
    this.pods.set(key, pod)
    return pod
  }

  /** @returns whether the kubelet is to handle the pod once more */
  end(key: string): boolean {
    const isAgain = this.pods.get(key)?.isAgain === true
    this.pods.delete(key)
    return isAgain
  }

  /** A run comes by the pod: if an earlier one left it, it is handled once more. @returns whether that is so */
  askAgain(key: string): boolean {
    const pod = this.pods.get(key)
    if (pod !== undefined) pod.isAgain = true
    return pod !== undefined
  }

  /** Whether further pods of the namespace wait. */
  areMany(namespace: string): boolean {
    if (this.pods.size >= MOST_LEFT) return true
    let ofNamespace = 0
    for (const key of this.pods.keys()) if (key.startsWith(`${namespace}/`)) ofNamespace++
    return ofNamespace >= MOST_LEFT_OF_NAMESPACE
  }

  hasAddress(ip: string): boolean {
    for (const pod of this.pods.values()) if (pod.ip === ip) return true
    return false
  }

  fail(key: string): void {
    this.failed.add(key)
  }

  takeFailed(): readonly string[] {
    const keys = [...this.failed]
    this.failed.clear()
    return keys
  }
}
