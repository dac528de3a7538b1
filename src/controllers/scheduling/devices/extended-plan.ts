/**
 * Where the extended resources of one pod come from on each node: the node itself, or devices that a claim allocates.
 */
import type { Pod } from '../../../api/core/v1.ts'
import { isReservedFor } from '../../../registry/resource/pod-claims.ts'
import type { Refusal } from '../framework.ts'
import { forGood } from '../framework.ts'
import type { NodeState } from '../node-state.ts'
import type { PodInfo } from '../pod-info.ts'
import { hasBindingConditions } from './binding.ts'
import type { DeviceFacts } from './device-facts.ts'
import type { ExtendedRequests } from './extended-resources.ts'
import { extendedRequests, wantedExtended } from './extended-resources.ts'
import type { Claim } from './requests.ts'

export class ExtendedPlan {
  private constructor(
    private readonly pod: Pod,
    private readonly wanted: readonly string[],
    private readonly facts: DeviceFacts,
    /** The claim that an earlier run made and allocated. Drivers are preparing its devices. */
    readonly awaited: Claim | undefined,
    /** The claim of an earlier run that did not bind the pod. Its devices may not fit any more. */
    readonly stale: Claim | undefined,
  ) {}

  /** Undefined: no class provides a resource that the pod requests. */
  static of(pod: Pod, info: PodInfo, facts: DeviceFacts): ExtendedPlan | undefined {
    if (!facts.hasExtended(info)) return undefined
    const claim = facts.extendedClaim(info)
    const isAwaited = claim !== undefined && isAwaitedBy(pod, claim)
    return new ExtendedPlan(
      pod,
      wantedExtended(info),
      facts,
      isAwaited ? claim : undefined,
      isAwaited ? undefined : claim,
    )
  }

  provides(resource: string, { allocatable }: NodeState): boolean {
    return (allocatable.get(resource) ?? 0) === 0 && this.facts.classOfResource(resource) !== undefined
  }

  refusalOn(node: NodeState): Refusal | undefined {
    if (this.stale !== undefined) return forGood('cannot schedule extended resource claim')
    // few: the resources of one pod
    const isMissing = this.wanted.some((name) => !node.allocatable.has(name) && !this.provides(name, node))
    return isMissing ? forGood('cannot fit resource') : undefined
  }

  /** Undefined: the pod needs no devices there. */
  requestsOn(node: NodeState): ExtendedRequests | undefined {
    if (this.awaited !== undefined) return undefined
    const ofDevices = this.wanted.filter((name) => this.provides(name, node))
    return ofDevices.length === 0 ? undefined : extendedRequests(this.pod, ofDevices, this.facts.classOfResource)
  }
}

const isAwaitedBy = (pod: Pod, claim: Claim): boolean =>
  pod.status?.extendedResourceClaimStatus?.resourceClaimName === claim.metadata.name &&
  isReservedFor(pod, claim) &&
  hasBindingConditions(claim.status?.allocation?.devices?.results)
