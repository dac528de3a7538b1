/** Reads the evicting taints of devices, from ResourceSlices and from DeviceTaintRules. */
import type { Pod } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import type { DeviceTaint, ResourceClaim, ResourceSlice } from '../../api/resource/v1.ts'
import type { DeviceTaintRule } from '../../api/resource/v1beta2.ts'
import { claimNameOf, isReservedFor, notMadeFor } from '../../registry/resource/pod-claims.ts'
import { settingsOf } from '../../settings.ts'
import { perTenant } from '../../tenancy/tenant-state.ts'
import type { Clientset } from '../client/clientset.ts'
import { typedResource } from '../client/clientset.ts'
import type { ControllerContext } from '../controller.ts'
import { isNoExecute, TaintedPlaces } from '../nodes/tainted-places.ts'
import { RESOURCE_CLAIMS } from '../workloads/resource-claim/templates.ts'
import type { EvictingTaint, Eviction } from './evicting-taints.ts'
import { earliest, evictionBy, poolText, selects, taintedPool } from './evicting-taints.ts'

export type Claim = ResourceClaim & KubeObject
export type Rule = DeviceTaintRule & KubeObject

export const SLICES = typedResource<ResourceSlice & KubeObject>('resource.k8s.io', 'resourceslices')
export const RULES = typedResource<Rule>('resource.k8s.io', 'devicetaintrules')
/** The most slices with evicting taints that the controller keeps between two runs. */
const MOST = 10_000

const states = perTenant('forgotten', () => new TaintedPlaces<ResourceSlice & KubeObject>(MOST, taintedPool))

/** Whether DeviceTaintRules have an effect: their feature gate and their API are off by default. */
export const heedsRules = (context: ControllerContext): boolean =>
  settingsOf(context.env).gates.enabled('DRADeviceTaintRules')

export class DeviceTaints {
  private constructor(
    private readonly clients: Clientset,
    private readonly context: ControllerContext,
    private readonly tainted: TaintedPlaces<ResourceSlice & KubeObject>,
    /** The rules with the effect NoExecute. */
    private readonly rules: readonly Rule[],
  ) {}

  static async read(clients: Clientset, context: ControllerContext): Promise<DeviceTaints> {
    const tainted = states(context.tenant)
    await context.once('slices that changed', () => tainted.look((at) => clients.resource(SLICES).changes(at)))
    return new DeviceTaints(clients, context, tainted, await evictingRules(clients, context))
  }

  /** The same taints, and no rule but this one. */
  withRule(rule: Rule): DeviceTaints {
    return new DeviceTaints(this.clients, this.context, this.tainted, [rule])
  }

  /** Whether some device may have an evicting taint. */
  get any(): boolean {
    return this.tainted.any || this.rules.length > 0
  }

  /** Whether devices of the pool may have evicting taints by their slices. */
  mayBe(pool: string): boolean {
    return this.tainted.mayBe(pool)
  }

  /** When the pods of a claim must leave. Undefined: never. */
  async evictionOfClaim({ status }: Claim): Promise<Eviction | undefined> {
    const found: (Eviction | undefined)[] = []
    for (const allocated of status?.allocation?.devices?.results ?? []) {
      const { driver, pool, device = '' } = allocated
      const ofRules = this.rules.flatMap((rule): EvictingTaint[] =>
        selects(rule, allocated) ? [{ taint: rule.spec?.taint ?? {}, rule: rule.metadata.name ?? '' }] : [],
      )
      const id = poolText(driver, pool)
      const ofSlices = this.mayBe(id) ? ((await this.taintsOf(driver ?? '', id)).get(device) ?? []) : []
      found.push(evictionBy(allocated, [...ofSlices.map((taint) => ({ taint })), ...ofRules]))
    }
    return earliest(found)
  }

  /** When a pod must leave. Devices of extended resources evict nobody, as in kube-controller-manager. */
  async evictionOfPod(pod: Pod): Promise<Eviction | undefined> {
    if (!pod.spec?.nodeName) return undefined
    const claims = this.clients.resource(RESOURCE_CLAIMS, pod.metadata.namespace)
    const found: (Eviction | undefined)[] = []
    for (const podClaim of pod.spec.resourceClaims ?? []) {
      const named = claimNameOf(pod, podClaim)
      if (named === 'not made yet' || named.name === undefined) continue
      const claim = await claims.get(named.name)
      if (claim === undefined || !isReservedFor(pod, claim)) continue
      if (named.isMade && notMadeFor(pod, claim) !== undefined) continue
      found.push(await this.evictionOfClaim(claim))
    }
    return earliest(found)
  }

  /** The evicting taints of a pool's devices by the slices of its latest generation, by device. */
  private taintsOf(driver: string, id: string): Promise<ReadonlyMap<string, readonly DeviceTaint[]>> {
    return this.context.once(`taints of ${id}`, async () => {
      const found = new Map<string, readonly DeviceTaint[]>()
      let latest = -Infinity
      for await (const { spec } of this.clients.resource(SLICES).each({ fields: { 'spec.driver': driver } })) {
        const generation = Number(spec?.pool?.generation ?? 0)
        if (poolText(spec?.driver, spec?.pool?.name) !== id || generation < latest) continue
        if (generation > latest) found.clear()
        latest = generation
        for (const { name = '', taints = [] } of spec?.devices ?? []) {
          const evicting = taints.filter(isNoExecute)
          if (evicting.length > 0) found.set(name, evicting)
        }
      }
      return found
    })
  }
}

async function evictingRules(clients: Clientset, context: ControllerContext): Promise<readonly Rule[]> {
  if (!heedsRules(context)) return []
  return context.once('evicting rules', async () => {
    const rules = (await clients.ifKnown(RULES)?.list()) ?? []
    return rules.filter(({ spec }) => isNoExecute(spec?.taint ?? {}))
  })
}
