/**
 * Keeps the status of quotas (kube-controller-manager's resource quota controller): their limits and usage. Admission
 * charges writes, so here usage rises only for a new quota, and falls when objects go.
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
import { wasWritten } from '../registry/written-types.ts'
import { Quantity } from '../schema/quantity.ts'
import { HopelessWork } from '../registry/hopeless-work.ts'
import { managerClients } from './clientset.ts'
import type { Controller, ControllerContext } from './controller.ts'

const RESOURCE_QUOTAS: GroupResource = { group: '', resource: 'resourcequotas' }

/** Milliseconds in which several deletions are counted together. */
const GATHERING = 200
/**
 * Milliseconds. A charged object may not be written yet, and then the count misses it. So usage falls only if the quota
 * did not change for so long.
 */
const QUIET = 1000
/** So often a quota that keeps changing is waited for. */
const PATIENCE = 10

type Quota = ResourceQuota & KubeObject

/** Something in a namespace went. */
export async function countAgain(context: ControllerContext, namespace: string): Promise<void> {
  if (await wasWritten(context, RESOURCE_QUOTAS)) context.later('resource-quota', namespace, GATHERING)
}

/** Key: a namespace. */
export const resourceQuotaController: Controller = {
  neverGivesUp: true,
  async reconcile(namespace, context) {
    if (!(await wasWritten(context, RESOURCE_QUOTAS))) return undefined
    // only this kind is kept there
    const quotas = (await managerClients(context).resource(RESOURCE_QUOTAS, namespace).list()) as Quota[]
    let wait = Infinity
    for (const quota of quotas) wait = Math.min(wait, await judge(context, quota, 0))
    return wait === Infinity ? undefined : wait
  },
}

/**
 * Key: `NAMESPACE/NAME PERIOD` of a quota that was charged in that period (registry/quota/work.ts). The isolate that
 * charged it may have ended before the write, and nothing else would report that.
 */
export const chargedQuota: Controller = {
  neverGivesUp: true,
  async reconcile(key, context) {
    const [, namespace, name, period] = /^([^/ ]+)\/([^ ]+) (\d+)$/.exec(key) ?? []
    if (namespace === undefined || name === undefined) throw new HopelessWork(`no quota and period: ${key}`)
    const wait = isOverAt(Number(period)) - context.now().getTime()
    if (wait > 0) return wait
    // only this kind is kept there
    const quota = (await managerClients(context).resource(RESOURCE_QUOTAS, namespace).get(name)) as Quota | undefined
    if (quota !== undefined) await judge(context, quota, 0)
    return undefined
  },
}

/** Key: `NAMESPACE/NAME REVISION TRIES` of a quota whose usage, at that revision, was less than its status says. */
export const loweredQuota: Controller = {
  neverGivesUp: true,
  async reconcile(key, context) {
    const [, namespace, name, revision, tries] = /^([^/ ]+)\/([^ ]+) (\d+) (\d+)$/.exec(key) ?? []
    if (namespace === undefined || name === undefined) throw new HopelessWork(`no quota and revision: ${key}`)
    // only this kind is kept there
    const quota = (await managerClients(context).resource(RESOURCE_QUOTAS, namespace).get(name)) as Quota | undefined
    if (quota === undefined) return undefined
    const isQuiet = quota.metadata.resourceVersion === revision || Number(tries) >= PATIENCE
    await judge(context, quota, Number(tries) + 1, isQuiet)
    return undefined
  },
}

/** @returns milliseconds after which less will be used although nothing is written */
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

/** A rise may be written at once. */
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
  const { namespace = '', name = '', resourceVersion } = metadata
  try {
    await managerClients(context)
      .resource(RESOURCE_QUOTAS, namespace)
      .updateStatusWithRetries(name, (object) => {
        // the count does not include charges made meanwhile
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

/** Of the names that can be counted. */
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
