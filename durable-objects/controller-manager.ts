/**
 * What kube-controller-manager does for the API itself, one for each tenant. Work arrives from the shards' outboxes,
 * at least once, as (controller, key); reconciling is level-based and idempotent, so each pair is kept once. It is on
 * disk before it is acknowledged, and what fails is tried again later: nothing here polls.
 */
import { DurableObject } from 'cloudflare:workers'
import type { GroupResource } from '../src/api/group-version.ts'
import { ownValue } from '../src/api/own.ts'
import { controllers } from '../src/controllers/controllers.ts'
import type { ControllerContext } from '../src/controllers/controller.ts'
import { Turns } from '../src/controllers/turns.ts'
import type { Env } from '../src/env.ts'
import { servedResources } from '../src/registry/served.ts'
import type { OutboxRow } from '../src/storage/shard-protocol.ts'
import type { Tenant } from '../src/tenancy/tenant.ts'
import { AlarmClock } from './alarm-clock.ts'

const PARALLEL = 8
const FIRST_RETRY_MS = 100
const LONGEST_RETRY_MS = 60_000
/** After which work is taken up again that an instance left behind. */
const RESUME_MS = 5_000

interface Work extends Record<string, SqlStorageValue> {
  controller: string
  key: string
  attempts: number
  generation: number
}

export class ControllerManager extends DurableObject<Env> {
  private readonly sql: SqlStorage
  private readonly alarms: AlarmClock
  private readonly tenantUid: string | undefined
  private running: Promise<void> | undefined
  private readonly turns = new Turns()

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.sql = ctx.storage.sql
    this.alarms = new AlarmClock(ctx.storage)
    void ctx.blockConcurrencyWhile(() => this.alarms.load())
    // `generation` tells work that arrived again while it was being done from work that is done
    this.sql.exec(
      `CREATE TABLE IF NOT EXISTS work (controller TEXT, key TEXT, attempts INTEGER NOT NULL, due INTEGER NOT NULL,
       generation INTEGER NOT NULL, PRIMARY KEY (controller, key)) WITHOUT ROWID;
       CREATE TABLE IF NOT EXISTS dependents (kind TEXT, "group" TEXT, resource TEXT,
       PRIMARY KEY (kind, "group", resource)) WITHOUT ROWID;
       CREATE TABLE IF NOT EXISTS tenant (uid TEXT NOT NULL)`,
    )
    this.tenantUid = this.ownTenant()
  }

  /** A call says it; an alarm need not. */
  private ownTenant(): string | undefined {
    const kept = this.sql.exec<{ uid: string }>('SELECT uid FROM tenant').toArray()[0]?.uid
    const { name } = this.ctx.id
    if (kept === undefined && name !== undefined) this.sql.exec('INSERT INTO tenant VALUES (?)', name)
    return name ?? kept
  }

  /** @param shard `TENANT/SHARD`, the name of the sender */
  async receive(_shard: string, rows: readonly OutboxRow[]): Promise<void> {
    for (const { topic, payload } of rows) this.add(topic, payload, 0)
    // In the same commit: should the instance end before it is done with them, nobody else comes back to them.
    this.alarms.wakeAt(Date.now() + RESUME_MS)
    this.ctx.waitUntil(this.run())
  }

  /** Objects of `resource` name owners of these kinds: from now on dependents are looked for there. */
  async announceOwners({ group, resource }: GroupResource, kinds: readonly string[]): Promise<void> {
    for (const kind of kinds)
      this.sql.exec('INSERT INTO dependents VALUES (?, ?, ?) ON CONFLICT DO NOTHING', kind, group, resource)
  }

  private dependentsOf(kind: string): GroupResource[] {
    return this.sql
      .exec<{ group: string; resource: string }>('SELECT "group", resource FROM dependents WHERE kind = ?', kind)
      .toArray()
  }

  override async alarm(): Promise<void> {
    this.alarms.rang()
    await this.run()
  }

  private add(controller: string, key: string, delay: number): void {
    this.sql.exec(
      `INSERT INTO work VALUES (?, ?, 0, ?, 1) ON CONFLICT DO UPDATE
       SET due = min(due, excluded.due), attempts = 0, generation = generation + 1`,
      controller,
      key,
      Date.now() + delay,
    )
  }

  /** One run at a time; whoever asks meanwhile waits for the same. */
  private run(): Promise<void> {
    this.running ??= this.drain()
      .catch((error: unknown) => {
        console.error('controllers could not be run:', error)
        this.alarms.wakeAt(Date.now() + RESUME_MS)
      })
      .finally(() => {
        this.running = undefined
      })
    return this.running
  }

  private async drain(): Promise<void> {
    const plane = { env: this.env, tenant: this.tenant() }
    const context: Omit<ControllerContext, 'served'> = {
      ...plane,
      now: () => new Date(),
      dependentsOf: (kind) => this.dependentsOf(kind),
      alone: (name, work) => this.turns.run(name, work),
      later: (controller, key, delay) => this.add(controller, key, delay),
    }
    for (let due = this.due(); due.length > 0; due = this.due()) {
      const served = await servedResources(plane)
      await Promise.all(due.map((work) => this.reconcile(work, { ...context, served })))
    }
    const next = this.sql.exec<{ due: number | null }>('SELECT min(due) AS due FROM work').one().due
    if (next !== null) this.alarms.wakeAt(next)
  }

  /** Without a tenant it works for nobody: its work stays, and is tried again. */
  private tenant(): Tenant {
    if (this.tenantUid === undefined) throw new Error('assertion failed: a controller manager does not know its tenant')
    return { uid: this.tenantUid }
  }

  private due(): Work[] {
    return this.sql
      .exec<Work>(
        'SELECT controller, key, attempts, generation FROM work WHERE due <= ? ORDER BY due LIMIT ?',
        Date.now(),
        PARALLEL,
      )
      .toArray()
  }

  private async reconcile({ controller, key, attempts, generation }: Work, context: ControllerContext): Promise<void> {
    let retry: number | undefined
    try {
      retry = await ownValue(controllers, controller)?.reconcile(key, context)
    } catch (error) {
      console.error(`controller ${controller} failed for ${key}:`, error)
      retry = Math.min(FIRST_RETRY_MS * 2 ** Math.min(attempts, 20), LONGEST_RETRY_MS)
    }
    if (retry === undefined)
      this.sql.exec('DELETE FROM work WHERE controller = ? AND key = ? AND generation = ?', controller, key, generation)
    else
      this.sql.exec(
        'UPDATE work SET due = ?, attempts = attempts + 1 WHERE controller = ? AND key = ? AND generation = ?',
        Date.now() + retry,
        controller,
        key,
        generation,
      )
  }
}
