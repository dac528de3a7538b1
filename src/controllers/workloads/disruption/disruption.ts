/**
 * Computes the disruptions that a PodDisruptionBudget allows, which evictions read (kube-controller-manager's
 * disruption controller). Key: NAMESPACE/NAME. Changed pods queue `guarded-pods`, whose key has the form in
 * selected-pods.ts.
 */
import { leastOf } from '../../../base/extremes.ts'
import type { Pod } from '../../../api/core/v1.ts'
import type { Condition } from '../../../api/meta/v1.ts'
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../../api/policy/v1.ts'
import { ownValue } from '../../../base/own.ts'
import { StatusError } from '../../../api/status.ts'
import { timeText } from '../../../schema/time.ts'
import { labelSelectorText } from '../../../storage/selectors/label-selector-text.ts'
import { matchesLabels } from '../../../storage/selectors/selection.ts'
import type { Clientset } from '../../client/clientset.ts'
import { clientsetFor, typedResource } from '../../client/clientset.ts'
import type { Controller, ControllerContext } from '../../controller.ts'
import { isRefusal } from '../../work/refusal.ts'
import { scaled } from '../deployment/numbers.ts'
import { expectedScale } from './scale.ts'
import { EventRecorder } from '../events/events.ts'
import { keyParts, podsOfKey } from '../key.ts'
import { PODS, requirementsOf } from '../pods/pod-control.ts'
import { isFinished, isReady, isTerminating, podCondition } from '../pods/pod-state.ts'
import { sameJson } from '../same-json.ts'

const BUDGETS = typedResource<PodDisruptionBudget>('policy', 'poddisruptionbudgets')
const COMPONENT = 'disruption-controller'
/** The source in Events, which several old controllers of kube-controller-manager share. */
const SOURCE = 'controllermanager'
/**
 * Milliseconds until the next look where the expected number is unknown: the longest pause of kube-controller-manager.
 * A definition may get a scale, of which no pod tells.
 */
const UNKNOWN_MS = 1_000_000
/** How long the deletion of an evicted pod may take. Later the controller resets the pod's DisruptionTarget. */
const DELETION_TIMEOUT_MS = 120_000

interface Expected {
  readonly pods: number
  readonly healthy: number
  /** Whether there are pods without a controller, for which no expected number is known. */
  readonly hasUnmanaged: boolean
}

export const disruptionController: Controller = {
  async reconcile(key, context) {
    const [namespace, name] = keyParts(key)
    const clients = clientsetFor(context, COMPONENT)
    const budgets = clients.resource(BUDGETS, namespace)
    const budget = await budgets.get(name)
    if (budget === undefined) return undefined
    const events = new EventRecorder(clients, SOURCE, context.now)
    const now = context.now()
    const write = async (status: PodDisruptionBudgetStatus) => {
      if (!sameJson(status, budget.status)) await budgets.putStatus({ ...budget, status })
    }
    const selector = budget.spec?.selector
    const pods =
      selector === undefined
        ? []
        : await clients.resource(PODS, namespace).list({ labelSelector: labelSelectorText(selector) })
    if (pods.length === 0) await events.normal(budget, 'NoPods', 'No matching pods found')
    let expected: Expected
    try {
      expected = await expectedOf(budget, pods, (all) => expectedScale(context, clients, all))
    } catch (error) {
      // no disruption is allowed while the expected number is unknown, whatever the reason
      const why = error instanceof Error ? error.message : String(error)
      const message = `Failed to calculate the number of expected pods: ${why}`
      await events.warning(budget, 'CalculateExpectedPodCountFailed', message)
      const status = { ...budget.status, disruptionsAllowed: 0 }
      const failed = { status: 'False', reason: 'SyncFailed', message: why }
      await write({ ...status, conditions: conditions(status, failed, status.observedGeneration, now) })
      if (error instanceof StatusError && !isRefusal(error)) throw error
      return UNKNOWN_MS
    }
    if (expected.hasUnmanaged) await events.warning(budget, 'UnmanagedPods', unmanaged(budget))
    const { disrupted, late } = disruptedPods(budget, pods, now)
    const where = `${namespace}/${namespace}` // the text of kube-controller-manager
    for (const pod of late)
      await events.warning(pod, 'NotDeleted', `Pod was expected by PDB ${where} to be deleted but it wasn't`)
    await write(statusOf(budget, pods, disrupted, expected, now))
    const ends = Object.values(disrupted).map((time) => Date.parse(time) + DELETION_TIMEOUT_MS - now.getTime())
    return ends.length === 0 ? undefined : Math.max(leastOf(ends), 0) + 1
  },
}

async function expectedOf(
  { spec = {} }: PodDisruptionBudget,
  pods: readonly Pod[],
  scaleOf: (pods: readonly Pod[]) => Promise<{ readonly count: number; readonly hasUnmanaged: boolean }>,
): Promise<Expected> {
  const { maxUnavailable, minAvailable } = spec
  if (maxUnavailable !== undefined) {
    const { count, hasUnmanaged } = await scaleOf(pods)
    return { pods: count, healthy: Math.max(0, count - scaled(maxUnavailable, count, Math.ceil)), hasUnmanaged }
  }
  if (minAvailable === undefined) return { pods: 0, healthy: 0, hasUnmanaged: false }
  if (typeof minAvailable === 'number') return { pods: pods.length, healthy: minAvailable, hasUnmanaged: false }
  const { count, hasUnmanaged } = await scaleOf(pods)
  return { pods: count, healthy: scaled(minAvailable, count, Math.ceil), hasUnmanaged }
}

/** The evicted pods that are not deleted yet; `late` ones should have been deleted by now. */
function disruptedPods({ status }: PodDisruptionBudget, pods: readonly Pod[], now: Date) {
  const disrupted: Record<string, string> = {}
  const late: Pod[] = []
  for (const pod of pods) {
    const { name = '' } = pod.metadata
    const time = isTerminating(pod) ? undefined : ownValue(status?.disruptedPods, name)
    if (time === undefined) continue
    // own key: it is set here, and __proto__ is no name of a pod
    if (Date.parse(time) + DELETION_TIMEOUT_MS >= now.getTime()) disrupted[name] = time
    else late.push(pod)
  }
  return { disrupted, late }
}

function statusOf(
  { metadata, status }: PodDisruptionBudget,
  pods: readonly Pod[],
  disrupted: Readonly<Record<string, string>>,
  expected: Expected,
  now: Date,
): PodDisruptionBudgetStatus {
  const isDisrupted = ({ metadata: { name = '' } }: Pod) => ownValue(disrupted, name) !== undefined
  const healthy = pods.filter((pod) => !isTerminating(pod) && !isDisrupted(pod) && isReady(pod)).length
  const allowed = expected.pods <= 0 ? 0 : Math.max(0, healthy - expected.healthy)
  const observedGeneration = metadata.generation ?? 0
  const said =
    allowed > 0 ? { status: 'True', reason: 'SufficientPods' } : { status: 'False', reason: 'InsufficientPods' }
  return {
    currentHealthy: healthy,
    desiredHealthy: expected.healthy,
    expectedPods: expected.pods,
    disruptionsAllowed: allowed,
    ...(Object.keys(disrupted).length === 0 ? {} : { disruptedPods: { ...disrupted } }),
    observedGeneration,
    conditions: conditions(status, { ...said, message: '' }, observedGeneration, now),
  }
}

const ALLOWED = 'DisruptionAllowed'

/** The conditions with the new DisruptionAllowed. Its transition time changes only with its status. */
function conditions(
  status: PodDisruptionBudgetStatus | undefined,
  said: Pick<Condition, 'status' | 'reason' | 'message'>,
  observedGeneration: number | bigint | undefined,
  now: Date,
): Condition[] {
  const known = status?.conditions ?? []
  const before = known.find(({ type }) => type === ALLOWED)
  const lastTransitionTime =
    before !== undefined && before.status === said.status ? before.lastTransitionTime : timeText(now)
  const condition: Condition = {
    type: ALLOWED,
    ...said,
    ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }),
    ...(observedGeneration ? { observedGeneration } : {}),
  }
  if (before === undefined) return [...known, condition]
  return known.map((one) => (one === before ? condition : one))
}

function unmanaged({ spec }: PodDisruptionBudget): string {
  const { matchLabels = {}, matchExpressions = [] } = spec?.selector ?? {}
  const labels = Object.entries(matchLabels).sort(([a], [b]) => (a < b ? -1 : 1))
  const texts = matchExpressions.map(
    ({ key = '', operator = '', values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  )
  const selector =
    `&LabelSelector{MatchLabels:map[string]string{${labels.map(([key, value]) => `${key}: ${value},`).join('')}},` +
    `MatchExpressions:[]LabelSelectorRequirement{${texts.join('')}},}`
  return (
    `Pods selected by this PodDisruptionBudget (selector: ${selector}) were found to be unmanaged. ` +
    'As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. ' +
    'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.'
  )
}

export const guardedPods: Controller = {
  async reconcile(key, context) {
    const { namespace, labels } = podsOfKey(key)
    const clients = clientsetFor(context, COMPONENT)
    let first = ''
    let found = 0
    for await (const { metadata, spec } of clients.resource(BUDGETS, namespace).each()) {
      if (spec?.selector === undefined) continue
      if (labels !== undefined && !matchesLabels(requirementsOf(spec.selector), labels)) continue
      context.later('disruption', `${namespace}/${metadata.name}`, 0)
      found++
      first ||= metadata.name ?? ''
    }
    if (found > 1 && labels !== undefined) await warnOfSeveral(context, clients, { namespace, labels, first })
    return undefined
  },
}

/** Writes Events about pods with several budgets, because evictions of such pods are refused. */
async function warnOfSeveral(
  { now }: ControllerContext,
  clients: Clientset,
  { namespace, labels, first }: { namespace: string; labels: Readonly<Record<string, string>>; first: string },
): Promise<void> {
  const events = new EventRecorder(clients, SOURCE, now)
  const pods = await clients
    .resource(PODS, namespace)
    .list({ labelSelector: labelSelectorText({ matchLabels: labels }) })
  for (const pod of pods) {
    const { name } = pod.metadata
    const message =
      `Pod ${JSON.stringify(namespace)}/${JSON.stringify(name)} matches multiple PodDisruptionBudgets.  ` +
      `Chose ${JSON.stringify(first)} arbitrarily.`
    await events.warnOnce(pod, 'MultiplePodDisruptionBudgets', message)
  }
}

const DISRUPTION_TARGET = 'DisruptionTarget'

/** Sets DisruptionTarget of a pod to False when no deletion followed. Key: NAMESPACE/NAME. */
export const staleDisruption: Controller = {
  async reconcile(key, context) {
    const [namespace, name] = keyParts(key)
    const pods = clientsetFor(context, COMPONENT).resource(PODS, namespace)
    const pod = await pods.get(name)
    if (pod === undefined || !isToBeDisrupted(pod)) return undefined
    const now = context.now()
    const since = Date.parse(podCondition(pod, DISRUPTION_TARGET)?.lastTransitionTime ?? '') || 0
    const wait = since + DELETION_TIMEOUT_MS - now.getTime()
    if (wait > 0) return wait
    await pods.updateStatusWithRetries(pod, (object) => {
      const condition = isToBeDisrupted(object) ? podCondition(object, DISRUPTION_TARGET) : undefined
      if (condition === undefined) return
      const { generation } = object.metadata
      condition.status = 'False'
      condition.lastTransitionTime = timeText(now)
      if (generation !== undefined) condition.observedGeneration = generation
      delete condition.reason
      delete condition.message
    })
    return undefined
  },
}

/** Whether a pod waits for a disruption. Terminations by the kubelet do not count, as they may take longer. */
function isToBeDisrupted(pod: Pod): boolean {
  const { status, reason } = podCondition(pod, DISRUPTION_TARGET) ?? {}
  return !isTerminating(pod) && !isFinished(pod) && status === 'True' && reason !== 'TerminationByKubelet'
}
