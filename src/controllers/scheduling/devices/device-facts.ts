/** The claims of the pods of one run, and all devices if some pod needs devices. A run reads them once. */
import type { Pod } from '../../../api/core/v1.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { AllocationResult, DeviceClass, ResourceClaim, ResourceSlice } from '../../../api/resource/v1.ts'
import { ExtendedResources, isExtendedClaim } from '../../../registry/resource/extended-claims.ts'
import { claimNameOf, podOfClaim } from '../../../registry/resource/pod-claims.ts'
import type { Clientset } from '../../client/clientset.ts'
import { typedResource } from '../../client/clientset.ts'
import { RULES, SLICES } from '../../device-taints/device-taints.ts'
import { withRules } from '../../device-taints/evicting-taints.ts'
import { RESOURCE_CLAIMS } from '../../workloads/resource-claim/templates.ts'
import { capacityOf, UsedCapacity } from './capacity.ts'
import type { Capacity } from './capacity.ts'
import type { NodeState } from '../node-state.ts'
import type { PodInfo } from '../pod-info.ts'
import { wantedExtended } from './extended-resources.ts'
import { deviceId, Pools } from './pools.ts'
import type { Claim } from './requests.ts'
import { claimText } from './requests.ts'
import type { SearchBudget } from './search.ts'
import { AllocationFailed, Selectors } from './selectors.ts'

const CLASSES = typedResource<DeviceClass & KubeObject>('resource.k8s.io', 'deviceclasses')

/** Devices, attributes and capacities of all slices together: the cached data takes some 50 MB. */
const MOST_PARTS = 200_000

/** The devices that can be allocated. */
export interface Supply {
  readonly pools: Pools
  readonly selectors: Selectors
}

export class DeviceFacts {
  /** By NAMESPACE/NAME. */
  private readonly claims = new Map<string, Claim>()
  /** Claims for extended resources of pods, by the uid of the pod. */
  private readonly extendedClaims = new Map<string, Claim>()
  private readonly classes = new Map<string, DeviceClass & KubeObject>()
  /** Undefined until the classes are read. */
  private extended: ExtendedResources | undefined
  private readonly allocated = new Set<string>()
  private readonly shared = new UsedCapacity()
  /** Claims whose allocation is being written. */
  private readonly underWay = new Set<string>()
  /** `none`: no pod needs devices. */
  supply: Supply | 'too much' | 'none' = 'none'

  /** @param heedsRules whether DeviceTaintRules have an effect */
  static async of(pods: readonly Asking[], clients: Clientset, heedsRules = false): Promise<DeviceFacts> {
    const facts = new DeviceFacts()
    const wanted = new Set(pods.flatMap(({ pod }) => claimKeys(pod)))
    const mayHaveExtended = pods.filter(({ info }) => wantedExtended(info).length > 0)
    if (mayHaveExtended.length > 0) await facts.readClasses(clients)
    const extended = new Set(mayHaveExtended.flatMap(({ info }) => (facts.hasExtended(info) ? [info.uid] : [])))
    if (wanted.size + extended.size === 0) return facts
    for await (const claim of clients.resource(RESOURCE_CLAIMS).each()) {
      facts.noteAllocated(claim.status?.allocation)
      if (wanted.has(claimText(claim))) facts.keep(claim)
      const uid = isExtendedClaim(claim) ? podOfClaim(claim)?.uid : undefined
      if (uid !== undefined && extended.has(uid)) facts.extendedClaims.set(uid, claim)
    }
    const isSomeNew = [...facts.claims.values()].some(({ status }) => status?.allocation === undefined)
    if (isSomeNew || extended.size > 0) await facts.readSupply(clients, heedsRules)
    return facts
  }

  private async readClasses(clients: Clientset): Promise<void> {
    if (this.extended !== undefined) return
    for await (const deviceClass of clients.resource(CLASSES).each())
      this.classes.set(deviceClass.metadata.name ?? '', deviceClass)
    this.extended = new ExtendedResources(this.classes.values())
  }

  private async readSupply(clients: Clientset, heedsRules: boolean): Promise<void> {
    await this.readClasses(clients)
    const rules = heedsRules ? ((await clients.ifKnown(RULES)?.list()) ?? []) : []
    const slices: ResourceSlice[] = []
    let parts = 0
    for await (const slice of clients.resource(SLICES).each()) {
      for (const { attributes = {}, capacity = {} } of slice.spec?.devices ?? [])
        parts += 1 + Object.keys(attributes).length + Object.keys(capacity).length
      if (parts > MOST_PARTS) return void (this.supply = 'too much')
      slices.push(withRules(slice, rules))
    }
    const engine = await import('../../../expressions/device-matches.ts')
    this.supply = { pools: new Pools(slices), selectors: new Selectors(engine) }
  }

  readonly findClass = (name: string): DeviceClass | undefined => this.classes.get(name)
  readonly classOfResource = (resource: string): DeviceClass | undefined => this.extended?.classOf(resource)
  readonly isAllocated = (device: string): boolean => this.allocated.has(device)
  readonly usedOf = (device: string): Capacity | undefined => this.shared.of(device)

  claim(namespace: string | undefined, name: string): Claim | undefined {
    return this.claims.get(`${namespace}/${name}`)
  }

  /** Whether DeviceClasses provide resources that the pod requests. */
  hasExtended(info: PodInfo): boolean {
    return wantedExtended(info).some((resource) => this.classOfResource(resource) !== undefined)
  }

  /**
   * The node's devices for a resource, and how many of them are allocated, for scores.
   * @param budget for all nodes together. If it is used up or a selector fails, the result is undefined
   */
  countOn(resource: string, { node }: NodeState, budget: SearchBudget): { capacity: number; used: number } | undefined {
    const deviceClass = this.classOfResource(resource)
    if (deviceClass === undefined || typeof this.supply === 'string') return undefined
    const { pools, selectors } = this.supply
    const whose = `class ${deviceClass.metadata.name}`
    const count = { capacity: 0, used: 0 }
    try {
      for (const device of pools.on(node).flatMap(({ devices }) => devices)) {
        budget.look()
        if (!device.isOn(node) || !selectors.select(whose, deviceClass.spec?.selectors, device, budget)) continue
        count.capacity++
        if (this.isAllocated(device.id) || this.usedOf(device.id) !== undefined) count.used++
      }
    } catch (error) {
      if (!(error instanceof AllocationFailed)) throw error
      return undefined
    }
    return count
  }

  /** The claim that an earlier run made for the pod's extended resources. */
  extendedClaim({ uid }: PodInfo): Claim | undefined {
    return this.extendedClaims.get(uid)
  }

  keep(claim: Claim): void {
    this.claims.set(claimText(claim), claim)
  }

  /**
   * Reserves these devices: no other pod of this run gets them.
   * @param claim undefined: the claim does not exist yet, so no other pod names it
   */
  allocate(claim: ResourceClaim | undefined, allocation: AllocationResult): void {
    if (claim !== undefined) this.underWay.add(claimText(claim))
    this.noteAllocated(allocation)
  }

  /** @param claim the claim as written; undefined: the write may have failed */
  written(key: string, claim: Claim | undefined): void {
    this.underWay.delete(key)
    if (claim !== undefined) this.keep(claim)
  }

  /** Whether another pod of this run is getting devices for one of the pod's claims. */
  isUnderWay(pod: Pod): boolean {
    return this.underWay.size > 0 && claimKeys(pod).some((key) => this.underWay.has(key))
  }

  private noteAllocated(allocation: AllocationResult | undefined): void {
    for (const { driver, pool, device, adminAccess, shareID, consumedCapacity } of allocation?.devices?.results ?? []) {
      // admin access leaves a device to its users
      if (adminAccess === true) continue
      const id = deviceId({ driver, pool, device })
      if (shareID === undefined) this.allocated.add(id)
      else this.shared.add(id, capacityOf(consumedCapacity))
    }
  }
}

/** A pod that needs a node. */
interface Asking {
  readonly pod: Pod
  readonly info: PodInfo
}

const claimKeys = (pod: Pod): string[] =>
  (pod.spec?.resourceClaims ?? []).flatMap((podClaim) => {
    const found = claimNameOf(pod, podClaim)
    return found === 'not made yet' || found.name === undefined ? [] : [`${pod.metadata.namespace}/${found.name}`]
  })
