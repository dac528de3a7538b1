/**
 * Runs kube-controller-manager's controllers, one object for each tenant. Work arrives from the shards' outboxes, at
 * least once, as (controller, key). Reconciling is level-based and idempotent, so each pair is kept once. Work is on
 * disk before it is acknowledged, and failed work is tried again later: nothing here polls.
 */
import type { ControllerCalls, WorkCount } from '../src/storage/shards/object-calls.ts'
import { platformClock } from '../src/base/clock.ts'
import { logError } from '../src/log/log.ts'
import { DurableObject } from 'cloudflare:workers'
import type { GroupResource } from '../src/api/group-version.ts'
import { controllerOf, namedQueues, userOf } from '../src/controllers/controllers.ts'
import type { Controller, ControllerContext } from '../src/controllers/controller.ts'
import { HopelessWork } from '../src/registry/work/hopeless-work.ts'
import { ListRoom } from '../src/controllers/work/list-room.ts'
import { Turns } from '../src/controllers/work/turns.ts'
import { LookPace } from '../src/controllers/work/look-pace.ts'
import { onceEach } from '../src/controllers/work/once-each.ts'
import { isTold } from '../src/controllers/work/unless-gone.ts'
import { inTurns } from '../src/controllers/work/in-turns.ts'
import type { Env } from '../src/env.ts'
import { freshServedResources, servedResources } from '../src/registry/served/served.ts'
import type { ControlPlane } from '../src/tenancy/control-snapshot.ts'
import { storageOfObject } from '../src/storage/environment-storage.ts'
import { StorageError } from '../src/storage/errors.ts'
import type { OutboxRow } from '../src/storage/shards/shard-protocol.ts'
import type { ShardStorage } from '../src/storage/shards/shard-client.ts'
import { CallDepth } from '../src/storage/shards/call-depth.ts'
import { Subrequests } from '../src/storage/shards/subrequests.ts'
import { TurnBudget } from '../src/storage/shards/turn-budget.ts'
import type { Tenant } from '../src/storage/tenant.ts'
import { AlarmClock } from './alarm-clock.ts'
import { databaseProblem } from './check-database.ts'
import { ControllerQueues } from './controller-queues.ts'
import { AbsentOwnerTable } from './absent-owners.ts'
import { DependentTable } from './dependent-table.ts'
import { WatchedKindTable } from './watched-kinds.ts'
import { beginRun } from './invocation.ts'
import { problemOf, settingsOf } from '../src/settings.ts'
import { SightingTable } from './sightings.ts'
import { WorkloadMode } from './workload-mode.ts'
import { RunMark } from './run-mark.ts'
import type { Work } from './work-table.ts'
import { retryAfter, UNKNOWN_CONTROLLER, WorkTable } from './work-table.ts'

/** Milliseconds after which an alarm takes up work that an ended instance left. */
const RESUME_MS = 5_000
/** Milliseconds after which the object checks whether a restore is over. The restored objects bring their own work. */
const RESTORING_MS = 600_000

/** What the work of one batch has of its own. */
type OfWork = 'served' | 'user' | 'once' | 'together' | 'overdue' | 'room'

export class ControllerManager extends DurableObject<Env> implements ControllerCalls {
  private readonly now = platformClock
  private readonly sql: SqlStorage
  private readonly alarms: AlarmClock
  private readonly tenantUid: string | undefined
  private readonly work: WorkTable
  private readonly absentOwners: AbsentOwnerTable
  private readonly dependents: DependentTable
  private readonly watchedKinds: WatchedKindTable
  private readonly sightings: SightingTable
  private storage: ShardStorage | undefined
  private running: Promise<void> | undefined
  private readonly turns = new Turns()
  private readonly budget = new TurnBudget(this.now)
  private readonly subrequests: Subrequests
  private readonly depth: CallDepth
  private readonly pace = new LookPace(this.now)
  private lists: ListRoom | undefined
  private readonly mark: RunMark
  private readonly queues: ControllerQueues

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.sql = ctx.storage.sql
    const subrequests = problemOf(env) === undefined ? settingsOf(env).subrequests : 0
    this.subrequests = new Subrequests(subrequests)
    this.depth = new CallDepth(subrequests !== Infinity)
    this.alarms = new AlarmClock(ctx.storage)
    void ctx.blockConcurrencyWhile(async () => {
      await this.alarms.load()
      this.beginSwitchedOn()
    })
    this.work = new WorkTable(this.sql, this.now, namedQueues(subrequests))
    this.work.resume((controller) => controllerOf(controller) !== undefined)
    this.mark = new RunMark(this.sql, this.now)
    this.queues = new ControllerQueues(this.work, this.now, {
      reconcile: (works, overdue) => this.reconcileTogether(works, overdue),
      tryAlone: (work) => this.tryAlone(work),
      leftUntil: this.mark.foundAt,
    })
    this.absentOwners = new AbsentOwnerTable(this.sql)
    this.dependents = new DependentTable(this.sql)
    this.watchedKinds = new WatchedKindTable(this.sql)
    this.sightings = new SightingTable(this.sql)
    this.sql.exec('CREATE TABLE IF NOT EXISTS tenant (uid TEXT NOT NULL)')
    this.tenantUid = this.ownTenant()
  }

  /** With invalid settings no controller runs. */
  private beginSwitchedOn(): void {
    if (problemOf(this.env) !== undefined) return
    const starts = new WorkloadMode(this.sql).changedTo(settingsOf(this.env))
    if (starts.collector) this.work.add('collection-begin', '', 0)
    if (starts.workloads) this.work.add('workloads-begin', '', 0)
    if (starts.collector || starts.workloads) this.alarms.wakeAt(this.now())
  }

  /** A call carries the object's name. An alarm may not. */
  private ownTenant(): string | undefined {
    const kept = this.sql.exec<{ uid: string }>('SELECT uid FROM tenant').toArray()[0]?.uid
    const { name } = this.ctx.id
    if (kept === undefined && name !== undefined) this.sql.exec('INSERT INTO tenant VALUES (?)', name)
    return name ?? kept
  }

  /**
   * @param _shard `TENANT/SHARD`, the name of the sender
   * @param depth absent: a shard of an earlier release
   */
  async receive(_shard: string, rows: readonly OutboxRow[], depth?: number): Promise<void> {
    this.depth.called(depth)
    try {
      for (const { topic, payload } of rows) this.work.add(topic, payload, this.pace.delay(topic, payload))
    } catch (error) {
      this.work.mistrust()
      throw error
    }
    // set in the same commit as the work: if the instance ends before the work is done, the alarm takes it up
    this.alarms.wakeAt(this.now() + RESUME_MS)
    this.queues.arrived()
    this.ctx.waitUntil(this.run())
  }

  /** @returns the error of the database; undefined where it is readable */
  check(): string | undefined {
    this.depth.called()
    return databaseProblem(this.sql)
  }

  /** Objects of `resource` name owners of these kinds, so the collector looks for dependents there from now on. */
  async announceOwners(resource: GroupResource, kinds: readonly string[]): Promise<void> {
    this.depth.called()
    this.dependents.add(resource, kinds)
  }

  /** Objects of this definition are watched from now on, so a change of the definition must end those watches. */
  async announceWatch(definition: string, uid: string): Promise<void> {
    this.depth.called()
    this.watchedKinds.add(definition, uid)
  }

  override async alarm(): Promise<void> {
    this.alarms.rang()
    this.depth.rang()
    await this.run()
  }

  /** One run at a time. Calls that come during a run wait for it. */
  private run(): Promise<void> {
    this.running ??= this.drain()
      .catch((error: unknown) => {
        this.work.mistrust()
        const isRestoring = error instanceof StorageError && error.code === 'Restoring'
        if (!isRestoring) logError('controllers could not be run', { error })
        this.alarms.wakeAt(this.now() + (isRestoring ? RESTORING_MS : RESUME_MS))
      })
      .finally(() => {
        this.running = undefined
      })
    return this.running
  }

  private async drain(): Promise<void> {
    // no work is under way, so none holds lists
    this.lists = undefined
    const isLate = beginRun(this.now)
    this.subrequests.begin()
    this.mark.set()
    try {
      await this.queues.run(() => isLate() || this.subrequests.isLow)
    } catch (error) {
      if (!this.subrequests.isSpent) throw error
      this.work.mistrust()
    } finally {
      this.mark.remove()
    }
    this.alarms.wakeAt(this.work.nextDue())
  }

  /** Does work of one queue. The works share what they read at their beginning. */
  private async reconcileTogether(
    works: readonly Work[],
    overdue: Promise<void> = new Promise(() => {}),
  ): Promise<void> {
    const { env, subrequests } = this
    const plane = { env, tenant: this.tenant(), storage: this.ownStorage(), subrequests, isObject: true }
    const context = this.contextOf(plane)
    const served = await servedResources(plane)
    const once = onceEach()
    const worksOf = Map.groupBy(works, ({ controller }) => controller)
    await inTurns(
      works,
      (work) => {
        const { controller } = work
        const together = worksOf.get(controller)!.map(({ key }) => key)
        const room = this.listRoom().begin()
        return this.reconcile(work, {
          ...context,
          served,
          once,
          together,
          overdue,
          room,
          user: userOf(controller),
        }).finally(room.leave)
      },
      this.budget,
    )
  }

  /** Counts the attempt before it begins, because the work may end the instance. */
  private async tryAlone(work: Work): Promise<void> {
    const retry = retryAfter(work.attempts, controllerOf(work.controller))
    if (retry === undefined) return this.park(work, 'the object ended each time in the middle of it')
    this.work.again(work, retry, true)
    this.alarms.wakeAt(this.now() + RESUME_MS)
    await this.ctx.storage.sync()
    await this.reconcileTogether([work])
  }

  private ownStorage(): ShardStorage {
    return (this.storage ??= storageOfObject(this.env, {
      turns: this.budget,
      subrequests: this.subrequests,
      depth: this.depth,
    }))
  }

  private contextOf(plane: ControlPlane): Omit<ControllerContext, OfWork> {
    return {
      ...plane,
      freshServed: () => freshServedResources(plane),
      now: () => new Date(this.now()),
      waitUntil: (work) => this.ctx.waitUntil(work),
      budget: this.budget,
      dependentsOf: (kind) => this.dependents.of(kind),
      addDependents: (resource, kinds) => this.dependents.add(resource, kinds),
      forgetDependents: (resource) => this.dependents.forget(resource),
      alone: (name, work) => this.turns.run(name, work),
      absentOwners: this.absentOwners,
      watchedKinds: this.watchedKinds,
      sightings: this.sightings,
      later: (controller, key, delay) => this.later(controller, key, delay),
    }
  }

  private listRoom(): ListRoom {
    return (this.lists ??= new ListRoom(settingsOf(this.env).controllerMemory))
  }

  private later(controller: string, key: string, delay: number): void {
    this.work.add(controller, key, delay)
    this.queues.arrived()
    // what a run left under way may add work after its end
    if (this.running === undefined) this.ctx.waitUntil(this.run())
  }

  /** Without its tenant's name the object cannot work. The work stays on disk, and is tried again. */
  private tenant(): Tenant {
    if (this.tenantUid === undefined) throw new Error('assertion failed: a controller manager does not know its tenant')
    return { uid: this.tenantUid }
  }

  private async reconcile(work: Work, context: ControllerContext): Promise<void> {
    const { controller, key, attempts } = work
    const found = controllerOf(controller)
    if (found === undefined) return this.park(work, UNKNOWN_CONTROLLER)
    const began = this.now()
    try {
      const lookAgain = await found.reconcile(key, context)
      // the controller may have taken a refused call for a failure of that step alone
      if (this.subrequests.isSpent) return this.goOnLater(work, found)
      this.pace.looked(controller, key)
      if (lookAgain === undefined) this.work.done(work)
      else this.work.again(work, lookAgain, false)
    } catch (error) {
      if (this.subrequests.isSpent) return this.goOnLater(work, found)
      this.work.mistrust()
      const retry = error instanceof HopelessWork ? undefined : retryAfter(attempts, found)
      if (retry === undefined) return this.park(work, String(error))
      if (isTold(error, attempts)) logError('a controller failed', { controller, key, error })
      this.work.again(work, retry, true)
    } finally {
      this.queues.took(work, this.now() - began)
    }
  }

  /**
   * The next invocation goes on with the work. Where this one wrote nothing, the next one would come as far, and again
   * for ever: that is a failure.
   */
  private goOnLater(work: Work, found: Controller): void {
    if (this.subrequests.hasWritten) return this.work.again(work, 0, false)
    const { controller, key, attempts } = work
    const error = 'it needs more subrequests than an invocation has (KEDGE_SUBREQUESTS)'
    const retry = retryAfter(attempts, found)
    if (retry === undefined) return this.park(work, error)
    logError('a controller failed', { controller, key, error })
    this.work.again(work, retry, true)
  }

  private park(work: Work, why: string): void {
    logError('a controller gives up', {
      controller: work.controller,
      key: work.key,
      attempts: work.attempts + 1,
      error: why,
    })
    this.work.park(work, why)
  }

  /** Called when the control plane has been restored: the new state brings its own work. */
  async forget(): Promise<void> {
    this.depth.called()
    this.work.clear()
    this.absentOwners.clear()
    this.sightings.clear()
  }

  /** Waiting and parked work, by controller. */
  async counts(): Promise<WorkCount[]> {
    this.depth.called()
    return this.work.counts()
  }
}
