/**
 * Finds devices of one node for all claims of a pod. The first solution in the order of claims, requests, pools, slices
 * and devices wins, as in kube-scheduler's allocator, so that both choose the same devices.
 */
import { addTo } from '../../../base/lookup.ts'
import type { Node } from '../../../api/core/v1.ts'
import type { Quantity } from '../../../schema/quantity.ts'
import type { Capacity } from './capacity.ts'
import { consumedOf, hasRoom, isShared, UsedCapacity } from './capacity.ts'
import type { Constraint } from './constraints.ts'
import type { Pool, PoolDevice } from './pools.ts'
import { takeCounters } from './counters.ts'
import type { Option, Request, Wish } from './requests.ts'
import { claimText, constraintsOf, isRepelled } from './requests.ts'
import type { Selectors } from './selectors.ts'
import { AllocationFailed } from './selectors.ts'

/** The most devices of one claim that the API allows. */
const MOST_DEVICES = 32
/** The most devices of all claims of a pod. It limits the depth of the search. */
const MOST_OF_POD = 512

export interface Chosen {
  readonly option: Option
  readonly device: PoolDevice
  /** The capacity that this use of a shareable device consumes. */
  readonly share: Capacity | undefined
}

/** The devices of one claim, and the alternative that was chosen for each request. */
export interface Found {
  readonly devices: readonly Chosen[]
  readonly options: ReadonlyMap<Request, Option>
}

/**
 * The budget of the search for one pod, on all nodes together. The search is one turn, and other requests of the
 * isolate wait for it.
 */
export class SearchBudget {
  /** Units of CEL's cost. */
  left = 250_000
  /** Devices that the search may still check. */
  private looks = 25_000

  /** @throws AllocationFailed */
  look(): void {
    if (--this.looks < 0 || this.left < 0)
      throw new AllocationFailed('gave up looking for devices: there are too many combinations to try')
  }
}

export interface Searched {
  readonly node: Node
  readonly pools: readonly Pool[]
  readonly isAllocated: (device: string) => boolean
  /** The consumed capacity of shared devices; undefined: none is consumed. */
  readonly usedOf: (device: string) => Capacity | undefined
  readonly selectors: Selectors
  readonly budget: SearchBudget
}

type Outcome = 'found' | 'none' | 'too many'

export type SearchResult = readonly Found[] | 'none' | 'invalid pools'

/** @throws AllocationFailed */
export function search(wishes: readonly Wish[], where: Searched): SearchResult {
  const running = new Search(wishes, where)
  const outcome = running.run()
  if (outcome === 'found') return running.found
  return where.pools.some(({ state }) => state === 'invalid') ? 'invalid pools' : 'none'
}

class Search {
  private readonly candidates: readonly PoolDevice[]
  private readonly constraints: readonly (readonly Constraint[])[]
  private readonly chosen: readonly Chosen[][]
  private readonly options: readonly Map<Request, Option>[]
  /** The devices of each request for all devices. */
  private readonly all = new Map<Option, readonly PoolDevice[]>()
  /** The claims that use a device, in this search. */
  private readonly taken = new Map<string, number[]>()
  /** The capacity of shared devices that this search consumes. */
  private readonly used = new UsedCapacity()
  private readonly poolOf = new Map<PoolDevice, Pool>()
  private readonly counters = new Map<Pool, Map<string, Quantity>>()

  constructor(
    private readonly wishes: readonly Wish[],
    private readonly where: Searched,
  ) {
    this.candidates = where.pools.flatMap(({ devices }) => devices)
    for (const pool of where.pools) for (const device of pool.devices) this.poolOf.set(device, pool)
    this.constraints = wishes.map(({ claim }) => constraintsOf(claim))
    this.chosen = wishes.map(() => [])
    this.options = wishes.map(() => new Map())
  }

  get found(): Found[] {
    return this.wishes.map((_, at) => ({ devices: this.chosen[at]!, options: this.options[at]! }))
  }

  run(): Outcome {
    let least = 0
    for (const [at, { claim, requests }] of this.wishes.entries()) {
      const ofClaim = requests.reduce((sum, { options }) => sum + this.leastOf(at, options), 0)
      if (ofClaim > MOST_DEVICES)
        throw new AllocationFailed(
          `claim ${claimText(claim)}: number of requested devices ${ofClaim} exceeds the claim limit of ${MOST_DEVICES}`,
        )
      least += ofClaim
    }
    if (least > MOST_OF_POD) throw new AllocationFailed(`all claims together ask for more than ${MOST_OF_POD} devices`)
    return this.next(0, 0)
  }

  private leastOf(claim: number, options: readonly Option[]): number {
    return options.reduce((least, option) => Math.min(least, this.countOf(claim, option)), Infinity)
  }

  private countOf(claim: number, option: Option): number {
    if (!option.isAll) return option.count
    const known = this.all.get(option) ?? this.allFor(claim, option)
    this.all.set(option, known)
    return known.length
  }

  private allFor(claim: number, option: Option): readonly PoolDevice[] {
    return this.where.pools.flatMap(({ id, state, devices }) => {
      if (state === 'usable')
        return devices.filter((device) => this.isSelected(claim, option, device) && this.hasRoom(option, device))
      const why = state === 'invalid' ? 'invalid' : 'being updated'
      throw new AllocationFailed(
        `claim ${claimText(this.wishes[claim]!.claim)}, request ${option.ownName}: asks for all devices, but resource pool ${id} is currently ${why}`,
      )
    })
  }

  private next(claim: number, at: number): Outcome {
    const wish = this.wishes[claim]
    if (wish === undefined) return 'found'
    const request = wish.requests[at]
    if (request === undefined) {
      const outcome = this.next(claim + 1, 0)
      // earlier claims may do with fewer devices, so the search may continue
      return outcome === 'too many' ? 'none' : outcome
    }
    let isAlwaysTooMany = true
    for (const option of request.options) {
      this.options[claim]!.set(request, option)
      const outcome = this.take({ claim, at, option }, 0, 0)
      if (outcome === 'found') return outcome
      isAlwaysTooMany &&= outcome === 'too many'
    }
    return isAlwaysTooMany ? 'too many' : 'none'
  }

  /** @param from the first device to try: the order of devices within a request does not matter */
  private take(place: Place, done: number, from: number): Outcome {
    this.where.budget.look()
    const { claim, at, option } = place
    const count = this.countOf(claim, option)
    if (option.isAll && count === 0) return 'none'
    if (done >= count) return this.next(claim, at + 1)
    if (this.chosen[claim]!.length + count - done > MOST_DEVICES) return 'too many'
    if (option.isAll) return this.takeAll(place, done)
    for (let candidate = from; candidate < this.candidates.length; candidate++) {
      this.where.budget.look()
      const device = this.candidates[candidate]!
      if (this.isInUse(place, device) || !this.isSelected(claim, option, device) || !this.add(place, device)) continue
      const outcome = this.take(place, done + 1, candidate + 1)
      if (outcome === 'found') return outcome
      this.remove(place, device)
      if (outcome === 'too many') return outcome
    }
    return 'none'
  }

  private takeAll(place: Place, done: number): Outcome {
    const device = this.all.get(place.option)![done]!
    if (this.isInUse(place, device) || !this.add(place, device, true)) return 'none'
    const outcome = this.take(place, done + 1, 0)
    if (outcome !== 'found') this.remove(place, device)
    return outcome
  }

  private isInUse({ claim, option }: Place, { id }: PoolDevice): boolean {
    const taken = this.taken.get(id) ?? []
    // admin access may use a device that is in use
    return option.isAdmin ? taken.includes(claim) : taken.length > 0 || this.where.isAllocated(id)
  }

  private isSelected(claim: number, { wanted, deviceClass }: Option, device: PoolDevice): boolean {
    const { selectors, budget, node } = this.where
    const whose = `claim ${claimText(this.wishes[claim]!.claim)}`
    return (
      device.isOn(node) &&
      selectors.select(`class ${deviceClass.metadata.name}`, deviceClass.spec?.selectors, device, budget) &&
      selectors.select(whose, wanted.selectors, device, budget)
    )
  }

  private hasRoom({ wanted }: Option, { id, device }: PoolDevice): boolean {
    return hasRoom(device, wanted.capacity?.requests, [this.where.usedOf(id), this.used.of(id)])
  }

  /**
   * Adds the device if it has what it takes. A constraint that keeps a request for all devices from one of them ends the
   * search, so the checks come in kube-scheduler's order.
   * @param must whether no other device is possible
   */
  private add({ claim, option }: Place, device: PoolDevice, must = false): boolean {
    if (!this.addToCounters(device)) return false
    if (isRepelled(device.device.taints, option)) return this.giveUp(device)
    if (!this.addToConstraints(claim, option, device)) {
      if (!must) return this.giveUp(device)
      throw new AllocationFailed(
        `claim ${claimText(this.wishes[claim]!.claim)}, request ${option.ownName}: cannot add device ${device.id} because a claim constraint would not be satisfied`,
      )
    }
    if (!this.hasRoom(option, device)) {
      for (const constraint of this.constraints[claim]!) constraint.remove(option.name, device)
      return this.giveUp(device)
    }
    const share = isShared(device.device) ? consumedOf(device.device, option.wanted.capacity?.requests) : undefined
    if (share === undefined) addTo(this.taken, device.id, claim)
    else this.used.add(device.id, share)
    this.chosen[claim]!.push({ option, device, share })
    return true
  }

  /** Gives the counters of a device back that was not added. */
  private giveUp(device: PoolDevice): false {
    const left = this.hasShares(device) ? undefined : this.countersOf(device)
    if (left !== undefined) takeCounters(left, device.device, -1)
    return false
  }

  private addToConstraints(claim: number, { name }: Option, device: PoolDevice): boolean {
    const added: Constraint[] = []
    for (const constraint of this.constraints[claim]!) {
      if (!constraint.add(name, device)) {
        for (const before of added) before.remove(name, device)
        return false
      }
      added.push(constraint)
    }
    return true
  }

  private addToCounters(device: PoolDevice): boolean {
    const left = this.hasShares(device) ? undefined : this.countersOf(device)
    if (left === undefined || takeCounters(left, device.device, 1)) return true
    takeCounters(left, device.device, -1)
    return false
  }

  /** Whether the device already has shares. The first share took the counters. */
  private hasShares({ id }: PoolDevice): boolean {
    return this.where.usedOf(id) !== undefined || this.used.of(id) !== undefined
  }

  private countersOf(device: PoolDevice): Map<string, Quantity> | undefined {
    const pool = this.poolOf.get(device)
    if (pool?.counters === undefined) return undefined
    const left =
      this.counters.get(pool) ??
      pool.counters.left((id) => this.where.isAllocated(id) || this.where.usedOf(id) !== undefined)
    this.counters.set(pool, left)
    return left
  }

  private remove({ claim, option }: Place, device: PoolDevice): void {
    const share = this.chosen[claim]!.pop()?.share
    if (share === undefined) {
      const taken = this.taken.get(device.id) ?? []
      taken.splice(taken.indexOf(claim), 1)
    } else this.used.remove(device.id, share)
    const left = this.hasShares(device) ? undefined : this.countersOf(device)
    if (left !== undefined) takeCounters(left, device.device, -1)
    for (const constraint of this.constraints[claim]!) constraint.remove(option.name, device)
  }
}

interface Place {
  readonly claim: number
  /** The index of the request. */
  readonly at: number
  readonly option: Option
}
