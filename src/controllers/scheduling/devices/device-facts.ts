/** The claims of the pods of one look, and all devices where some are to be found: read once for all of them. */
import type { Pod } from '../../../api/core/v1.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { AllocationResult, DeviceClass, ResourceClaim, ResourceSlice } from '../../../api/resource/v1.ts'
import { claimNameOf } from '../../../registry/resource/pod-claims.ts'
import type { Clientset } from '../../clientset.ts'
import { typedResource } from '../../clientset.ts'
import { RESOURCE_CLAIMS } from '../../workloads/resource-claim-templates.ts'
import { capacityOf, UsedCapacity } from './capacity.ts'
import type { Capacity } from './capacity.ts'
import { deviceId, Pools } from './pools.ts'
import type { Claim } from './requests.ts'
import { claimText } from './requests.ts'
import { Selectors } from './selectors.ts'

const SLICES = typedResource<ResourceSlice & KubeObject>('resource.k8s.io', 'resourceslices')
const CLASSES = typedResource<DeviceClass & KubeObject>('resource.k8s.io', 'deviceclasses')

/** Devices, their attributes and capacities: what is kept of them is some 50 MB. */
const MOST_PARTS = 200_000

/** What is there to be allocated. */
export interface Supply {
  readonly pools: Pools
  readonly selectors: Selectors
}

export class DeviceFacts {
  /** By NAMESPACE/NAME. */
  private readonly claims = new Map<string, Claim>()
  private readonly classes = new Map<string, DeviceClass>()
  private readonly allocated = new Set<string>()
  private readonly shared = new UsedCapacity()
  /** Claims whose allocation is being written. */
  private readonly underWay = new Set<string>()
  /** `none`: no pod needs any. */
  supply: Supply | 'too much' | 'none' = 'none'

  static async of(pods: readonly Pod[], clients: Clientset): Promise<DeviceFacts> {
    const facts = new DeviceFacts()
    const wanted = new Set(pods.flatMap(claimKeys))
    if (wanted.size === 0) return facts
    for await (const claim of clients.resource(RESOURCE_CLAIMS).each()) {
      facts.noteAllocated(claim.status?.allocation)
      if (wanted.has(claimText(claim))) facts.keep(claim)
    }
    const isSomeNew = [...facts.claims.values()].some(({ status }) => status?.allocation === undefined)
    if (isSomeNew) await facts.readSupply(clients)
    return facts
  }

  private async readSupply(clients: Clientset): Promise<void> {
    for await (const deviceClass of clients.resource(CLASSES).each())
      this.classes.set(deviceClass.metadata.name ?? '', deviceClass)
    const slices: ResourceSlice[] = []
    let parts = 0
    for await (const slice of clients.resource(SLICES).each()) {
      for (const { attributes = {}, capacity = {} } of slice.spec?.devices ?? [])
        parts += 1 + Object.keys(attributes).length + Object.keys(capacity).length
      if (parts > MOST_PARTS) return void (this.supply = 'too much')
      slices.push(slice)
    }
    const engine = await import('../../../expressions/device-matches.ts')
    this.supply = { pools: new Pools(slices), selectors: new Selectors(engine) }
  }

  readonly findClass = (name: string): DeviceClass | undefined => this.classes.get(name)
  readonly isAllocated = (device: string): boolean => this.allocated.has(device)
  readonly usedOf = (device: string): Capacity | undefined => this.shared.of(device)

  claim(namespace: string | undefined, name: string): Claim | undefined {
    return this.claims.get(`${namespace}/${name}`)
  }

  keep(claim: Claim): void {
    this.claims.set(claimText(claim), claim)
  }

  /** From now on nobody else gets these devices, in this look. */
  allocate(claim: ResourceClaim, allocation: AllocationResult): void {
    this.underWay.add(claimText(claim))
    this.noteAllocated(allocation)
  }

  /** @param claim as it was written; undefined: it may not have been */
  written(key: string, claim: Claim | undefined): void {
    this.underWay.delete(key)
    if (claim !== undefined) this.keep(claim)
  }

  /** One of its claims is being allocated for another pod. */
  isUnderWay(pod: Pod): boolean {
    return this.underWay.size > 0 && claimKeys(pod).some((key) => this.underWay.has(key))
  }

  private noteAllocated(allocation: AllocationResult | undefined): void {
    for (const { driver, pool, device, adminAccess, shareID, consumedCapacity } of allocation?.devices?.results ?? []) {
      // who administers a device leaves it to its users
      if (adminAccess === true) continue
      const id = deviceId({ driver, pool, device })
      if (shareID === undefined) this.allocated.add(id)
      else this.shared.add(id, capacityOf(consumedCapacity))
    }
  }
}

const claimKeys = (pod: Pod): string[] =>
  (pod.spec?.resourceClaims ?? []).flatMap((podClaim) => {
    const found = claimNameOf(pod, podClaim)
    return found === 'not made yet' || found.name === undefined ? [] : [`${pod.metadata.namespace}/${found.name}`]
  })
