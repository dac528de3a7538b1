/** One reconciliation of a StatefulSet's pods: creates, repairs, scales down and rolls out, each by ordinals. */
import type { StatefulSet } from '../../../api/apps/v1.ts'
import type { Pod } from '../../../api/core/v1.ts'
import { StatusError } from '../../../api/status.ts'
import type { WorkBudget } from '../../../storage/shards/turn-budget.ts'
import type { ResourceClient } from '../../client/resource-client.ts'
import { isGone } from '../../work/unless-gone.ts'
import { scaled } from '../deployment/numbers.ts'
import type { EventRecorder } from '../events/events.ts'
import { slowStart } from '../pods/pod-control.ts'
import { isFinished, isTerminating } from '../pods/pod-state.ts'
import { BURST } from '../replicas.ts'
import type { StatefulClaims } from './claims.ts'
import type { Revisions } from './revisions.ts'
import {
  endOrdinal,
  firstOrdinal,
  hasStorage,
  isInRange,
  isOrdered,
  isRight,
  isRunningAndReady,
  isUnavailable,
  newStatefulPod,
  ordinalOf,
  podRevision,
  putRight,
} from './pods.ts'
import { templateOf } from '../templates/revisions.ts'

interface Looking {
  readonly set: StatefulSet
  readonly revisions: Revisions
  readonly claims: StatefulClaims
  readonly pods: ResourceClient<Pod>
  readonly events: EventRecorder
  readonly now: Date
  readonly budget: WorkBudget
  /** Whether the gate MaxUnavailableStatefulSet is on. */
  readonly maxUnavailable: boolean
}

/** Whether the step goes on with the next pod, or ends to wait for this one. */
type Next = 'on' | 'waits'

export class StatefulSetStep {
  /** How many pods this reconciliation deletes because their revision is old. */
  leaving = 0
  private readonly isOrdered: boolean

  constructor(private readonly look: Looking) {
    this.isOrdered = isOrdered(look.set)
  }

  /** @throws the error of creating, repairing or deleting a pod */
  async run(pods: readonly Pod[]): Promise<void> {
    const { set } = this.look
    const wanted = new Map(pods.filter((pod) => isInRange(set, pod)).map((pod) => [ordinalOf(pod), pod]))
    const condemned = pods.filter((pod) => ordinalOf(pod) >= 0 && !isInRange(set, pod))
    condemned.sort((a, b) => ordinalOf(b) - ordinalOf(a))
    if ((await this.keep(wanted)) === 'waits') return
    for (const pod of condemned) if (!(await this.look.claims.followPolicy(pod))) await this.look.claims.update(pod)
    if ((await this.scaleDown(condemned)) === 'waits') return
    if (set.spec?.updateStrategy?.type === 'OnDelete') return
    await this.rollOut([...wanted.values()].sort((a, b) => ordinalOf(b) - ordinalOf(a)))
  }

  /** Creates and repairs the wanted pods. */
  private async keep(wanted: ReadonlyMap<number, Pod>): Promise<Next> {
    const { set } = this.look
    const end = endOrdinal(set)
    if (this.isOrdered) {
      for (let ordinal = firstOrdinal(set); ordinal < end; ordinal++) {
        const pod = wanted.get(ordinal)
        if (pod === undefined) {
          await this.create(ordinal)
          return 'waits'
        }
        if ((await this.mend(pod)) === 'waits') return 'waits'
      }
      return 'on'
    }
    for (const pod of wanted.values()) await this.mend(pod)
    const missing: number[] = []
    for (let ordinal = firstOrdinal(set); ordinal < end && missing.length < BURST; ordinal++)
      if (!wanted.has(ordinal)) missing.push(ordinal)
    // few: at most BURST
    await slowStart(missing.length, (at) => this.create(missing[at]!), this.look.budget)
    return missing.length > 0 ? 'waits' : 'on'
  }

  private async create(ordinal: number): Promise<void> {
    const { set, claims, pods } = this.look
    const revision = this.isOfCurrent(ordinal) ? this.look.revisions.current : this.look.revisions.update
    const pod = newStatefulPod(set, templateOf(revision), revision.metadata.name ?? '', ordinal)
    if (await claims.areStale(pod)) return
    let created: Pod
    try {
      await claims.create(pod)
      created = await pods.create(pod)
    } catch (error) {
      const isTaken = error instanceof StatusError && error.status.reason === 'AlreadyExists'
      const isEnding =
        error instanceof StatusError &&
        error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating')
      if (!isTaken && !isEnding) await this.failed('Create', pod, error)
      throw error
    }
    await claims.update(created).catch(async (error: unknown) => {
      await this.failed('Update', pod, error)
      throw error
    })
    await this.succeeded('Create', pod)
  }

  /** Whether a pod gets the current revision, because its ordinal is below the partition. */
  private isOfCurrent(ordinal: number): boolean {
    const { set } = this.look
    const { type, rollingUpdate } = set.spec?.updateStrategy ?? {}
    if (rollingUpdate !== undefined) return ordinal < firstOrdinal(set) + (rollingUpdate.partition ?? 0)
    return type === 'RollingUpdate' && ordinal < firstOrdinal(set) + (set.status?.currentReplicas ?? 0)
  }

  private async mend(pod: Pod): Promise<Next> {
    const { set, claims, now } = this.look
    if (isFinished(pod)) {
      if (!isTerminating(pod)) await this.delete(pod)
      return 'waits'
    }
    if (pod.status?.phase === 'Pending') {
      await claims.create(pod)
      await claims.update(pod)
    }
    if (this.isOrdered && (isTerminating(pod) || !isRunningAndReady(pod) || isUnavailable(pod, set, now)))
      return 'waits'
    await this.update(pod)
    return 'on'
  }

  private async update(pod: Pod): Promise<void> {
    const { set, claims, pods } = this.look
    const followsPolicy = await claims.followPolicy(pod)
    const isWrong = !isRight(set, pod)
    if (followsPolicy && !isWrong) return
    try {
      if (!hasStorage(set, pod)) await claims.create(pod)
      if (!followsPolicy) await claims.update(pod)
      // the listed pod may be the head of one
      if (isWrong) await pods.updateWithRetries(pod, (live) => putRight(set, live))
    } catch (error) {
      await this.failed('Update', pod, error)
      throw error
    }
    await this.succeeded('Update', pod)
  }

  /**
   * Deletes condemned pods, the highest ordinal first. An ordered set deletes one at a time, and only if that pod is
   * available or the lowest unavailable one.
   */
  private async scaleDown(condemned: readonly Pod[]): Promise<Next> {
    const { set, now } = this.look
    const firstUnavailable = condemned.findLast((pod) => isUnavailable(pod, set, now))
    if (!this.isOrdered) {
      const going = condemned.filter((pod) => !isTerminating(pod)).slice(0, BURST)
      await slowStart(going.length, (at) => this.delete(going[at]!), this.look.budget)
      return 'on'
    }
    const [pod] = condemned
    if (pod === undefined) return 'on'
    const isWell = isRunningAndReady(pod) && !isUnavailable(pod, set, now)
    if (!isTerminating(pod) && (isWell || pod === firstUnavailable)) await this.delete(pod)
    return 'waits'
  }

  /** @param pods the wanted pods, the highest ordinal first */
  private async rollOut(pods: readonly Pod[]): Promise<void> {
    const { set, revisions, now, maxUnavailable } = this.look
    const partition = set.spec?.updateStrategy?.rollingUpdate?.partition ?? 0
    const candidates = pods.filter((pod) => ordinalOf(pod) - firstOrdinal(set) >= partition)
    const isOld = (pod: Pod) => podRevision(pod) !== revisions.update.metadata.name && !isTerminating(pod)
    if (maxUnavailable) {
      const unavailable = pods.filter((pod) => isUnavailable(pod, set, now)).length
      const going = candidates.filter(isOld).slice(0, Math.max(0, this.mostUnavailable() - unavailable))
      for (const pod of going) await this.replace(pod)
      return
    }
    const next = candidates.find((pod) => isOld(pod) || isUnavailable(pod, set, now))
    if (next !== undefined && isOld(next)) await this.replace(next)
  }

  private mostUnavailable(): number {
    const { replicas = 1, updateStrategy } = this.look.set.spec ?? {}
    return Math.max(1, scaled(updateStrategy?.rollingUpdate?.maxUnavailable ?? 1, replicas, Math.floor))
  }

  private async replace(pod: Pod): Promise<void> {
    await this.delete(pod)
    this.leaving++
  }

  private async delete(pod: Pod): Promise<void> {
    try {
      await this.look.pods.delete(pod)
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      if (!(await isGone(this.look.pods, pod, error))) {
        await this.failed('Delete', pod, error)
        throw error
      }
    }
    await this.succeeded('Delete', pod)
  }

  private succeeded(verb: string, pod: Pod): Promise<void> {
    return this.look.events.normal(this.look.set, `Successful${verb}`, `${this.about(verb, pod)} successful`)
  }

  private failed(verb: string, pod: Pod, error: unknown): Promise<void> {
    const why = error instanceof Error ? error.message : String(error)
    return this.look.events.warning(this.look.set, `Failed${verb}`, `${this.about(verb, pod)} failed error: ${why}`)
  }

  private about(verb: string, { metadata }: Pod): string {
    return `${verb} Pod ${metadata.name} in StatefulSet ${this.look.set.metadata.name}`
  }
}
