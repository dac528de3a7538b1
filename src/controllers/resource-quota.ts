/**
 * Keeps the limits and usage in the status of quotas (kube-controller-manager's resource quota controller). Admission
 * charges writes. So this controller raises usage only for a new quota, and lowers it when objects are deleted.
 */
import { WebhookDenial } from '../admission/webhooks/ask.ts'
import type { ResourceQuota } from '../api/core/v1.ts'
import type { KubeObject } from '../api/object.ts'
import type { GroupResource } from '../api/group-version.ts'
import { StatusError } from '../api/status.ts'
import type { Amounts } from '../registry/quota/amounts.ts'
import { amountsOf, isSame, textsOf } from '../registry/quota/amounts.ts'
import type { Counted } from '../registry/quota/count.ts'
import { evaluatorOf } from '../registry/quota/evaluators.ts'
import { usageOf } from '../registry/quota/tracked.ts'
import { isOverAt } from '../registry/quota/work.ts'
import { wasWritten } from '../registry/served/written-types.ts'
import { Quantity } from '../schema/quantity.ts'
import { HopelessWork } from '../registry/work/hopeless-work.ts'
import { managerClients } from './client/clientset.ts'
import type { Controller, ControllerContext } from './controller.ts'

const RESOURCE_QUOTAS: GroupResource = { group: '', resource: 'resourcequotas' }

/** Milliseconds in which the controller gathers deletions for one count. */
const GATHERING = 200
/**
 * Milliseconds. The controller lowers usage only after the quota did not change for this long: a charged object may not
 * be written yet, and then the count misses it.
 */
const QUIET = 1000
/** How often the controller waits for a quota that keeps changing. */
const PATIENCE = 10

type Quota = ResourceQuota & KubeObject

/** Queues a count of the namespace after a deletion in it. */
export async function countAgain(context: ControllerContext, namespace: string): Promise<void> {
  if (await wasWritten(context, RESOURCE_QUOTAS)) context.later('resource-quota', namespace, GATHERING)
}

/** Key: a namespace. */
export const resourceQuotaController: Controller = {
  neverGivesUp: true,
  async reconcile(namespace, context) {
    if (!(await wasWritten(context, RESOURCE_QUOTAS))) return undefined
    // this resource has only this kind
    const quotas = (await managerClients(context).resource(RESOURCE_QUOTAS, namespace).list()) as Quota[]
    let wait = Infinity
    for (const quota of quotas) wait = Math.min(wait, await judge(context, quota, 0))
    return wait === Infinity ? undefined : wait
  },
}

/**
 * Key: `NAMESPACE/NAME PERIOD` of a quota that was charged in that period (registry/quota/work.ts). The controller
 * counts again: the isolate that charged the quota may have ended before its write, and nothing else reports that.
 */
export const chargedQuota: Controller = {
  neverGivesUp: true,
  async reconcile(key, context) {
    const [, namespace, name, period] = /^([^/ ]+)\/([^ ]+) (\d+)$/.exec(key) ?? []
    if (namespace === undefined || name === undefined) throw new HopelessWork(`no quota and period: ${key}`)
    const wait = isOverAt(Number(period)) - context.now().getTime()
    if (wait > 0) return wait
    // this resource has only this kind
    const quota = (await managerClients(context).resource(RESOURCE_QUOTAS, namespace).get(name)) as Quota | undefined
    if (quota !== undefined) await judge(context, quota, 0)
    return undefined
  },
}

/** Key: `NAMESPACE/NAME REVISION TRIES` of a quota whose usage was below its status at that revision. */
export const loweredQuota: Controller = {
  neverGivesUp: true,
  async reconcile(key, context) {
    const [, namespace, name, revision, tries] = /^([^/ ]+)\/([^ ]+) (\d+) (\d+)$/.exec(key) ?? []
    if (namespace === undefined || name === undefined) throw new HopelessWork(`no quota and revision: ${key}`)
    // this resource has only this kind
    const quota = (await managerClients(context).resource(RESOURCE_QUOTAS, namespace).get(name)) as Quota | undefined
    if (quota === undefined) return undefined
    const isQuiet = quota.metadata.resourceVersion === revision || Number(tries) >= PATIENCE
    await judge(context, quota, Number(tries) + 1, isQuiet)
    return undefined
  },
}

/** @returns milliseconds until usage falls without a write */
async function judge(context: ControllerContext, quota: Quota, tries: number, mayLower = false): Promise<number> {
  const { namespace = '', name = '', resourceVersion: revision = '' } = quota.metadata
  const hard = quota.spec?.hard ?? {}
  const { used, fallsAt } = await countOf(context, quota)
  const wait = fallsAt - context.now().getTime()
  const before = amountsOf(quota.status?.used)
  const isKnown = quota.status?.hard !== undefined && isSame(amountsOf(hard), amountsOf(quota.status.hard))
  if (isKnown && isSame(used, before)) return wait
  const falls = [...used].some(([one, amount]) => amount.compare(before.get(one) ?? Quantity.zero) < 0)
  if (falls && !mayLower) {
    context.later('resource-quota-lower', `${namespace}/${name} ${revision} ${tries}`, QUIET)
    if (isKnown) return wait
  }
  const kept = falls && !mayLower ? larger(used, before) : used
  await writeStatus(context, quota, { hard, used: textsOf(kept) })
  return wait
}

/** The larger amount of each name: rises may be written at once, falls not. */
const larger = (used: Amounts, before: Amounts): Amounts =>
  new Map(
    [...used].map(([name, amount]) => {
      const old = before.get(name)
      return [name, old !== undefined && old.compare(amount) > 0 ? old : amount]
    }),
  )

async function writeStatus(
  context: ControllerContext,
  { metadata }: Quota,
  status: NonNullable<ResourceQuota['status']>,
): Promise<void> {
  const { namespace = '', resourceVersion } = metadata
  try {
    await managerClients(context)
      .resource(RESOURCE_QUOTAS, namespace)
      .updateStatusWithRetries({ metadata }, (object) => {
        // a conflict if admission charged the quota meanwhile, which the count does not include
        object.metadata.resourceVersion = resourceVersion
        Object.assign(object, { status })
      })
  } catch (error) {
    const { reason } = error instanceof StatusError ? error.status : {}
    // a webhook may refuse with the same reason
    if (reason === 'Conflict' && !(error instanceof WebhookDenial))
      context.later('resource-quota', namespace, GATHERING)
    else if (reason !== 'NotFound' || error instanceof WebhookDenial) throw error
  }
}

/** Counts the usage of those names in the quota that can be counted. */
function countOf(context: ControllerContext, quota: Quota): Promise<Counted> {
  const { namespace = '' } = quota.metadata
  const clientOf = (resource: GroupResource, of: string) => managerClients(context).ifServed(resource, of)
  return usageOf(
    quota,
    Object.keys(quota.spec?.hard ?? {}),
    {
      async objectsOf(resource) {
        const client = evaluatorOf(resource) && (await clientOf(resource, namespace))
        return client && ((await wasWritten(context, resource)) ? client.each() : none())
      },
      async *list(resource, of = '') {
        const client = await clientOf(resource, of)
        if (client !== undefined) yield* client.each()
      },
      get: async (resource, of, name) => (await clientOf(resource, of))?.get(name),
    },
    context.now(),
  )
}

async function* none(): AsyncGenerator<never> {}
