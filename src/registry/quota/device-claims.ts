import type { Pod } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import type { DeviceClass, ResourceClaim } from '../../api/resource/v1.ts'
import { Quantity } from '../../schema/quantity.ts'
import { DEVICE_CLASS_RESOURCE, ExtendedResources, isExtendedClaim } from '../resource/extended-claims.ts'
import { podOfClaim } from '../resource/pod-claims.ts'
import type { Amounts } from './amounts.ts'
import { growth, larger, ONE, sum, withoutZeros } from './amounts.ts'
import type { Evaluator, QuotaReader } from './evaluator.ts'
import { isOfExtended, podEvaluator, REQUESTS } from './pods.ts'

const CLASSES = { group: 'resource.k8s.io', resource: 'deviceclasses' }
const CLAIMS = { group: 'resource.k8s.io', resource: 'resourceclaims' }
const PODS = { group: '', resource: 'pods' }

const COUNT = 'count/resourceclaims.resource.k8s.io'
const OF_CLASS = '.deviceclass.resource.k8s.io/devices'

/** A claim gets at most this number of devices. */
const MOST_DEVICES = 32

interface Asked {
  readonly deviceClassName?: string
  readonly allocationMode?: string
  readonly count?: number | bigint | string
}

/** Evaluates ResourceClaims. Among the alternatives of a request, the one with the most devices counts. */
export const deviceClaimEvaluator: Evaluator = {
  handles: ({ subresource }) => subresource === '',
  tracks: (name) => isOfClaims(name) || isOfExtended(name),
  usage: (object) => devicesUsage(object),
  async informed(names, read, now) {
    const isAsked = [...names].some(isOfExtended)
    return isAsked ? new ExtendedEvaluator(await classesOf(read), read, now) : undefined
  },
}

const isOfClaims = (name: string): boolean => name === COUNT || name.endsWith(OF_CLASS)

function devicesUsage(object: KubeObject): Amounts {
  // stored and admitted claims have the form of a claim
  const { spec } = object as unknown as ResourceClaim
  let usage: Amounts = new Map([[COUNT, ONE]])
  for (const { exactly, firstAvailable = [] } of spec?.devices?.requests ?? []) {
    const alternatives: readonly Asked[] = firstAvailable.length > 0 ? firstAvailable : exactly ? [exactly] : []
    let most: Amounts = new Map()
    for (const one of alternatives) most = larger(most, devicesOf(one))
    usage = sum(usage, most)
  }
  return usage
}

async function classesOf(read: QuotaReader): Promise<ExtendedResources> {
  const classes: (DeviceClass & KubeObject)[] = []
  // storage keeps only DeviceClasses there
  for await (const one of read.list(CLASSES)) classes.push(one as DeviceClass & KubeObject)
  return new ExtendedResources(classes)
}

/**
 * Counts devices of a class that quotas may also name as an extended resource. If a scheduler made the claim for a
 * pod's extended resources, devices that the pod's usage includes do not count in the claim.
 */
class ExtendedEvaluator implements Evaluator {
  private readonly charged = new Map<KubeObject, Amounts>()

  constructor(
    private readonly classes: ExtendedResources,
    private readonly read: QuotaReader,
    private readonly now: Date,
  ) {}

  readonly handles = deviceClaimEvaluator.handles

  tracks(name: string): boolean {
    return isOfClaims(name) || (isOfExtended(name) && this.classes.classOf(name.slice(REQUESTS.length)) !== undefined)
  }

  async learn(claim: KubeObject): Promise<void> {
    const pod = await this.podOf(claim)
    if (pod !== undefined) this.charged.set(claim, podEvaluator.usage(pod, this.now))
  }

  usage(claim: KubeObject): Amounts {
    const usage = devicesUsage(claim)
    const charged = this.charged.get(claim) ?? new Map<string, Quantity>()
    const extended = new Map<string, Quantity>()
    for (const [name, amount] of usage) {
      if (!name.endsWith(OF_CLASS)) continue
      const className = name.slice(0, -OF_CLASS.length)
      const names = [DEVICE_CLASS_RESOURCE + className, this.classes.nameOf(className) ?? ''].filter(
        (one) => one !== '',
      )
      for (const one of names) extended.set(REQUESTS + one, amount)
    }
    return new Map([...usage, ...withoutZeros(growth(extended, charged))])
  }

  /** The pod for whose extended resources a scheduler made the claim, if the pod uses this claim and no other. */
  private async podOf(claim: KubeObject): Promise<KubeObject | undefined> {
    const owner = isExtendedClaim(claim) ? podOfClaim(claim) : undefined
    const { namespace = '', name = '' } = claim.metadata
    if (owner === undefined) return undefined
    const pod = (await this.read.get(PODS, namespace, owner.name ?? '')) as (KubeObject & Pod) | undefined // only this kind is kept there
    if (pod === undefined || pod.metadata.uid !== owner.uid) return undefined
    const said = pod.status?.extendedResourceClaimStatus?.resourceClaimName
    if (said !== undefined) return said === name ? pod : undefined
    const since = Date.parse(claim.metadata.creationTimestamp ?? '')
    for await (const other of this.read.list(CLAIMS, namespace)) {
      if (!isExtendedClaim(other) || podOfClaim(other)?.uid !== owner.uid) continue
      const isOlder = Date.parse(other.metadata.creationTimestamp ?? '') - since
      if (isOlder < 0 || (isOlder === 0 && (other.metadata.name ?? '') < name)) return undefined
    }
    return pod
  }
}

function devicesOf({ deviceClassName = '', allocationMode, count = 0 }: Asked): Amounts {
  const devices = allocationMode === 'All' ? MOST_DEVICES : allocationMode === 'ExactCount' ? Number(count) : 0
  return new Map([[`${deviceClassName}${OF_CLASS}`, Quantity.of(devices)]])
}
