/**
 * Scales a target by its metrics (kube-controller-manager's horizontal pod autoscaler). Key: NAMESPACE/NAME.
 * kube-controller-manager reconciles each autoscaler every 15 seconds. So does this controller, as long as the result
 * might differ from the last one. Simulated usage changes only with pods, whose changes queue this controller.
 */
import type { HorizontalPodAutoscaler, MetricStatus } from '../../../api/autoscaling/v2.ts'
import type { Pod } from '../../../api/core/v1.ts'
import type { KubeObject } from '../../../api/object.ts'
import { leastOf } from '../../../base/extremes.ts'
import { StatusError } from '../../../api/status.ts'
import { Quantity } from '../../../schema/quantity.ts'
import { settingsOf } from '../../../settings.ts'
import { parseLabelSelector } from '../../../storage/selectors/label-selector.ts'
import { matchesLabels } from '../../../storage/selectors/selection.ts'
import type { Clientset } from '../../client/clientset.ts'
import { clientsetFor, typedResource } from '../../client/clientset.ts'
import type { Controller, ControllerContext } from '../../controller.ts'
import { unlessGone } from '../../work/unless-gone.ts'
import { EventRecorder } from '../events/events.ts'
import { normalized, windowsOf } from './behavior.ts'
import type { AutoscalerHistory } from './history.ts'
import { begun, paused, PERIOD_MS, readHistory, recommended, scaled, untilForgotten } from './history.ts'
import { MetricsClient } from './metrics.ts'
import type { ProposalContext } from './proposals.ts'
import { proposalOf } from './proposals.ts'
import type { Tolerances } from './replicas.ts'
import { usageCountsFrom } from './replicas.ts'
import { AutoscalerStatus } from './status.ts'
import type { ScaleTarget } from './target.ts'
import { scaleTargetOf } from './target.ts'
import { keyOf } from '../../../registry/work/work.ts'
import { keyParts } from '../key.ts'
import { PODS } from '../pods/pod-control.ts'
import { isActive } from '../pods/pod-state.ts'
import { sameJson } from '../same-json.ts'

type Autoscaler = HorizontalPodAutoscaler & KubeObject

export const AUTOSCALERS = typedResource<Autoscaler>('autoscaling', 'horizontalpodautoscalers')
const COMPONENT = 'horizontal-pod-autoscaler'
/** Milliseconds until the next reconciliation, for a target of a kind whose writes do not queue this controller. */
const UNWATCHED_MS = 300_000
/** The default of kube-controller-manager's --horizontal-pod-autoscaler-tolerance. */
const TOLERANCE = 0.1

export const horizontalPodAutoscalerController: Controller = {
  async reconcile(key, context) {
    const [namespace, name] = keyParts(key)
    const clients = clientsetFor(context, COMPONENT)
    const autoscaler = await clients.resource(AUTOSCALERS, namespace).get(name)
    if (autoscaler === undefined) {
      const wasKnown = context.sightings.get(`autoscaler/${key}`) !== undefined
      context.sightings.set(`autoscaler/${key}`, undefined)
      if (wasKnown) await lookAtAmbiguous(clients, namespace, context)
      return undefined
    }
    return new Look(context, clients, autoscaler, key).run()
  },
}

/** Why an autoscaler does nothing when others select its pods. */
const AMBIGUOUS = 'AmbiguousSelector'

const isAmbiguous = ({ status }: Autoscaler): boolean =>
  status?.conditions?.some(({ type, reason }) => type === 'ScalingActive' && reason === AMBIGUOUS) === true

/** Queues the autoscalers that did nothing because of another one, which is gone or selects other pods now. */
async function lookAtAmbiguous(clients: Clientset, namespace: string, context: ControllerContext): Promise<void> {
  for await (const other of clients.resource(AUTOSCALERS, namespace).each())
    if (isAmbiguous(other)) context.later(COMPONENT, keyOf(other), PERIOD_MS)
}

const earlier = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)

/** One reconciliation of one autoscaler. */
class Look {
  private readonly now: Date
  private readonly namespace: string
  private readonly status: AutoscalerStatus
  private readonly events: EventRecorder
  private readonly known: AutoscalerHistory
  private history: AutoscalerHistory

  constructor(
    private readonly context: ControllerContext,
    private readonly clients: Clientset,
    private readonly autoscaler: Autoscaler,
    private readonly key: string,
  ) {
    this.now = context.now()
    this.namespace = autoscaler.metadata.namespace ?? ''
    this.status = new AutoscalerStatus(autoscaler, this.now)
    this.events = new EventRecorder(clients, COMPONENT, context.now)
    const { record } = context.sightings.get(`autoscaler/${key}`) ?? {}
    this.known = readHistory(record, autoscaler.metadata.uid ?? '')
    this.history = this.known
  }

  private get spec() {
    return this.autoscaler.spec ?? {}
  }

  private get min(): number {
    return this.spec.minReplicas ?? 1
  }

  private enabled(gate: string): boolean {
    return settingsOf(this.context.env).gates.enabled(gate)
  }

  /** @returns milliseconds until the result may change without a write; undefined: it cannot */
  async run(): Promise<number | undefined> {
    const target = await scaleTargetOf(this.context, this.clients, this.namespace, this.spec.scaleTargetRef ?? {})
    if ('why' in target) {
      await this.events.warning(this.autoscaler, 'FailedGetScale', target.why)
      const message = `the HPA controller was unable to get the target's current scale: ${target.why}`
      this.status.set('AbleToScale', false, 'FailedGetScale', message)
      this.history = paused(this.history, this.now.getTime())
      await this.write()
      return target.isWatched ? undefined : UNWATCHED_MS
    }
    const message = "the HPA controller was able to get the target's current scale"
    this.status.set('AbleToScale', true, 'SucceededGetScale', message)
    const current = target.scale.spec?.replicas ?? 0
    this.history = begun(this.history, current, this.now.getTime())
    const after = await this.decide(target, current)
    await this.write()
    // writes of targets of other kinds do not queue this controller
    return target.isWatched || current === 0 ? after : Math.min(after ?? PERIOD_MS, PERIOD_MS)
  }

  private async decide(target: ScaleTarget, current: number): Promise<number | undefined> {
    const { maxReplicas = 0 } = this.spec
    if (current === 0 && !this.scalesFromZero()) {
      const message = 'scaling is disabled since the replica count of the target is zero'
      this.status.set('ScalingActive', false, 'ScalingDisabled', message)
      if (!this.enabled('HPAScaleToZero')) this.status.remove('ScaledToZero')
      this.status.count(current, current, [])
      this.history = paused(this.history, this.now.getTime())
      return target.isWatched ? undefined : UNWATCHED_MS
    }
    const limits = [
      { isOver: current > maxReplicas, replicas: maxReplicas, name: 'above Spec.MaxReplicas' },
      { isOver: current !== 0 && current < this.min, replicas: this.min, name: 'below Spec.MinReplicas' },
    ]
    const broken = limits.find(({ isOver }) => isOver)
    if (broken === undefined) return this.followMetrics(target, current)
    this.history = paused(this.history, this.now.getTime())
    return this.rescale(target, current, broken.replicas, `Current number of replicas ${broken.name}`, [])
  }

  /** Whether this autoscaler, and not a user, scaled the target to zero. */
  private scalesFromZero(): boolean {
    if (!this.enabled('HPAScaleToZero') || !this.status.isTrue('ScaledToZero')) return false
    return this.min !== 0 || this.followsOthers()
  }

  /** Whether the spec has metrics that exist without pods. */
  private followsOthers(): boolean {
    return (this.spec.metrics ?? []).some(({ type }) => type === 'Object' || type === 'External')
  }

  private async followMetrics(target: ScaleTarget, current: number): Promise<number | undefined> {
    const selector = target.scale.status?.selector ?? ''
    const pods = await this.selectedPods(selector)
    if (pods === undefined) {
      this.status.count(current, undefined, [])
      this.history = paused(this.history, this.now.getTime())
      return undefined
    }
    const metrics = new MetricsClient(this.context, this.namespace, selector, pods)
    const found = await this.propose(metrics, target, current, pods)
    const change = metrics.askedOthers ? PERIOD_MS : this.untilPodsChange(pods, target)
    if (found.replicas === undefined) {
      this.status.count(current, undefined, found.statuses)
      this.history = paused(this.history, this.now.getTime())
      await this.events.warning(this.autoscaler, 'FailedComputeMetricsReplicas', found.why)
      return change
    }
    const { replicas: desired, reason } = this.normalize(current, found.replicas, found.metric)
    if (desired !== current) return this.rescale(target, current, desired, reason, found.statuses)
    this.status.count(current, current, found.statuses)
    if (this.isLimitedByRate) return PERIOD_MS
    return this.isHeldBack ? earlier(change, this.untilWindowEnds()) : change
  }

  private isLimitedByRate = false
  private isHeldBack = false

  /** Milliseconds until an earlier recommendation no longer holds the autoscaler back. */
  private untilWindowEnds(): number | undefined {
    const { up, down } = windowsOf(this.spec.behavior)
    const now = this.now.getTime()
    return earlier(untilForgotten(this.history, up * 1000, now), untilForgotten(this.history, down * 1000, now))
  }

  /** Milliseconds until usage of pods counts differently because of their age. Other changes of pods queue work. */
  private untilPodsChange(pods: readonly Pod[], { scale }: ScaleTarget): number | undefined {
    const active = pods.filter(isActive)
    // the selector selects pods of others too, or the target's status is about to change
    if (active.length !== (scale.status?.replicas ?? 0)) return PERIOD_MS
    const now = this.now.getTime()
    const changes = active.flatMap((pod) => usageCountsFrom(pod) ?? []).filter((time) => time > now)
    return changes.length === 0 ? undefined : Math.max(leastOf(changes) - now, PERIOD_MS)
  }

  private normalize(current: number, proposed: number, metric: string): { replicas: number; reason: string } {
    const { spec, min } = this
    const { behavior, maxReplicas: max = 0 } = spec
    const now = this.now.getTime()
    const desired = Math.max(proposed, 0)
    const { replicas, able, limit } = normalized({ current, desired, min, max, now }, behavior, this.history)
    this.status.set('AbleToScale', true, able.reason, able.message)
    this.status.set('ScalingLimited', limit.isLimited, limit.reason, limit.message)
    this.isHeldBack = able.reason !== 'ReadyForNewScale'
    this.isLimitedByRate = limit.reason === 'ScaleUpLimit' || limit.reason === 'ScaleDownLimit'
    const windows = windowsOf(behavior)
    this.history = recommended(this.history, desired, now, Math.max(windows.up, windows.down) * 1000)
    const reason = desired > current ? `${metric} above target` : desired < current ? 'All metrics below target' : ''
    if (current !== 0 || replicas >= min) return { replicas, reason }
    return { replicas: min, reason: reason === '' ? 'Current number of replicas below Spec.MinReplicas' : reason }
  }

  /** Undefined for an empty or invalid selector, or one that selects pods of other autoscalers. */
  private async selectedPods(selector: string): Promise<readonly Pod[] | undefined> {
    if (selector === '') {
      await this.events.warning(this.autoscaler, 'SelectorRequired', 'selector is required')
      this.status.set('ScalingActive', false, 'InvalidSelector', "the HPA target's scale is missing a selector")
      await this.events.warning(this.autoscaler, 'FailedComputeMetricsReplicas', 'selector is required')
      return undefined
    }
    try {
      parseLabelSelector(selector)
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      const why = `couldn't convert selector into a corresponding internal selector object: ${error.message}`
      return this.refuseSelector('InvalidSelector', why)
    }
    this.history = { ...this.history, selector }
    if (this.known.selector !== undefined && this.known.selector !== selector)
      await lookAtAmbiguous(this.clients, this.namespace, this.context)
    const pods = await this.clients.resource(PODS, this.namespace).list({ labelSelector: selector })
    const all = await this.autoscalersOf(pods)
    if (all.length < 2) return pods
    const keys = all.map((name) => `${this.namespace}/${name}`)
    // those that are at rest do not know of this one yet
    if (!isAmbiguous(this.autoscaler))
      for (const key of keys) if (key !== this.key) this.context.later(COMPONENT, key, PERIOD_MS)
    return this.refuseSelector(
      AMBIGUOUS,
      `pods by selector ${selector} are controlled by multiple HPAs: [${keys.join(' ')}]`,
    )
  }

  private async refuseSelector(reason: string, why: string): Promise<undefined> {
    await this.events.warning(this.autoscaler, reason, why)
    this.status.set('ScalingActive', false, reason, why)
    await this.events.warning(this.autoscaler, 'FailedComputeMetricsReplicas', why)
    return undefined
  }

  /**
   * The names of this autoscaler and of those whose selectors, at their last reconciliation, select one of the pods.
   */
  private async autoscalersOf(pods: readonly Pod[]): Promise<string[]> {
    const { name: own = '' } = this.autoscaler.metadata
    const names = [own]
    for await (const { metadata } of this.clients.resource(AUTOSCALERS, this.namespace).each()) {
      const { name = '', uid = '' } = metadata
      if (name === own) continue
      const { record } = this.context.sightings.get(`autoscaler/${this.namespace}/${name}`) ?? {}
      const { selector } = readHistory(record, uid)
      if (selector === undefined) continue
      const requirements = parseLabelSelector(selector)
      // few: autoscalers of one namespace
      if (pods.some((pod) => matchesLabels(requirements, pod.metadata.labels ?? {}))) names.push(name)
    }
    return names.sort()
  }

  private async propose(
    metrics: MetricsClient,
    { scale }: ScaleTarget,
    current: number,
    pods: readonly Pod[],
  ): Promise<Proposed> {
    const calculation = { current, tolerances: this.tolerances, pods, now: this.now.getTime() }
    const statusReplicas = scale.status?.replicas ?? 0
    const context: ProposalContext = { calculation, metrics, namespace: this.namespace, statusReplicas }
    const specs = this.spec.metrics ?? []
    const statuses: MetricStatus[] = []
    const failures: { readonly reason: string; readonly why: string; readonly within: string }[] = []
    let best: { replicas: number; metric: string } = { replicas: 0, metric: '' }
    for (const spec of specs) {
      const proposal = await proposalOf(context, spec)
      if ('why' in proposal) {
        await this.events.warning(this.autoscaler, proposal.reason, proposal.why)
        failures.push(proposal)
        statuses.push({ type: '' })
        continue
      }
      statuses.push(proposal.status)
      if (best.replicas === 0 || proposal.replicas > best.replicas) best = proposal
    }
    const [first] = failures
    // missing metrics must not lower the replicas
    if (first !== undefined && (failures.length >= specs.length || best.replicas < current)) {
      const message = `the HPA was unable to compute the replica count: ${first.why}`
      this.status.set('ScalingActive', false, first.reason, message)
      const why = `invalid metrics (${failures.length} invalid out of ${specs.length}), first error is: ${first.within}`
      return { replicas: undefined, why, statuses }
    }
    const message = `the HPA was able to successfully calculate a replica count from ${best.metric}`
    this.status.set('ScalingActive', true, 'ValidMetricFound', message)
    return { ...best, statuses }
  }

  private get tolerances(): Tolerances {
    const { behavior } = this.spec
    const isOwn = behavior !== undefined && this.enabled('HPAConfigurableTolerance')
    const of = (text: string | undefined) =>
      isOwn && text !== undefined ? Quantity.parse(text).asApproximateFloat() : TOLERANCE
    return { down: of(behavior?.scaleDown?.tolerance), up: of(behavior?.scaleUp?.tolerance) }
  }

  private async rescale(
    target: ScaleTarget,
    current: number,
    desired: number,
    reason: string,
    metrics: readonly MetricStatus[],
  ): Promise<number> {
    const { autoscaler, events, status } = this
    try {
      await target.scaleTo(desired)
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      const why = error.message
      await events.warning(autoscaler, 'FailedRescale', `New size: ${desired}; reason: ${reason}; error: ${why}`)
      const message = `the HPA controller was unable to update the target scale: ${why}`
      status.set('AbleToScale', false, 'FailedUpdateScale', message)
      status.count(current, undefined, metrics)
      return PERIOD_MS
    }
    const message = `the HPA controller was able to update the target scale to ${desired}`
    status.set('AbleToScale', true, 'SucceededRescale', message)
    await events.normal(autoscaler, 'SuccessfulRescale', `New size: ${desired}; reason: ${reason}`)
    const { behavior } = this.spec
    const rules = desired > current ? behavior?.scaleUp : behavior?.scaleDown
    if (rules !== undefined) this.history = scaled(this.history, current, desired, this.now.getTime(), rules.policies)
    if (!this.enabled('HPAScaleToZero')) status.remove('ScaledToZero')
    else if (current > 0 && desired === 0 && this.min === 0 && this.followsOthers())
      status.set('ScaledToZero', true, 'ScaledToZero', 'the HPA controller scaled the workload to zero')
    else status.set('ScaledToZero', false, 'NotScaledToZero', 'the HPA controller did not scale the workload to zero')
    status.count(current, desired, metrics, true)
    return PERIOD_MS
  }

  /** Writes the status and the history where they changed. */
  private async write(): Promise<void> {
    const { autoscaler, context, history } = this
    if (history !== this.known)
      if (!sameJson(history, this.known))
        context.sightings.set(`autoscaler/${this.key}`, { record: JSON.stringify(history), time: this.now.getTime() })
    const status = this.status.value
    if (sameJson(status, autoscaler.status)) return
    const autoscalers = this.clients.resource(AUTOSCALERS, this.namespace)
    await autoscalers
      .updateStatusWithRetries(autoscaler, (live) => void (live.status = status))
      .catch((error: unknown) => unlessGone(autoscalers, autoscaler, error))
  }
}

type Proposed = { readonly statuses: readonly MetricStatus[] } & (
  { readonly replicas: number; readonly metric: string } | { readonly replicas: undefined; readonly why: string }
)
