/**
 * Which writes are work for the device taint eviction controller. The prefix of a key names what changed: `pod:`,
 * `claim:`, `pool:` (taints of its devices), `generation:` (of a pool), `claims:` (a rule that concerns all of them),
 * `rule:`.
 */
import type { Pod } from '../../api/core/v1.ts'
import type { ResourceClaim, ResourceClaimConsumerReference, ResourceSlice } from '../../api/resource/v1.ts'
import type { DeviceTaintRule } from '../../api/resource/v1beta2.ts'
import type { Change, Work, WorkloadRule } from '../work/work.ts'
import { keyOf } from '../work/work.ts'

type Kind = 'pod' | 'claim' | 'pool' | 'generation' | 'claims' | 'rule'

const work = (kind: Kind, key: string): Work => ({ topic: 'device-taint-eviction', payload: `${kind}:${key}` })

/** Work after a pod gets its node there or a claim, and when it is gone. */
export const podTaintsWork: WorkloadRule = ({ object, old }: Change) => {
  const [now, before]: (Pod | undefined)[] = [object, old]
  const pod = now ?? before
  if (pod === undefined || !pod.spec?.nodeName || (pod.spec.resourceClaims ?? []).length === 0) return []
  const claims = ({ spec, status }: Pod) => JSON.stringify([spec?.nodeName, status?.resourceClaimStatuses])
  const isSame = now !== undefined && before !== undefined && claims(now) === claims(before)
  return isSame ? [] : [work('pod', keyOf(pod))]
}

/** Work after a claim gets or loses its devices or its pods. */
function allocationWork({ object, old }: Change): readonly Work[] {
  const [claim, before]: (ResourceClaim | undefined)[] = [object, old]
  const either = object ?? old
  if (either === undefined) return []
  const devices = (one: ResourceClaim | undefined) => JSON.stringify(one?.status?.allocation?.devices?.results)
  const isNews = devices(claim) !== devices(before) || usersText(claim) !== usersText(before)
  if (!isNews) return []
  const users = new Set(usersOf(claim).map(({ uid }) => uid))
  const gone = usersOf(before).filter(({ uid }) => claim?.status?.allocation === undefined || !users.has(uid))
  const { namespace } = either.metadata
  return [
    ...(claim?.status?.allocation === undefined || users.size === 0 ? [] : [work('claim', keyOf(either))]),
    ...gone.map(({ name }) => work('pod', `${namespace}/${name}`)),
  ]
}

const usersOf = (claim: ResourceClaim | undefined): ResourceClaimConsumerReference[] =>
  (claim?.status?.reservedFor ?? []).filter(({ apiGroup = '', resource }) => apiGroup === '' && resource === 'pods')

const usersText = (claim: ResourceClaim | undefined): string => JSON.stringify(usersOf(claim).map(({ uid }) => uid))

/** Work after the evicting taints of a pool change. A slice of a new generation replaces those of older ones. */
function slicesWork({ object, old }: Change): readonly Work[] {
  const [slice, before]: (ResourceSlice | undefined)[] = [object, old]
  const { driver, pool } = (slice ?? before)?.spec ?? {}
  const [now, then] = [slice, before].map(taintsText)
  const id = `${driver}/${pool?.name}`
  const isNewer = slice !== undefined && generation(slice) !== generation(before)
  // a taint of an unchanged slice counts or not by the generation, too
  if (now !== then || (isNewer && now !== NO_TAINTS)) return [work('pool', id)]
  return isNewer || slice === undefined ? [work('generation', id)] : []
}

const NO_TAINTS = '[]'

const taintsText = (slice: ResourceSlice | undefined): string =>
  JSON.stringify(
    (slice?.spec?.devices ?? []).flatMap(({ name, taints = [] }) => {
      const evicting = taints.filter(({ effect }) => effect === 'NoExecute')
      return evicting.length === 0 ? [] : [[name, evicting]]
    }),
  )

const generation = (slice: ResourceSlice | undefined) => slice?.spec?.pool?.generation

/** Work after a rule is new, gone or another one. */
function ruleWork({ object, old }: Change): readonly Work[] {
  const [rule, before]: (DeviceTaintRule | undefined)[] = [object, old]
  const isSame =
    rule?.metadata.uid === before?.metadata.uid && JSON.stringify(rule?.spec) === JSON.stringify(before?.spec)
  const either = object ?? old
  return either === undefined || isSame ? [] : [work('rule', keyOf(either)), work('claims', '')]
}

export const allocationRules: readonly WorkloadRule[] = [allocationWork]
export const slicesRules: readonly WorkloadRule[] = [slicesWork]
/** Pods may wait for a device that a rule kept from them. */
export const taintRuleRules: readonly WorkloadRule[] = [
  ruleWork,
  (change, mode) =>
    mode === 'simulated' && ruleWork(change).length > 0 ? [{ topic: 'scheduler', payload: 'DeviceChanged' }] : [],
]
