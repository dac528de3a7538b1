/** How the claims of one pod can be allocated on each node, in one cycle of the scheduler. */
import type { Pod } from '../../../api/core/v1.ts'
import { leastOf } from '../../../base/extremes.ts'
import type { AllocationResult } from '../../../api/resource/v1.ts'
import { claimNameOf, isReservedFor, notMadeFor } from '../../../registry/resource/pod-claims.ts'
import type { Refusal } from '../framework.ts'
import { forGood } from '../framework.ts'
import { matchesSelector } from '../node-selector.ts'
import type { NodeState } from '../node-state.ts'
import type { PodInfo } from '../pod-info.ts'
import { allocationOf } from './allocation.ts'
import { bindingOf } from './binding.ts'
import type { DeviceFacts } from './device-facts.ts'
import { ExtendedPlan } from './extended-plan.ts'
import type { ExtendedRequests } from './extended-resources.ts'
import { unwrittenClaim } from './extended-resources.ts'
import type { Claim, Wish } from './requests.ts'
import { claimProblem, wishOf } from './requests.ts'
import type { Found } from './search.ts'
import { search, SearchBudget } from './search.ts'
import { AllocationFailed } from './selectors.ts'

/** A write that must happen before the pod is bound. */
export interface ClaimWrite {
  readonly claim: Claim
  /** Undefined: the claim is already allocated, and this write only reserves it. */
  readonly allocation: AllocationResult | undefined
  /** Set if the claim is to be created for extended resources: which container gets which device. */
  readonly mappings?: ExtendedRequests['mappings']
  /** The claim after it was created. */
  made?: Claim
}

/** The requests and the devices for them on one node. */
interface OnNode {
  readonly wishes: readonly Wish[]
  readonly found: readonly Found[]
  /** Set if the last of `wishes` is for extended resources. */
  readonly extended: ExtendedRequests | undefined
}

/** The score of a request's first alternative. Each further alternative scores one less. */
const MOST_OPTIONS = 8

export class ClaimPlan {
  /** Why no node fits. */
  readonly problem: string | undefined
  /** Claims whose allocation does not fit some node that was checked, or whose devices failed. */
  private readonly elsewhere = new Set<Claim>()
  private readonly budget = new SearchBudget()
  /** Each node is searched once. */
  private readonly found = new Map<NodeState, OnNode | Refusal>()
  /** The requests of existing claims that are not allocated. */
  private wishes: readonly Wish[] | undefined

  private constructor(
    private readonly pod: Pod,
    private readonly claims: readonly Claim[],
    private readonly extended: ExtendedPlan | undefined,
    private readonly facts: DeviceFacts,
    private readonly now: number,
  ) {
    this.problem = this.findProblem()
  }

  /**
   * `waits`: a claim is missing or not ready, and no message is written. `until`: drivers have until then to prepare
   * devices. Undefined: the pod needs no devices.
   */
  static of(
    { pod, info }: { readonly pod: Pod; readonly info: PodInfo },
    facts: DeviceFacts,
    now: number,
  ): ClaimPlan | 'waits' | { readonly until: number } | undefined {
    // a pod may name one claim twice
    const claims = new Set<Claim>()
    for (const podClaim of pod.spec?.resourceClaims ?? []) {
      const found = claimNameOf(pod, podClaim)
      if (found === 'not made yet') return 'waits'
      if (found.name === undefined) continue
      const claim = facts.claim(pod.metadata.namespace, found.name)
      if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return 'waits'
      if (found.isMade && notMadeFor(pod, claim) !== undefined) return 'waits'
      claims.add(claim)
    }
    const extended = ExtendedPlan.of(pod, info, facts)
    if (extended?.awaited !== undefined) claims.add(extended.awaited)
    if (claims.size === 0 && extended === undefined) return undefined
    const bindings = [...claims].map((claim) => bindingOf(claim, now))
    const times = bindings.flatMap((binding) => (typeof binding === 'string' ? [] : [binding.until]))
    // the scheduler deallocates a failed claim before it waits for others
    if (times.length > 0 && !bindings.includes('failed')) return { until: leastOf(times) }
    return new ClaimPlan(pod, [...claims], extended, facts, now)
  }

  private get unallocated(): readonly Claim[] {
    return this.claims.filter(({ status }) => status?.allocation === undefined)
  }

  private findProblem(): string | undefined {
    for (const claim of this.claims) {
      const isNew = claim.status?.allocation === undefined
      if (!isNew && isFull(claim) && !isReservedFor(this.pod, claim)) return 'resourceclaim in use'
      const problem = isNew ? claimProblem(claim, this.facts.findClass) : undefined
      if (problem !== undefined) return problem
    }
    if (this.unallocated.length === 0 && this.extended === undefined) return undefined
    return this.facts.supply === 'too much' ? 'there are more devices than this scheduler looks at' : undefined
  }

  /** Whether the pod gets the resource from devices, not from the node itself. */
  provides(resource: string, node: NodeState): boolean {
    return this.extended?.provides(resource, node) === true
  }

  /** @throws AllocationFailed */
  refusalOn(node: NodeState): Refusal | undefined {
    const stale = this.extended?.refusalOn(node)
    if (stale !== undefined) return stale
    const away = this.claims.filter((claim) => {
      const selector = claim.status?.allocation?.nodeSelector
      const isElsewhere = selector !== undefined && !matchesSelector(selector, node.node)
      return isElsewhere || bindingOf(claim, this.now) === 'failed'
    })
    const found = this.findOn(node)
    if ('reasons' in found) return found
    // without devices for the other claims, deallocating these would not help
    for (const claim of away) this.elsewhere.add(claim)
    return away.length > 0 ? forGood('resourceclaim not available on the node') : undefined
  }

  private findOn(state: NodeState): OnNode | Refusal {
    const known = this.found.get(state) ?? this.searchOn(state)
    this.found.set(state, known)
    return known
  }

  private searchOn(state: NodeState): OnNode | Refusal {
    const { facts, budget, pod } = this
    const { node, name } = state
    this.wishes ??= this.unallocated.map((claim) => wishOf(claim, facts.findClass))
    const extended = this.extended?.requestsOn(state)
    const more = extended === undefined ? [] : [wishOf(unwrittenClaim(pod, extended.requests), facts.findClass)]
    const wishes = [...this.wishes, ...more]
    if (wishes.length === 0) return { wishes, found: [], extended }
    if (typeof facts.supply === 'string') throw new AllocationFailed(`node ${name}: nothing is known of devices`)
    const { pools, selectors } = facts.supply
    const { isAllocated, usedOf } = facts
    const found = search(wishes, { node, pools: pools.on(node), isAllocated, usedOf, selectors, budget })
    return typeof found === 'string' ? refusals[found] : { wishes, found, extended }
  }

  /** 0 if no request lists alternatives. */
  scoreOn(node: NodeState): number {
    const on = this.findOn(node)
    if ('reasons' in on) return 0
    const lists = on.found.flatMap(({ options }) => [...options].filter(([{ isList }]) => isList))
    return lists.reduce((sum, [{ options }, option]) => sum + MOST_OPTIONS - options.indexOf(option), 0)
  }

  get hasLists(): boolean {
    return this.wishes?.some(({ requests }) => requests.some(({ isList }) => isList)) === true
  }

  /** Reserves the devices for the pod: no other pod of this run gets them. */
  take(node: NodeState): ClaimWrite[] {
    const on = this.findOn(node)
    if ('reasons' in on) throw new Error(`assertion failed: ${node.name} was refused`)
    const allocations = new Map<Claim, AllocationResult>()
    const toMake: ClaimWrite[] = []
    for (const [at, wish] of on.wishes.entries()) {
      const allocation = allocationOf(wish, on.found[at]!, node.node)
      const isExtended = on.extended !== undefined && at === on.wishes.length - 1
      this.facts.allocate(isExtended ? undefined : wish.claim, allocation)
      if (isExtended) toMake.push({ claim: wish.claim, allocation, mappings: on.extended.mappings })
      else allocations.set(wish.claim, allocation)
    }
    const known = this.claims
      .filter((claim) => !isReservedFor(this.pod, claim))
      .map((claim) => ({ claim, allocation: allocations.get(claim) }))
    return [...known, ...toMake]
  }

  /** A claim to deallocate: it keeps the pod from other nodes, and no other pod uses it. */
  get toRelease(): Claim | undefined {
    return [...this.elsewhere].find(
      (claim) =>
        claim !== this.extended?.awaited &&
        (claim.status?.reservedFor ?? []).every(({ uid }) => uid === this.pod.metadata.uid),
    )
  }

  /** A claim that an earlier run made for the pod's extended resources and that is useless now. */
  get toDelete(): Claim | undefined {
    const { stale, awaited } = this.extended ?? {}
    return stale ?? (awaited !== undefined && this.elsewhere.has(awaited) ? awaited : undefined)
  }
}

/** The most pods for which the API reserves a claim. */
const MOST_USERS = 256

const isFull = ({ status }: Claim): boolean => (status?.reservedFor ?? []).length >= MOST_USERS

const refusals = {
  none: forGood('cannot allocate all claims'),
  'invalid pools': forGood('invalid resource pools were encountered'),
} as const
