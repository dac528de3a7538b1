/** Reports in the status of a DeviceTaintRule how far its evictions are. */
import type { Condition } from '../../api/meta/v1.ts'
import { timeText } from '../../schema/time.ts'
import type { Clientset } from '../client/clientset.ts'
import type { ControllerContext } from '../controller.ts'
import { inTurns } from '../work/in-turns.ts'
import { unlessGone } from '../work/unless-gone.ts'
import { PODS } from '../workloads/pods/pod-control.ts'
import { RESOURCE_CLAIMS } from '../workloads/resource-claim/templates.ts'
import type { DeviceTaints, Rule } from './device-taints.ts'
import { heedsRules, RULES, SLICES } from './device-taints.ts'
import { poolText, selects } from './evicting-taints.ts'

const CONDITION = 'EvictionInProgress'
/** Milliseconds between two reports of a rule. */
const PERIOD_MS = 10_000

export function reportRules(rules: ReadonlySet<string>, context: ControllerContext): void {
  for (const rule of rules) context.later('device-taint-eviction', `rule:${rule}`, PERIOD_MS)
}

/** Counts a pod that was evicted because of the rules. */
export function noteEviction(rules: ReadonlySet<string>, context: ControllerContext): void {
  for (const rule of rules) {
    const key = `device-taint-rule/${rule}` as const
    const before = Number(context.sightings.get(key)?.record ?? 0)
    context.sightings.set(key, { record: String(before + 1), time: context.now().getTime() })
  }
}

/** @returns milliseconds until the next report, if it is too early for one */
export async function reportRule(
  name: string,
  clients: Clientset,
  context: ControllerContext,
  taints: DeviceTaints,
): Promise<number | undefined> {
  const rules = heedsRules(context) ? clients.ifKnown(RULES) : undefined
  const rule = await rules?.get(name)
  if (rules === undefined || rule === undefined) {
    context.sightings.set(`device-taint-rule/${name}`, undefined)
    return undefined
  }
  const known = rule.status?.conditions?.find(({ type }) => type === CONDITION)
  const generation = Number(rule.metadata.generation ?? 0)
  if (known?.observedGeneration === generation) {
    const left = Date.parse(known.lastTransitionTime ?? '') + PERIOD_MS - context.now().getTime()
    if (left > 0) return left
  }
  const evicted = Number(context.sightings.get(`device-taint-rule/${name}`)?.record ?? 0)
  const { status, reason, message } = withEvicted(await reportOf(rule, evicted, clients, taints), evicted)
  const isSame =
    known?.observedGeneration === generation &&
    known.status === status &&
    known.reason === reason &&
    known.message === message
  if (isSame) return undefined
  const lastTransitionTime = timeText(context.now())
  const condition = { type: CONDITION, status, reason, message, observedGeneration: generation, lastTransitionTime }
  const config = { ...rules.typeMeta, status: { conditions: [condition] } }
  const options = { fieldManager: 'device-taint-eviction-controller', subresource: 'status' }
  await rules.apply(rule, config, options).catch((error: unknown) => unlessGone(rules, rule, error))
  return undefined
}

type Report = Pick<Required<Condition>, 'status' | 'reason' | 'message'>

async function reportOf(rule: Rule, evicted: number, clients: Clientset, taints: DeviceTaints): Promise<Report> {
  const { effect } = rule.spec?.taint ?? {}
  if (effect === 'NoExecute') {
    const { pods, namespaces } = await pendingPods(rule, clients, taints)
    if (pods > 0) {
      const need = pods === 1 ? '1 pod needs' : `${pods} pods need`
      const message = `${need} to be evicted in ${namespacesText(namespaces)}.`
      return { status: 'True', reason: 'PodsPendingEviction', message }
    }
    return { status: 'False', reason: evicted > 0 ? 'Completed' : 'NotStarted', message: '' }
  }
  if (effect !== 'None')
    return { status: 'False', reason: 'OtherEffect', message: 'Eviction only happens for the NoExecute effect.' }
  const spec = { ...rule.spec, taint: { ...rule.spec?.taint, effect: 'NoExecute' } }
  const { pods, namespaces, allocated } = await pendingPods(rule, clients, taints.withRule({ ...rule, spec }))
  const published = await publishedDevices(rule, clients)
  const message = [
    `${published} published ${published === 1 ? 'device' : 'devices'} selected.`,
    `${allocated} allocated ${allocated === 1 ? 'device' : 'devices'} selected.`,
    `${pods} ${pods === 1 ? 'pod' : 'pods'} would be evicted in ${namespacesText(namespaces)} if the effect was NoExecute.`,
    'This information will not be updated again. Recreate the DeviceTaintRule to trigger an update.',
  ].join(' ')
  return { status: 'False', reason: 'NoEffect', message }
}

const namespacesText = (count: number): string => (count === 1 ? '1 namespace' : `${count} different namespaces`)

function withEvicted({ message, ...report }: Report, evicted: number): Report {
  if (evicted === 0) return { ...report, message }
  const suffix = `${evicted} ${evicted === 1 ? 'pod' : 'pods'} evicted since starting the controller.`
  return { ...report, message: message === '' ? suffix : `${message} ${suffix}` }
}

interface Pending {
  readonly pods: number
  readonly namespaces: number
  /** Allocated devices that the rule selects. */
  readonly allocated: number
}

/** The pods that the rule evicts or will evict. */
async function pendingPods(rule: Rule, clients: Clientset, taints: DeviceTaints): Promise<Pending> {
  const { name = '' } = rule.metadata
  const users = new Map<string, { readonly namespace: string; readonly name: string }>()
  let allocated = 0
  for await (const claim of clients.resource(RESOURCE_CLAIMS).each()) {
    const selected = (claim.status?.allocation?.devices?.results ?? []).filter((device) => selects(rule, device))
    allocated += selected.length
    if (selected.length === 0 || (await taints.evictionOfClaim(claim))?.rules.has(name) !== true) continue
    for (const { apiGroup = '', resource, name: user = '', uid = '' } of claim.status?.reservedFor ?? [])
      if (apiGroup === '' && resource === 'pods')
        users.set(uid, { namespace: claim.metadata.namespace ?? '', name: user })
  }
  const namespaces = new Set<string>()
  let pods = 0
  await inTurns(
    [...users],
    async ([uid, user]) => {
      const pod = await clients.resource(PODS, user.namespace).get(user.name)
      if (pod === undefined || pod.metadata.uid !== uid || pod.metadata.deletionTimestamp !== undefined) return
      if ((await taints.evictionOfPod(pod))?.rules.has(name) !== true) return
      pods++
      namespaces.add(user.namespace)
    },
    clients.budget,
  )
  return { pods, namespaces: namespaces.size, allocated }
}

/** How many devices of the latest generations of their pools a rule selects. */
async function publishedDevices(rule: Rule, clients: Clientset): Promise<number> {
  const { driver } = rule.spec?.deviceSelector ?? {}
  const pools = new Map<string, { readonly generation: number; count: number }>()
  const ofDriver = driver === undefined ? {} : { fields: { 'spec.driver': driver } }
  for await (const { spec = {} } of clients.resource(SLICES).each(ofDriver)) {
    const id = poolText(spec.driver, spec.pool?.name)
    const generation = Number(spec.pool?.generation ?? 0)
    let pool = pools.get(id)
    if (pool !== undefined && generation < pool.generation) continue
    if (pool === undefined || generation > pool.generation) pools.set(id, (pool = { generation, count: 0 }))
    for (const { name = '' } of spec.devices ?? [])
      if (selects(rule, { driver: spec.driver, pool: spec.pool?.name, device: name })) pool.count++
  }
  return [...pools.values()].reduce((sum, { count }) => sum + count, 0)
}
