/** The decisions of one run of the scheduler, and what is written for each of them. */
import type { PersistentVolumeClaim, Pod } from '../../api/core/v1.ts'
import type { PodDisruptionBudget } from '../../api/policy/v1.ts'
import type { Steps } from '../../base/slices.ts'
import { inTurns } from '../../base/slices.ts'
import type { SchedulerSetting } from '../../configuration/scheduler/configuration.ts'
import { logError } from '../../log/log.ts'
import type { Clientset } from '../client/clientset.ts'
import { typedResource } from '../client/clientset.ts'
import type { ControllerContext } from '../controller.ts'
import { isControllerOurs } from '../leader/leadership.ts'
import { isFault, isRefusal } from '../work/refusal.ts'
import type { ClusterState, Waiting } from './cluster-state.ts'
import type { Kept } from './kept.ts'
import { keptBudgets } from './disruption-budgets.ts'
import { BINDING_TIMEOUT_MS, hasBindingConditions } from './devices/binding.ts'
import type { ClaimWrite } from './devices/claim-plan.ts'
import { ClaimPlan } from './devices/claim-plan.ts'
import { AllocationFailed } from './devices/selectors.ts'
import { CycleWork } from './cycle-work.ts'
import { ClaimWrites, LedByAnother, NotReserved } from './devices/claim-writes.ts'
import type { Cluster, Cycle, Profile } from './framework.ts'
import { CycleFailed } from './framework.ts'
import type { Bound, Written } from './pod-writes.ts'
import { PodWrites } from './pod-writes.ts'
import { dynamicResources } from './plugins/dynamic-resources.ts'
import type { Provision } from './plugins/volumes.ts'
import { FreeVolumes } from './free-volumes.ts'
import { wantedFor } from './plugins/volume-limits.ts'
import { csiVolumeOf } from './csi-volume.ts'
import { provisionsOn, unboundOf } from './plugins/volumes.ts'
import type { NodeState } from './node-state.ts'
import type { SeenNodes } from './seen-nodes.ts'
import { annotation, SELECTED_NODE } from '../volumes/matching.ts'
import { afterFilters } from './post-filter.ts'
import type { Profiles } from './profile.ts'
import type { Unfit } from './schedule.ts'
import { choose, failureMessage, Filters } from './schedule.ts'
import { WritesUnderWay } from './writes-under-way.ts'

const BUDGETS = typedResource<PodDisruptionBudget>('policy', 'poddisruptionbudgets')
/** Pods whose writes are under way. src/storage/shards/writes-together.ts commits writes together that arrive together. */
const UNDER_WAY = 32

/** The pod waits for its claims, or for a change of devices. */
const WITHOUT_DEVICES: ReadonlySet<string> = new Set([dynamicResources.name])
const waitingForDrivers = (until: number) =>
  ({ refusedBy: WITHOUT_DEVICES, retry: { at: until, tries: 0, isHelped: true } }) as const
/** The claims of the pod have no volumes yet. */
const UNPROVISIONED: ReadonlySet<string> = new Set(['VolumeBinding'])

const refTo = ({ metadata: { namespace, name, uid } }: PersistentVolumeClaim) => ({ namespace, name, uid })

/**
 * The pod changed while it was being bound, or a plug-in failed: then any event is a reason to try it again. A refused
 * binding waits for its time, and so does a failure, if nothing happens before.
 */
const UNBOUND: ReadonlySet<string> = new Set(['DefaultBinder'])

/**
 * After this many tries (some three minutes by default) a refusal is likely to last. Then tries are rare, so that the
 * control plane can sleep in between.
 */
const HASTY_RETRIES = 20
const PATIENT_RETRY_MS = 300_000

/** The pods of one run. It decides one pod after the other, and several writes run at once. */
export class Run {
  bound = 0
  /** Bound: the writes of UNDER_WAY decisions. */
  private readonly writes: WritesUnderWay
  private readonly podWrites: PodWrites
  private readonly claimWrites: ClaimWrites
  /** The pods that are being bound. Bound: as `writes`. */
  private readonly binding = new Map<string, { readonly uid: string; readonly node: string }>()
  /** Whether all writes end in this run, because a later one could not see what they take: devices and volumes. */
  private waitsForAll = false
  private isOver = false
  private budgets: readonly PodDisruptionBudget[] | undefined

  constructor(
    private readonly kept: Kept,
    private readonly clients: Clientset,
    private readonly context: ControllerContext,
    private readonly cluster: Cluster,
    private readonly nodes: SeenNodes,
    private readonly rules: {
      readonly profiles: Profiles
      readonly backoffSeconds: SchedulerSetting['backoffSeconds']
    },
  ) {
    this.writes = new WritesUnderWay(UNDER_WAY, context.overdue)
    this.podWrites = new PodWrites(clients, context)
    const leads = (): boolean => isControllerOurs('kube-scheduler', context)
    this.claimWrites = new ClaimWrites(clients, cluster.devices, () => context.now(), leads)
  }

  private get state(): ClusterState {
    return this.kept.state
  }

  async schedule(key: string, waiting: Waiting): Promise<void> {
    const { pod } = waiting
    const { devices } = this.cluster
    // another pod of this run is getting devices for a claim that both pods use
    if (devices.isUnderWay(pod)) await this.written()
    const profile = this.rules.profiles.get(pod.spec?.schedulerName ?? '')
    if (profile === undefined) return // a pod waits only if it has a profile
    const now = this.context.now().getTime()
    const claims = profile.allocatesDevices ? ClaimPlan.of(waiting, devices, now) : undefined
    if (claims === 'waits') return void (waiting.refusedBy = WITHOUT_DEVICES)
    if (claims !== undefined && 'until' in claims) return void Object.assign(waiting, waitingForDrivers(claims.until)) // own key: made here
    try {
      await this.decide(key, waiting, profile, claims)
    } catch (error) {
      const isOfDevices = error instanceof AllocationFailed
      if (!isOfDevices && !(error instanceof CycleFailed) && !isFault(error)) throw error
      if (isFault(error)) logError('the scheduler failed at a pod', { pod: key, error })
      waiting.refusedBy = isOfDevices ? WITHOUT_DEVICES : UNBOUND
      if (!isOfDevices) waiting.retry = { ...this.retry(waiting), isHelped: true }
      const { message } = error
      const why = isOfDevices ? `running ${JSON.stringify(dynamicResources.name)} filter plugin: ${message}` : message
      this.refuse(key, waiting, why, '', 'SchedulerError')
    }
    // a search for devices may have taken long
    if (claims !== undefined) await this.context.budget.turn()
  }

  /** A decision goes in steps. What becomes of bindings meanwhile changes nothing that it looks at. */
  private async decide(key: string, waiting: Waiting, profile: Profile, claims: ClaimPlan | undefined): Promise<void> {
    let end = (): void => {}
    this.kept.decision = new Promise((resolve) => (end = resolve))
    try {
      await this.decideInSteps(key, waiting, profile, claims)
    } finally {
      this.kept.decision = undefined
      end()
    }
  }

  private async decideInSteps(
    key: string,
    waiting: Waiting,
    profile: Profile,
    claims: ClaimPlan | undefined,
  ): Promise<void> {
    const { pod, info } = waiting
    const cycle = { ...this.cluster, pod, info, claims, work: new CycleWork() }
    const filters = await this.inSteps(Filters.begin(profile, cycle))
    const choice = await this.inSteps(choose(filters, this.state.search))
    if (!('node' in choice)) return this.makeRoom(key, waiting, filters, choice)
    const provisions = profile.bindsVolumes ? await this.provisionsFor(cycle, choice.node) : []
    if (provisions.length > 0) return this.provision(key, waiting, provisions, choice.node)
    const reservations = claims?.take(choice.node) ?? []
    this.waitsForAll ||= reservations.length > 0
    this.state.assign(key, info, choice.node.name)
    this.bound++
    this.nodes.tell(choice.node)
    this.writes.add(this.bind(key, waiting, choice.node.name, reservations))
  }

  private async provisionsFor(cycle: Cycle, node: NodeState): Promise<readonly Provision[]> {
    const unbound = unboundOf(cycle)
    if (unbound.length === 0) return []
    const free = await this.inSteps(FreeVolumes.of(unbound, cycle.volumes.all, cycle.work))
    const provisions = provisionsOn(cycle, free, node)
    return typeof provisions === 'string' ? [] : provisions
  }

  private inSteps<T>(work: Steps<T>): Promise<T> {
    return inTurns(work, () => this.context.budget.turn())
  }

  /** Resolves between two decisions. */
  private async betweenDecisions(): Promise<void> {
    while (this.kept.decision !== undefined) await this.kept.decision
  }

  private async bind(key: string, waiting: Waiting, node: string, reservations: readonly ClaimWrite[]): Promise<void> {
    const { uid } = waiting.info
    this.binding.set(key, { uid, node })
    let outcome: Bound | 'waits' | undefined
    try {
      outcome = await this.bindReserved(waiting.pod, node, reservations)
    } finally {
      this.binding.delete(key)
      if (this.isOver) await this.boundLate(key, waiting, outcome)
    }
    if (this.isOver) return
    if (outcome === 'bound') return
    await this.betweenDecisions()
    if (outcome === 'waits') {
      const until = this.context.now().getTime() + BINDING_TIMEOUT_MS
      this.state.unassign(key, { ...waiting, ...waitingForDrivers(until) })
      this.state.nominate(key, { ...waiting, ...waitingForDrivers(until) }, node)
      return this.podWrites.awaitDevices(waiting.pod, node)
    }
    const retry = outcome === 'refused' ? this.retry(waiting) : undefined
    this.state.release(key, { ...waiting, refusedBy: UNBOUND, retry })
    if (reservations.length === 0) return
    // the devices are free again, and other pods were refused because of them
    this.state.tell('DeviceChanged')
    await this.claimWrites.unreserve(reservations, waiting.pod)
  }

  /** A binding is over whose run had ended. @param outcome undefined: it failed */
  private async boundLate(key: string, waiting: Waiting, outcome: Bound | 'waits' | undefined): Promise<void> {
    await this.betweenDecisions()
    const binding = this.kept.late.take(key, waiting.info.uid)
    if (binding === undefined || outcome === 'bound') return
    if (binding.hasChanged === true) this.kept.isDoubtful = true
    const retry = outcome === 'refused' ? this.retry(waiting) : undefined
    this.state.release(key, { ...waiting, refusedBy: UNBOUND, retry })
  }

  private async bindReserved(pod: Pod, node: string, reservations: readonly ClaimWrite[]): Promise<Bound | 'waits'> {
    // a device is free until its claim is written, so a scheduler that took the Lease meanwhile may allocate it
    if (reservations.length > 0 && !isControllerOurs('kube-scheduler', this.context)) return 'overtaken'
    let reserved = pod
    try {
      if (reservations.length > 0) reserved = await this.claimWrites.reserve(reservations, pod)
    } catch (error) {
      if (error instanceof LedByAnother) return 'overtaken'
      if (!(error instanceof NotReserved)) throw error
      const message = `running PreBind plugin ${JSON.stringify(dynamicResources.name)}: ${error.message}`
      await this.podWrites.refuse(pod, message, '', 'SchedulerError')
      return 'refused'
    }
    // drivers begin to prepare devices when a claim is allocated
    const isAwaited = reservations.some(({ allocation }) => hasBindingConditions(allocation?.devices?.results))
    return isAwaited ? 'waits' : this.podWrites.bind(reserved, node)
  }

  private retry({ retry }: Waiting) {
    const tries = retry?.tries ?? 0
    const { first, last } = this.rules.backoffSeconds
    const pause = tries < HASTY_RETRIES ? Math.min(first * 2 ** tries, last) * 1000 : PATIENT_RETRY_MS
    return { at: this.context.now().getTime() + pause, tries: tries + 1 }
  }

  /** @returns when there is room for the writes of more decisions; false: the run is to end */
  hasRoom(): Promise<boolean> {
    return this.writes.hasRoom()
  }

  /** Ends the run. Where other work waits for it, writes that take long go on without it. */
  async end(): Promise<void> {
    const { writes, kept, context } = this
    if (this.waitsForAll || kept.late.areMany) return writes.done()
    await writes.doneOrOverdue()
    const { size } = writes
    if (size === 0) return
    this.isOver = true
    kept.late.begin(size, this.binding)
    const end = async (): Promise<void> => {
      try {
        await writes.done()
      } catch (error) {
        logError('a write of the scheduler failed after its run', { error })
        kept.isDoubtful = true
      }
      kept.late.end(size)
      context.later('scheduler', '', 0)
    }
    context.waitUntil(end())
  }

  /**
   * Waits until all decisions are written. After a failure no write is under way then, and the next run reads the
   * stored state.
   */
  written(): Promise<void> {
    return this.writes.done()
  }

  private async makeRoom(key: string, waiting: Waiting, filters: Filters, unfit: Unfit): Promise<void> {
    const { pod, info } = waiting
    waiting.refusedBy = unfit.plugins
    if (this.cluster.nodes.length === 0) return this.refuse(key, waiting, failureMessage(unfit, ''), info.nominatedNode)
    const outcome = await afterFilters(filters, unfit, pod, {
      budgets: () => this.readBudgets(),
      inSteps: (work) => this.inSteps(work),
      release: (claim) => this.orAgain(key, pod, this.claimWrites.release(claim, pod)),
      delete: (claim) => this.orAgain(key, pod, this.claimWrites.delete(claim)),
    })
    if ('message' in outcome) {
      const { message, keepsPlace } = outcome
      return this.refuse(key, waiting, failureMessage(unfit, message), keepsPlace ? info.nominatedNode : '')
    }
    const { node, victims } = outcome
    const others = [...node.nominated.values()].filter(
      ({ uid, priority }) => uid !== info.uid && priority < info.priority,
    )
    this.refuse(key, waiting, failureMessage(unfit, ''), node.name)
    for (const other of others) this.writes.add(this.podWrites.forgetPlace(other))
    for (const victim of victims) this.orAgain(key, pod, this.podWrites.evict(victim, pod, node))
  }

  /** The pod waits. @param nominated the node that is kept for it meanwhile; '' for none */
  private refuse(key: string, waiting: Waiting, message: string, nominated: string, reason?: string): void {
    if (nominated !== '' || waiting.info.nominatedNode !== '') this.state.nominate(key, waiting, nominated)
    this.orAgain(key, waiting.pod, this.podWrites.refuse(waiting.pod, message, nominated, reason))
  }

  /** A refused write brings no event, so the scheduler tries the pod that needs it again after a while. */
  private orAgain(key: string, pod: Pod, write: Promise<Written>): void {
    this.writes.add(this.againIfRefused(key, pod, write))
  }

  private async againIfRefused(key: string, { metadata: { uid } }: Pod, write: Promise<Written>): Promise<void> {
    if ((await write) === 'done') return
    const waiting = this.state.waiting.get(key)
    if (waiting === undefined || waiting.pod.metadata.uid !== uid || waiting.retry?.at !== undefined) return
    waiting.retry = { ...this.retry(waiting), isHelped: true }
  }

  private async readBudgets(): Promise<readonly PodDisruptionBudget[]> {
    return (this.budgets ??= await keptBudgets(this.clients.resource(BUDGETS).each()))
  }

  /**
   * Gets volumes for the pod's claims, and keeps the node for the pod meanwhile. A later run binds the pod when the claims
   * have their volumes.
   */
  private provision(key: string, waiting: Waiting, provisions: readonly Provision[], { name }: NodeState): void {
    const { volumes } = this.cluster
    this.waitsForAll = true
    const unmade = provisions.flatMap(({ claim, volume }) => {
      const made = volume === undefined ? wantedFor(claim, volumes) : csiVolumeOf(volume)
      return made === undefined ? [] : [[claim.metadata.name ?? '', made] as const]
    })
    this.state.nominate(key, { ...waiting, refusedBy: UNPROVISIONED, unmade: new Map(unmade) }, name)
    const writes: Promise<void>[] = []
    for (const { claim, volume } of provisions) {
      if (volume !== undefined) {
        volumes.keep({ ...volume, spec: { ...volume.spec, claimRef: refTo(claim) } })
        writes.push(this.podWrites.keepVolume(volume, claim))
      } else if (annotation(claim, SELECTED_NODE) !== name) {
        volumes.select(claim, name)
        writes.push(this.podWrites.selectNode(claim, name))
      }
    }
    this.writes.add(this.provided(key, waiting, writes, name))
  }

  /** Tells that the node is kept, or what a claim or a volume was refused. */
  private async provided(key: string, waiting: Waiting, writes: readonly Promise<void>[], node: string): Promise<void> {
    const { pod } = waiting
    const failed = (await Promise.allSettled(writes)).find((one) => one.status === 'rejected')
    if (failed !== undefined) {
      const error: unknown = failed.reason
      if (!isRefusal(error)) throw error
      await this.betweenDecisions()
      const retry = { ...this.retry(waiting), isHelped: true } as const
      this.state.nominate(key, { ...waiting, refusedBy: UNPROVISIONED, retry, unmade: undefined }, '')
      await this.podWrites.refuse(pod, `running PreBind plugin "VolumeBinding": ${error.message}`, '', 'SchedulerError')
      return
    }
    if (waiting.pod.status?.nominatedNodeName !== node) await this.podWrites.nominate(pod, node)
  }
}
