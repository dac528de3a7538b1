/** POST pods/NAME/eviction: a DELETE that respects the pod's disruption budget (registry's EvictionREST). */
import { admissionChain } from '../../admission/chain.ts'
import type { Pod } from '../../api/core/v1.ts'
import { invalidValue, path } from '../../api/field.ts'
import type { Condition } from '../../api/meta/v1.ts'
import type { Eviction, PodDisruptionBudget } from '../../api/policy/v1.ts'
import { badRequest, conflict, forbidden, invalid, notFound, plainError, StatusError } from '../../api/status.ts'
import { parsing } from '../../codec/decode/parse-body.ts'
import { negotiateInput } from '../../codec/negotiation/negotiate.ts'
import { deleteObject } from '../../registry/write/delete.ts'
import { readLive } from '../../registry/store.ts'
import { withoutAdmission } from '../../registry/write/admission.ts'
import { changeAsServer } from '../../registry/write/change-as-server.ts'
import { changeStored } from '../../registry/write/change-stored.ts'
import { checkDeleteOptions } from '../../request/options.ts'
import type { DeleteOptions } from '../../request/options.ts'
import { finished } from '../../request/turns.ts'
import { timeText } from '../../schema/time.ts'
import { storedObjects } from '../../tenancy/stored-objects.ts'
import { selectorMatches } from '../../validation/label-selectors.ts'
import type { RequestScope, ResourceScope } from '../../registry/resource-scope.ts'
import { loopbackScope } from '../../registry/scope.ts'
import type { Verb } from '../../registry/served/serving.ts'
import { isReady, setPodCondition } from '../../registry/core/pods/pod-conditions.ts'
import { readPosted, respondDone } from './posted.ts'

const EVICTION = { group: 'policy', version: 'v1', kind: 'Eviction' }
const BUDGETS = { group: 'policy', resource: 'poddisruptionbudgets' }
/** The most pods that were evicted under a budget and still exist. */
const MAX_DISRUPTED = 2000

export async function eviction(scope: RequestScope, verb: Verb | ''): Promise<Response> {
  const posted = await readPosted<Eviction>(scope, verb, (body) => kindOf(scope, body), { admittedAs: EVICTION })
  const { metadata, deleteOptions: asked } = posted.object
  if ((metadata.name ?? '') !== scope.place.name) throw badRequest('name in URL does not match name in Eviction object')
  const options: DeleteOptions = asked ?? {}
  if (asked?.ignoreStoreReadErrorWithClusterBreakingPotential === true)
    throw invalid(EVICTION, scope.place.name, [
      invalidValue(
        path('deleteOptions', 'ignoreStoreReadErrorWithClusterBreakingPotential'),
        true,
        'can not be set for pod eviction, try after removing the option',
      ),
    ])
  const dryRun = dryRunOf(scope.request.query.getAll('dryRun'), options.dryRun ?? [])
  // validating admission sees it there
  if (asked !== undefined && dryRun.length > 0) posted.object.deleteOptions = { ...asked, dryRun: [...dryRun] }
  await posted.validate()
  await evict(scope, { ...options, dryRun }, dryRun.length > 0)
  return respondDone(scope, posted)
}

/**
 * The options of the request and those in the body ask for a dry run, and may not contradict each other.
 * @throws StatusError 500, as in kube-apiserver
 */
function dryRunOf(query: readonly string[], body: readonly string[]): readonly string[] {
  if (query.length === 0 || body.length === 0) return [...query, ...body]
  if (query.length !== body.length || query.some((one, index) => one !== body[index]))
    throw plainError(
      `Non-matching dry-run options in request and content: [${query.join(' ')}] and [${body.join(' ')}]`,
    )
  return body
}

/** The most looks at a pod that needs no budget, and is written between each look and its end. */
const LOOKS = 20

async function evict(scope: RequestScope, options: DeleteOptions, dryRun: boolean): Promise<void> {
  let before: string | undefined
  for (let look = 1; ; look++) {
    const pod = (await readLive(scope, scope.place.name))?.object as Pod | undefined
    if (pod === undefined) throw notFound(scope.resource.gvr, scope.place.name)
    if (look === 1) checkDeleteOptions(options)
    if (!mayIgnoreBudget(pod)) return evictWithBudget(scope, pod, options, dryRun)
    const { resourceVersion } = pod.metadata
    // a pending pod may need its budget in a moment
    const mayChange = pod.status?.phase === 'Pending' && pod.metadata.deletionTimestamp === undefined
    try {
      return await markAndDelete(scope, mayChange ? asJudged(options, pod) : options, dryRun)
    } catch (error) {
      // a conflict with the same version is about what the client has asked for
      const isOvertaken = mayChange && isConflict(error) && options.preconditions?.resourceVersion === undefined
      if (!isOvertaken || resourceVersion === before || look === LOOKS) throw error
      before = resourceVersion
    }
  }
}

async function evictWithBudget(scope: RequestScope, pod: Pod, options: DeleteOptions, dryRun: boolean): Promise<void> {
  const spared = await askBudget(scope, pod, dryRun)
  if (spared === undefined) return markAndDelete(scope, options, dryRun)
  try {
    await markAndDelete(scope, asJudged(options, pod), dryRun)
  } catch (error) {
    if (!isConflict(error) || options.preconditions?.resourceVersion !== undefined) throw error
    // the pod may be ready by now
    throw beingProcessed(spared.metadata.name ?? '')
  }
}

/** Only the pod as it was judged may go, unless the client has named another version. */
const asJudged = (options: DeleteOptions, { metadata: { resourceVersion = '' } }: Pod): DeleteOptions => ({
  ...options,
  preconditions: { resourceVersion, ...options.preconditions },
})

const isConflict = (error: unknown): boolean => error instanceof StatusError && error.code === 409

/** The kind in the body: older clients send policy/v1beta1. */
async function kindOf({ request }: RequestScope, body: Uint8Array): Promise<typeof EVICTION> {
  try {
    const { apiVersion } = await finished(request, parsing(negotiateInput(request), body))
    return apiVersion === 'policy/v1beta1' ? { ...EVICTION, version: 'v1beta1' } : EVICTION
  } catch {
    return EVICTION
  }
}

const ENDED = new Set(['Succeeded', 'Failed', 'Pending'])

/** A pod that does not run may go without a disruption. */
const mayIgnoreBudget = ({ metadata, status }: Pod): boolean =>
  ENDED.has(status?.phase ?? '') || metadata.deletionTimestamp !== undefined

/**
 * Takes a disruption from the pod's budget.
 * @returns the budget where nothing is taken from it, because the pod is not ready
 */
async function askBudget(scope: RequestScope, pod: Pod, dryRun: boolean): Promise<PodDisruptionBudget | undefined> {
  const budgets = (await storedObjects<PodDisruptionBudget>(scope.request, BUDGETS, scope.place.namespace)).filter(
    ({ spec }) => selectorMatches(spec?.selector, pod.metadata.labels),
  )
  const [budget, ...more] = budgets
  if (more.length > 0)
    throw plainError('This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.')
  if (budget === undefined) return undefined
  if (!isReady(pod)) {
    const { currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {}
    if (budget.spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return budget
    if (currentHealthy >= desiredHealthy && desiredHealthy > 0) return budget
  }
  const take = (live: PodDisruptionBudget) => takeOne(live, pod.metadata.name ?? '', scope.request.now)
  if (dryRun) take(structuredClone(budget))
  else await changeAsServer<PodDisruptionBudget>(budgetScope(scope, budget.metadata.name!), admissionChain, take)
  return undefined
}

const budgetScope = ({ request, place: { namespace } }: RequestScope, name: string): ResourceScope =>
  loopbackScope(request, 'update', { ...BUDGETS, version: 'v1' }, { name, subresource: 'status', namespace })

const WOULD_VIOLATE = "Cannot evict pod as it would violate the pod's disruption budget."

function refused(message: string, retryAfterSeconds: number): StatusError {
  const causes = [{ reason: 'DisruptionBudget', message }]
  const details = retryAfterSeconds > 0 ? { causes, retryAfterSeconds } : { causes }
  return new StatusError(429, 'TooManyRequests', WOULD_VIOLATE, details)
}

const beingProcessed = (budget: string): StatusError =>
  refused(`The disruption budget ${budget} is still being processed by the server.`, 10)

/**
 * Takes one disruption from the budget.
 * @throws StatusError 403, 429
 */
function takeOne(budget: PodDisruptionBudget, pod: string, now: Date): void {
  const name = budget.metadata.name ?? ''
  const status = (budget.status ??= {})
  const { disruptionsAllowed: allowed = 0 } = status
  const refuse = (why: string) => forbidden({ group: 'policy', resource: 'poddisruptionbudget' }, name, why)
  if ((status.observedGeneration ?? 0) < (budget.metadata.generation ?? 0)) throw beingProcessed(name)
  if (allowed < 0) throw refuse('pdb disruptions allowed is negative')
  if (Object.keys(status.disruptedPods ?? {}).length > MAX_DISRUPTED)
    throw refuse('DisruptedPods map too big - too many evictions not confirmed by PDB controller')
  if (allowed === 0) throw refused(reasonOf(budget), 0)
  status.disruptionsAllowed = allowed - 1
  if (allowed === 1) setExhausted(budget, now)
  status.disruptedPods = { ...status.disruptedPods, [pod]: timeText(now) }
}

function reasonOf({ metadata, status = {} }: PodDisruptionBudget): string {
  const { currentHealthy = 0, desiredHealthy = 0, conditions = [] } = status
  const condition = conditions.find(({ type }) => type === 'DisruptionAllowed')
  const isFalse = condition?.status === 'False' && !!condition.message
  const budget = `The disruption budget ${metadata.name}`
  if (isFalse && condition.reason === 'SyncFailed')
    return `${budget} does not allow evicting pods currently because it failed sync: ${condition.message}`
  if (currentHealthy <= desiredHealthy)
    return `${budget} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`
  return isFalse
    ? `${budget} does not allow evicting pods currently (${condition.reason}): ${condition.message}`
    : `${budget} does not allow evicting pods currently`
}

function setExhausted({ status = {} }: PodDisruptionBudget, now: Date): void {
  const conditions = status.conditions ?? []
  const index = conditions.findIndex(({ type }) => type === 'DisruptionAllowed')
  const before = conditions[index]
  const condition: Condition = {
    type: 'DisruptionAllowed',
    status: 'False',
    ...(status.observedGeneration === undefined ? {} : { observedGeneration: status.observedGeneration }),
    lastTransitionTime: before?.status === 'False' ? before.lastTransitionTime! : timeText(now),
    reason: 'InsufficientPods',
    message: '',
  }
  status.conditions = before === undefined ? [...conditions, condition] : conditions.with(index, condition)
}

/**
 * Writes the reason into the pod's status, then deletes it. Both writes skip admission, which has admitted the
 * eviction.
 */
async function markAndDelete(scope: RequestScope, options: DeleteOptions, dryRun: boolean): Promise<void> {
  const { preconditions } = options
  let version = preconditions?.resourceVersion
  if (!dryRun) {
    const pod = await changeStored<Pod>(scope, scope.place.name, { dryRun: false }, (live) => {
      checkPreconditions(live, preconditions)
      setPodCondition(
        live,
        {
          type: 'DisruptionTarget',
          status: 'True',
          reason: 'EvictionByEvictionAPI',
          message: 'Eviction API: evicting',
        },
        scope.request.now,
      )
    })
    if (version !== undefined) version = pod.metadata.resourceVersion
  }
  const now = version === undefined ? preconditions : { ...preconditions, resourceVersion: version }
  await deleteObject(
    scope,
    scope.place.name,
    now === undefined ? options : { ...options, preconditions: now },
    withoutAdmission,
  )
}

function checkPreconditions({ metadata }: Pod, { uid, resourceVersion }: DeleteOptions['preconditions'] = {}): void {
  const failed = (what: string, given: string, found: string | undefined, meaning: string) =>
    conflict(
      { group: '', resource: 'Pod' },
      metadata.name ?? '',
      `the ${what} in the precondition (${given}) does not match the ${what} in record (${found}). ${meaning}`,
    )
  if (uid && uid !== metadata.uid)
    throw failed('UID', uid, metadata.uid, 'The object might have been deleted and then recreated')
  if (resourceVersion && resourceVersion !== metadata.resourceVersion)
    throw failed('ResourceVersion', resourceVersion, metadata.resourceVersion, 'The object might have been modified')
}
