/**
 * The kubelets of all simulated nodes. Each run handles the pods that changed since the last run, and the pods that are
 * due. The key is '', or says that claims of devices were reserved.
 */
import type { Node, Pod } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { isSimulated, KUBELET_MANAGER } from '../../api/simulated-node.ts'
import { settingsOf } from '../../settings.ts'
import { perTenant, weighTenant } from '../../tenancy/tenant-state.ts'
import type { Clientset } from '../client/clientset.ts'
import { managerClients } from '../client/clientset.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { inTurns, inTurnsUntil } from '../work/in-turns.ts'
import type { ResourceClient } from '../client/resource-client.ts'
import { isFault, isRefusal } from '../work/refusal.ts'
import { isOvertaken, unlessGone } from '../work/unless-gone.ts'
import { logError } from '../../log/log.ts'
import { controllerRefOf } from '../../registry/work/work.ts'
import { PODS } from '../workloads/pods/pod-control.ts'
import { isFinished } from '../workloads/pods/pod-state.ts'
import { podAddresses } from './addresses.ts'
import type { Rejection } from './admission.ts'
import { rejectedStatus, rejectionOf } from './admission.ts'
import type { KubeletNode } from './kubelet-state.ts'
import { FreeAddresses, KubeletState } from './kubelet-state.ts'
import { PodUse } from './node-use.ts'
import type { Step } from './pod-lifecycle.ts'
import { PodsUnderWay } from './pods-under-way.ts'
import type { PodUnderWay } from './pods-under-way.ts'
import { advance, endedByForce } from './pod-lifecycle.ts'
import { PREEMPTED, preemptedStatus } from './preemption.ts'
import { CLAIMS_RESERVED } from '../../registry/resource/claim-work.ts'
import { claimsProblem, needsClaims } from './prepared-claims.ts'
import { COMPONENT, NODES } from './simulated-node.ts'
import { EventRecorder } from '../workloads/events/events.ts'
import { StagePlayer } from './stage-player.ts'
import { stagesOf, tellLeftOut } from './stages.ts'

/** The most due pods of one run. The next run handles the others, so that other controllers run in between. */
const MOST = 250

/** Milliseconds after which a run looks again at pods that wait for the end of others. */
const PUT_OFF_MS = 1_000

/** What stays of a control plane between two runs. An isolate remembers a limited number of control planes. */
interface Kept {
  state: KubeletState
  /** The version of the Stages. */
  stages: string
  readonly underWay: PodsUnderWay
}

const states = perTenant('forgotten', (): Kept => ({
  state: new KubeletState(),
  stages: '',
  underWay: new PodsUnderWay(),
}))

export const simulatedPods: Controller = {
  reconcile: (key, context) =>
    context.alone('simulated-pods', async () => {
      const kept = states(context.tenant)
      const clients = managerClients(context, KUBELET_MANAGER)
      const { stages, leftOut, version } = await stagesOf(clients)
      // other Stages may match the pods now
      if (version !== kept.stages) {
        kept.state = new KubeletState()
        await tellLeftOut(new EventRecorder(clients, COMPONENT, () => context.now()), leftOut)
      }
      kept.stages = version
      const player = new StagePlayer(stages, clients, context)
      for (const failed of kept.underWay.takeFailed()) player.forget(failed)
      const look = new Look(kept, clients, player, context)
      const more = await look.all(key).finally(() => look.end())
      player.remember()
      if (kept.state.isTooLarge) kept.state = new KubeletState()
      weighTenant(context.tenant, 'kubelets', kept.state.length)
      if (look.failure !== undefined) throw look.failure
      return more
    }),
}

class Look {
  /** An error that is no refusal of a pod's write. The run continues with the other pods, and the next run handles this one again. */
  failure: unknown
  private readonly addresses = new FreeAddresses()
  /** Steps that are under way go on without the run. */
  private isOver = false
  private readonly isMissing: (image: string) => boolean

  constructor(
    private readonly kept: Kept,
    private readonly clients: Clientset,
    private readonly stages: StagePlayer,
    private readonly context: ControllerContext,
  ) {
    this.isMissing = settingsOf(context.env).missingImages.isMissing
  }

  private get state(): KubeletState {
    return this.kept.state
  }

  end(): void {
    this.isOver = true
  }

  /** @returns milliseconds until the next pod is due */
  async all(key: string): Promise<number | undefined> {
    try {
      await this.read()
    } catch (error) {
      // changes may be half applied, so the next run reads everything again
      this.kept.state = new KubeletState()
      throw error
    }
    if (key === CLAIMS_RESERVED) this.state.tellOfClaims()
    return this.atTheirTime()
  }

  /** Reads changes, and advances the pods that changed. */
  private async read(): Promise<void> {
    const { state, clients } = this
    const unknown: string[] = []
    for await (const page of clients.resource<Node>(NODES).changes(state.nodesAt))
      for (const name of state.takeNodes(page, isSimulated)) unknown.push(name)
    if (state.nodes.size === 0 && state.podsAt === undefined) return
    const isFirst = state.podsAt === undefined
    let isAnew = isFirst
    for await (const { revision, reset, changed } of clients.resource(PODS).changes(state.podsAt, true)) {
      if (reset) state.forgetPods()
      // further pages belong to the same full read
      isAnew ||= reset
      for (const { key, object } of changed) if (object === undefined) this.stages.forget(key)
      const here = changed.flatMap(({ key, object }) =>
        state.putPod(key, object) && object !== undefined ? object : [],
      )
      // during a full read the used addresses are not known yet
      if (isAnew) this.note(here)
      else await this.advance(here)
      state.podsAt = revision
      await this.context.budget.turn()
    }
    if (!isFirst) for (const name of unknown) await this.readNode(name)
  }

  /** Reads the pods of a node that was not known before. */
  private async readNode(name: string): Promise<void> {
    const here: Pod[] = []
    for await (const pod of this.clients.resource(PODS).each({ fieldSelector: `spec.nodeName=${name}` }))
      if (this.state.putPod(keyOf(pod), pod)) here.push(pod)
    this.note(here)
  }

  /** Sets when the pods are due. Pods that need a write now are due at once. */
  private note(pods: readonly Pod[]): void {
    const now = this.context.now()
    for (const pod of pods) {
      const node = this.nodeOf(pod)
      if (node === undefined) continue
      try {
        const { status, isGone, after } = advance(pod, { ...this.facts(node), allocateIP: () => undefined }, now)
        const isDue =
          this.stages.isFor(pod) || status !== undefined || isGone === true || pod.status?.podIP === undefined
        this.state.setDue(keyOf(pod), isDue ? 0 : after === undefined ? undefined : now.getTime() + after)
      } catch (error) {
        if (!isFault(error)) throw error
        this.hold(pod, error)
      }
    }
  }

  private async atTheirTime(): Promise<number | undefined> {
    const { state, clients } = this
    const keys = state.due(this.context.now().getTime(), MOST).filter((key) => !this.putOff(key))
    const pods: Pod[] = []
    await inTurns(
      keys,
      async (key) => {
        const [namespace = '', name = ''] = key.split('/')
        const pod = await clients.resource(PODS, namespace).get(name)
        if (state.putPod(key, pod) && pod !== undefined) pods.push(pod)
      },
      this.context.budget,
    )
    await this.advance(pods)
    const next = state.nextDue()
    return next === undefined ? undefined : Math.max(0, next - this.context.now().getTime())
  }

  private async advance(pods: readonly Pod[]): Promise<void> {
    const { overdue, budget } = this.context
    const here = pods.filter((pod) => !this.putOff(keyOf(pod)))
    const { notBegun, rest } = await inTurnsUntil(overdue, here, (pod) => this.attend(pod), budget)
    for (const pod of notBegun) this.state.setDue(keyOf(pod), 0)
    this.context.waitUntil(rest)
  }

  /** Lets a pod wait for the end of steps that earlier runs left. @returns whether there are such steps */
  private putOff(key: string): boolean {
    const { underWay } = this.kept
    const isLeft = underWay.askAgain(key)
    if (!isLeft && !underWay.areMany(namespaceOf(key))) return false
    this.state.setDue(key, isLeft ? undefined : this.context.now().getTime() + PUT_OFF_MS)
    return true
  }

  private async attend(pod: Pod): Promise<void> {
    const key = keyOf(pod)
    const { underWay } = this.kept
    try {
      await this.advanceOne(pod, underWay.begin(key))
    } catch (error) {
      // a refusal or a fault concerns this pod alone; after anything else the next run begins again
      if (isRefusal(error) || isFault(error) || this.isOver) this.hold(pod, error)
      else {
        this.failure ??= error
        this.state.setDue(key, 0)
      }
      if (this.isOver) underWay.fail(key)
    }
    if (underWay.end(key)) this.state.setDue(key, 0)
    if (this.isOver) this.context.later('simulated-pods', '', 0)
  }

  private hold(pod: Pod, error: unknown): void {
    logError(isFault(error) ? 'a simulated pod could not be worked on' : 'a simulated pod could not be written', {
      pod: keyOf(pod),
      error,
    })
    this.state.holdFailure(keyOf(pod), this.context.now().getTime())
  }

  private async advanceOne(pod: Pod, underWay: PodUnderWay): Promise<void> {
    const node = this.nodeOf(pod)
    if (node === undefined || (await this.isRejected(pod, node))) return
    if (needsClaims(pod) && (await this.waitsForClaims(pod))) return
    const now = this.context.now()
    const allocateIP = (): string | undefined => (underWay.ip = this.freeAddress(node))
    // a Stage for the pod replaces the built-in steps
    const staged = await this.stages.play(pod, { ...this.facts(node), allocateIP })
    const { status, isGone, after, news = [] }: Step = staged ?? advance(pod, { ...this.facts(node), allocateIP }, now)
    this.state.setDue(keyOf(pod), after === undefined ? undefined : now.getTime() + after)
    const pods = this.clients.resource(PODS, pod.metadata.namespace)
    const overtaken = unlessOvertaken(pods, pod)
    if (status !== undefined) await pods.putStatus({ ...pod, status }, pod).catch(overtaken)
    if (isGone === true)
      await pods.delete(pod, { gracePeriodSeconds: 0 }, status === undefined ? pod : undefined).catch(overtaken)
    if (news.length === 0) return
    const events = new EventRecorder(this.clients, COMPONENT, () => now, pod.spec?.nodeName)
    // a probe that keeps failing is one Event
    for (const one of news) await events.record(pod, one, one.reason === 'Killing')
  }

  private freeAddress(node: KubeletNode): string | undefined {
    const allocate = this.addresses.allocatorOf(node)
    let ip = allocate()
    while (ip !== undefined && (this.kept.underWay.hasAddress(ip) || this.state.hasAddress(node, ip))) ip = allocate()
    return ip
  }

  /**
   * Whether the kubelet refuses the pod. It decides when it first sees the pod. Pods with a Stage are always admitted.
   */
  private async isRejected(pod: Pod, node: KubeletNode): Promise<boolean> {
    const key = keyOf(pod)
    const isBegun = pod.status?.startTime !== undefined || pod.metadata.deletionTimestamp !== undefined
    if (isBegun || isFinished(pod) || this.state.isAdmitted(key) || this.stages.isFor(pod)) return false
    const use = new PodUse(pod)
    const rejection = rejectionOf(pod, use, node.node, node.use)
    if (rejection !== undefined && !('victims' in rejection)) {
      await this.reject(pod, rejection)
      return true
    }
    // frees and uses the resources first, so that pods handled meanwhile do not take the room of this one
    const left = new Map((rejection?.victims ?? []).map((victim) => [victim, this.state.release(victim)]))
    this.state.admit(key, use)
    try {
      for (const victim of [...left.keys()]) {
        await this.preempt(victim, node)
        left.delete(victim)
      }
    } catch (error) {
      // the victims that are left still use their room
      this.state.release(key)
      for (const [victim, used] of left) if (used !== undefined) this.state.admit(victim, used)
      throw error
    }
    return false
  }

  /** @throws what the API answers if it does not let the pod end */
  private async preempt(key: string, { node }: KubeletNode): Promise<void> {
    const [namespace = '', name = ''] = key.split('/')
    const pods = this.clients.resource(PODS, namespace)
    const pod = await pods.get(name)
    if (pod === undefined || pod.spec?.nodeName !== node.metadata.name || isFinished(pod)) return
    const now = this.context.now()
    try {
      await pods.updateStatusWithRetries(pod, (live) => {
        if (!isFinished(live)) live.status = preemptedStatus(live, endedByForce(live, now), now)
      })
    } catch (error) {
      return unlessGone(pods, pod, error)
    }
    const events = new EventRecorder(this.clients, COMPONENT, () => now, pod.spec?.nodeName)
    await events.warning(pod, PREEMPTED.reason, PREEMPTED.message)
  }

  private async reject(pod: Pod, rejection: Rejection): Promise<void> {
    const now = this.context.now()
    const wait = this.state.holdRefusal(keyOf(pod), controllerRefOf(pod)?.uid ?? keyOf(pod), now.getTime())
    this.state.setDue(keyOf(pod), wait === 0 ? undefined : now.getTime() + wait)
    if (wait > 0) return
    const status = rejectedStatus(pod, rejection, now)
    const pods = this.clients.resource(PODS, pod.metadata.namespace)
    await pods.putStatus({ ...pod, status }, pod).catch(unlessOvertaken(pods, pod))
    const events = new EventRecorder(this.clients, COMPONENT, () => now, pod.spec?.nodeName)
    await events.warning(pod, rejection.reason, rejection.message)
  }

  /** Whether the pod waits for claims. The kubelet handles it again when claims are reserved. */
  private async waitsForClaims(pod: Pod): Promise<boolean> {
    const problem = await claimsProblem(pod, this.clients)
    if (problem === undefined) return false
    this.state.setDue(keyOf(pod), undefined)
    this.state.waitForClaims(keyOf(pod))
    const events = new EventRecorder(this.clients, COMPONENT, () => this.context.now(), pod.spec?.nodeName)
    const message = `Failed to prepare dynamic resources: ${problem}`
    await events.warnOnce(pod, 'FailedPrepareDynamicResources', message)
    return true
  }

  private nodeOf({ spec }: Pod): KubeletNode | undefined {
    return this.state.nodes.get(spec?.nodeName ?? '')
  }

  private facts(node: KubeletNode) {
    const podIPs = (ip: string) => podAddresses(node.node, ip)
    return { hostIPs: node.hostIPs, podIPs, isMissing: this.isMissing }
  }
}

const namespaceOf = (key: string): string => key.slice(0, key.indexOf('/'))

const keyOf = ({ metadata }: Pod): string => `${metadata.namespace}/${metadata.name}`

/** Ignores the conflict with another writer, because the other write brings this controller new work. */
const unlessOvertaken =
  (pods: ResourceClient<KubeObject & Pod>, pod: Pod) =>
  async (error: unknown): Promise<void> => {
    if (!(await isOvertaken(pods, pod, error))) throw error
  }
