import { BoundedMap } from '../src/base/bounded-map.ts'
import type { WorkCount } from '../src/storage/shards/object-calls.ts'

/**
 * The work queue of the controllers: pairs of a controller and a key, each once, on disk. Failed work is due again after a
 * delay that grows. Work that failed too often, or that cannot succeed, is parked, unless its controller never gives up.
 * Parked work stays visible. It is tried once more when a write brings the same work again, or when the object starts a
 * day later. So a control plane whose work always fails can sleep.
 */
export interface Work extends Record<string, SqlStorageValue> {
  controller: string
  key: string
  attempts: number
  /** Milliseconds since 1970. */
  due: number
  /**
   * Grows when the same work arrives again, so that work which arrives while it is reconciled is not removed as done.
   */
  generation: number
}

const FIRST_RETRY_MS = 100
/** This many attempts are at most a minute apart, because the failure may be an outage. */
const PATIENT_RETRIES = 20
const LONGEST_PATIENT_RETRY_MS = 60_000
/**
 * Later attempts are up to 1,000 seconds apart, as in kube-controller-manager's queues. After this many the work is
 * parked.
 */
const MAX_RETRIES = 50
const LONGEST_RETRY_MS = 1_000_000
/** Milliseconds after which parked work is tried once more. */
const TRY_PARKED_MS = 24 * 3_600_000
/** Milliseconds by which a clock goes back that was set back. Smaller corrections change nothing. */
const SET_BACK_MS = 1_000
/** Waiting work that is remembered. Work beyond it is written again when it arrives again. */
const WAITING = { entries: 10_000, size: 1024 * 1024, sizeOf: (name: string): number => name.length }
/** The most parked work; beyond it the oldest goes. */
const MAX_PARKED = 1_000
/** Characters of the reason that is stored with it: all of it is read at once, and an error may quote an object. */
const MOST_OF_REASON = 1_000

/** What a controller says about its failed work. */
interface Patience {
  readonly neverGivesUp?: true
  readonly retry?: { readonly first: number; readonly longest: number }
}

/** Milliseconds until the next attempt; undefined where the work is to be parked. */
export function retryAfter(attempts: number, { neverGivesUp, retry }: Patience = {}): number | undefined {
  if (retry !== undefined) return Math.min(retry.first * 2 ** Math.min(attempts, 20), retry.longest)
  if (attempts >= MAX_RETRIES && neverGivesUp !== true) return undefined
  const longest = attempts < PATIENT_RETRIES ? LONGEST_PATIENT_RETRY_MS : LONGEST_RETRY_MS
  return Math.min(FIRST_RETRY_MS * 2 ** Math.min(attempts, 20), longest)
}

export class WorkTable {
  /** Whether any work is parked, which is rare. Only then is finished work looked up there. */
  private hasParked: boolean
  /**
   * Due times of work that has arrived and that no controller has taken since. When the same work arrives again it
   * costs no commit. Bound: WAITING.
   */
  private readonly waiting = new BoundedMap<string, number>(WAITING)
  /**
   * By queue, a time before which none of its work is due, but for work that was taken; without an entry it has none.
   * Finding it anew reads all work. Undefined: not known. Bound: queues.
   */
  private earliest: Map<string, number> | undefined

  /** What the clock showed last, in milliseconds since 1970. */
  private latest = -Infinity

  /** @param queues the queues of controllers that are not in the queue '' */
  constructor(
    private readonly sql: SqlStorage,
    private readonly now: () => number,
    private readonly queues: ReadonlyMap<string, string> = new Map(),
  ) {
    sql.exec(
      `CREATE TABLE IF NOT EXISTS work (controller TEXT, key TEXT, attempts INTEGER NOT NULL, due INTEGER NOT NULL,
       generation INTEGER NOT NULL, PRIMARY KEY (controller, key)) WITHOUT ROWID;
       CREATE TABLE IF NOT EXISTS parked (controller TEXT, key TEXT, at INTEGER NOT NULL, why TEXT NOT NULL,
       PRIMARY KEY (controller, key)) WITHOUT ROWID`,
    )
    this.hasParked = sql.exec('SELECT 1 FROM parked LIMIT 1').toArray().length > 0
  }

  /**
   * The clock's time. Where the clock was set back, work is due as long from now as it was before: otherwise it would wait
   * until the clock has reached the old time again.
   */
  private time(): number {
    const now = this.now()
    const back = this.latest - now
    this.latest = now
    if (back >= SET_BACK_MS) {
      this.sql.exec('UPDATE work SET due = due - ?', back)
      this.mistrust()
    }
    return now
  }

  add(controller: string, key: string, delay: number): void {
    const due = this.time() + delay
    const name = nameOf({ controller, key })
    if ((this.waiting.get(name) ?? Infinity) <= due) return
    this.sql.exec(
      `INSERT INTO work VALUES (?, ?, 0, ?, 1) ON CONFLICT DO UPDATE
       SET due = min(due, excluded.due), attempts = 0, generation = generation + 1`,
      controller,
      key,
      due,
    )
    this.waiting.set(name, due)
    this.comesAt(controller, due)
  }

  /** Queues that may have work that is due and was not taken. */
  queuesDue(): string[] {
    const now = this.time()
    return [...this.dueTimes()].flatMap(([queue, due]) => (due <= now ? [queue] : []))
  }

  /** Takes work of a queue that is due, until it is done or comes again. */
  due(queue: string, limit: number): Work[] {
    const now = this.time()
    const [where, controllers] = this.controllersOf(queue)
    const due = this.sql
      .exec<Work>(
        `SELECT controller, key, attempts, due, generation FROM work WHERE ${where} AND due <= ? ORDER BY due LIMIT ? + 0`,
        controllers,
        now,
        limit + 1,
      )
      .toArray()
    const next = due.length > limit ? now : this.dueAfter(queue, now)
    if (next === undefined) this.dueTimes().delete(queue)
    else this.dueTimes().set(queue, next)
    due.length = Math.min(due.length, limit)
    for (const work of due) this.waiting.delete(nameOf(work))
    return due
  }

  /** Work of a queue may be due that was taken. */
  lookAgain(queue: string): void {
    const now = this.time()
    if ((this.dueTimes().get(queue) ?? Infinity) > now) this.dueTimes().set(queue, now)
  }

  private dueAfter(queue: string, time: number): number | undefined {
    const [where, controllers] = this.controllersOf(queue)
    const { due } = this.sql
      .exec<{ due: number | null }>(`SELECT min(due) AS due FROM work WHERE ${where} AND due > ?`, controllers, time)
      .one()
    return due ?? undefined
  }

  private controllersOf(queue: string): readonly [where: string, parameter: string] {
    const named = [...this.queues].flatMap(([controller, of]) => (queue === '' || of === queue ? [controller] : []))
    const is = queue === '' ? 'NOT IN' : 'IN'
    return [`controller ${is} (SELECT value FROM json_each(?))`, JSON.stringify(named)]
  }

  private dueTimes(): Map<string, number> {
    if (this.earliest !== undefined) return this.earliest
    this.earliest = new Map()
    const all = this.sql
      .exec<{ controller: string; due: number }>('SELECT controller, min(due) AS due FROM work GROUP BY controller')
      .toArray()
    for (const { controller, due } of all) this.comesAt(controller, due)
    return this.earliest
  }

  private comesAt(controller: string, due: number): void {
    const queue = this.queues.get(controller) ?? ''
    if ((this.earliest?.get(queue) ?? Infinity) > due) this.earliest?.set(queue, due)
  }

  /**
   * A statement failed and may have undone others of its turn, or taken work was left. All work that arrives from now on
   * is written again, and taken work can be taken again.
   */
  mistrust(): void {
    this.waiting.clear()
    this.earliest = undefined
  }

  /**
   * A time before which no work is due that was not taken, in milliseconds since 1970.
   * @param others controllers whose work does not count
   */
  nextDue(others: ReadonlySet<string> = new Set()): number | undefined {
    let next: number | undefined
    for (const [controller, due] of this.dueTimes()) if (!others.has(controller) && due < (next ?? Infinity)) next = due
    return next
  }

  done({ controller, key, generation }: Work): void {
    this.sql.exec('DELETE FROM work WHERE controller = ? AND key = ? AND generation = ?', controller, key, generation)
    if (this.hasParked) this.sql.exec('DELETE FROM parked WHERE controller = ? AND key = ?', controller, key)
  }

  again({ controller, key, attempts, generation }: Work, delay: number, failed: boolean): void {
    const due = this.time() + delay
    this.sql.exec(
      'UPDATE work SET due = ?, attempts = ? WHERE controller = ? AND key = ? AND generation = ?',
      due,
      failed ? attempts + 1 : 0,
      controller,
      key,
      generation,
    )
    this.comesAt(controller, due)
  }

  /** Work that was taken and not begun comes again later, with as many attempts as before. */
  putOff({ controller, key }: Work, delay: number): void {
    const due = this.time() + delay
    this.sql.exec('UPDATE work SET due = ? WHERE controller = ? AND key = ?', due, controller, key)
    this.comesAt(controller, due)
  }

  /** @param why is stored with the work */
  park(work: Work, why: string): void {
    const { controller, key, generation } = work
    this.hasParked = true
    this.sql.exec('DELETE FROM work WHERE controller = ? AND key = ? AND generation = ?', controller, key, generation)
    this.sql.exec(
      'INSERT INTO parked VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET at = excluded.at, why = excluded.why',
      controller,
      key,
      this.now(),
      why.slice(0, MOST_OF_REASON),
    )
    this.sql.exec(
      `DELETE FROM parked WHERE (controller, key) IN
       (SELECT controller, key FROM parked ORDER BY at DESC LIMIT -1 OFFSET ${MAX_PARKED})`,
    )
  }

  /**
   * Runs when an instance starts. Work for a controller that the previous release did not have is due again if this
   * release has it. Work that was parked a day ago is tried once more, since the control plane is awake anyway.
   */
  resume(isKnown: (controller: string) => boolean): void {
    const parked = this.sql
      .exec<{ controller: string; key: string; why: string; at: number }>('SELECT controller, key, why, at FROM parked')
      .toArray()
    for (const { controller, key, why, at } of parked) {
      const isOld = at <= this.now() - TRY_PARKED_MS
      if (!isKnown(controller) || (why !== UNKNOWN_CONTROLLER && !isOld)) continue
      this.add(controller, key, 0)
      this.waiting.delete(nameOf({ controller, key }))
      if (why !== UNKNOWN_CONTROLLER)
        this.sql.exec('UPDATE work SET attempts = ? WHERE controller = ? AND key = ?', MAX_RETRIES, controller, key)
      this.sql.exec('DELETE FROM parked WHERE controller = ? AND key = ?', controller, key)
    }
  }

  clear(): void {
    this.mistrust()
    this.sql.exec('DELETE FROM work; DELETE FROM parked')
  }

  counts(): WorkCount[] {
    return this.sql
      .exec<WorkCount>(
        `SELECT controller, sum(queued) AS queued, sum(failing) AS failing, sum(parked) AS parked FROM (
         SELECT controller, 1 AS queued, attempts > 0 AS failing, 0 AS parked FROM work
         UNION ALL SELECT controller, 0, 0, 1 FROM parked)
         GROUP BY controller ORDER BY controller`,
      )
      .toArray()
  }
}

const nameOf = ({ controller, key }: Pick<Work, 'controller' | 'key'>): string => `${controller} ${key}`

export const UNKNOWN_CONTROLLER = 'no controller of this release has the name'
