/**
 * Finds databases of a control plane that cannot be read. The local server names the databases that are on its disk
 * when the engine starts. From its first readiness check on, each isolate checks those that were ever written to
 * once, and the bad ones again and again. Databases that fail later are found by the requests that use them.
 */
import { isRecent } from '../../base/clock.ts'
import { logError } from '../../log/log.ts'
import type { Env } from '../../env.ts'
import { collectionOf, CONTROL_SHARD } from '../../storage/collections.ts'
import { storedResources } from '../../registry/served/written-types.ts'
import type { ApiRequest } from '../../request/context.ts'
import { settingsOf } from '../../settings.ts'
import { storageOf } from '../../storage/environment-storage.ts'
import { forEachShard } from '../../storage/shards/for-each-shard.ts'
import { controlSnapshot } from '../../tenancy/control-snapshot.ts'

/** Milliseconds in which a database must answer, and after which a bad one is checked again. */
const PATIENCE = 2_000
const AGAIN = 10_000
/**
 * Milliseconds that a readiness check waits. A thousand databases take longer, and the next readiness check reports
 * the rest.
 */
const WAIT = 2 * PATIENCE
/** Milliseconds after which a check counts as lost. The engine may end it together with the request that began it. */
const LOST_AFTER = 30_000

interface Database {
  readonly name: string
  check(): Promise<string | undefined>
}

interface Found {
  /** The error of each bad database, by name. */
  readonly bad: Map<string, string>
  /** The databases to check, by name; undefined before the first check. */
  due: Map<string, Database> | undefined
  /** When the last check began, in milliseconds since 1970. */
  lookedAt: number
  /** Settles: a readiness check waits WAIT for it at most, and starts another after LOST_AFTER. */
  looking: Promise<void> | undefined
}

/** By binding; an isolate has one. Its value is at most as large as the list of databases. */
const found = new WeakMap<Env['SHARDS'], Found>()

/** The sorted names: `TENANT/SHARD` or `TENANT/controllers`. */
export async function unreadableDatabases(request: ApiRequest): Promise<string[]> {
  const { env, clock } = request
  let state = found.get(env.SHARDS)
  if (state === undefined)
    found.set(env.SHARDS, (state = { bad: new Map(), due: undefined, lookedAt: 0, looking: undefined }))
  const { bad, lookedAt } = state
  const now = clock()
  const isOld = !isRecent(lookedAt, now, AGAIN) && bad.size > 0 && state.due?.size === 0
  if (isOld || state.due === undefined) state.due = await databasesOf(request, isOld ? [...bad.keys()] : undefined)
  if (state.due.size > 0 && (state.looking === undefined || !isRecent(lookedAt, now, LOST_AFTER))) {
    state.lookedAt = clock()
    state.looking = lookAt(state.due, bad).finally(() => (state.looking = undefined))
    request.waitUntil(state.looking)
  }
  if (state.looking !== undefined) await within(WAIT, state.looking)
  return [...new Set([...bad.keys(), ...storageOf(env).failing()])].sort()
}

async function lookAt(due: Map<string, Database>, bad: Map<string, string>): Promise<void> {
  await forEachShard(due.values(), async ({ name, check }) => {
    const problem = await problemOf(check)
    if (problem !== undefined && !bad.has(name)) logError('a database cannot be read', { shard: name, error: problem })
    if (problem === undefined) bad.delete(name)
    else bad.set(name, problem)
    due.delete(name)
  })
}

async function problemOf(check: Database['check']): Promise<string | undefined> {
  try {
    return await within(PATIENCE, check(), () => 'it does not answer')
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

async function within<Value>(milliseconds: number, work: Promise<Value>, late: () => Value): Promise<Value>
async function within(milliseconds: number, work: Promise<void>): Promise<void>
async function within<Value>(milliseconds: number, work: Promise<Value>, late?: () => Value) {
  let timer: ReturnType<typeof setTimeout> | null = null
  const over = new Promise<Value | undefined>((resolve) => {
    timer = setTimeout(() => resolve(late?.()), milliseconds)
  })
  try {
    return await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * The databases on disk, because a call of another one would create it.
 * @param names a selection; undefined: all
 */
async function databasesOf(request: ApiRequest, names?: readonly string[]): Promise<Map<string, Database>> {
  const { env, tenant } = request
  const { databases: stored } = settingsOf(env)
  const types = storedResources(tenant, await controlSnapshot(request))
  const shards = new Set([CONTROL_SHARD, ...types.map((type) => collectionOf(tenant, type).shard)])
  const all = [...shards].map((shard): [DurableObjectId, Database] => {
    const name = `${tenant.uid}/${shard}`
    const id = env.SHARDS.idFromName(name)
    return [id, { name, check: async () => await env.SHARDS.get(id).check() }]
  })
  const controllers = env.CONTROLLERS.idFromName(tenant.uid)
  all.push([
    controllers,
    { name: `${tenant.uid}/controllers`, check: async () => await env.CONTROLLERS.get(controllers).check() },
  ])
  return new Map(
    all
      // few: only an operator asks
      .filter(([id, { name }]) => stored.has(id.toString()) && (names?.includes(name) ?? true))
      .map(([, database]) => [database.name, database]),
  )
}
