/**
 * Which databases of a control plane cannot be read. The local server names those that are on its disk when the engine
 * starts; each isolate looks at them once, when it is first asked whether it is ready, and again at those that were bad.
 * What fails later is found by the requests that meet it.
 */
import { logError } from '../log/log.ts'
import type { Env } from '../env.ts'
import { CONTROL_SHARD, collectionOf } from '../registry/collections.ts'
import type { ServedResources } from '../registry/resources.ts'
import type { ApiRequest } from '../request/context.ts'
import { settingsOf } from '../settings.ts'
import { storageOf } from '../storage/environment-storage.ts'

/** Milliseconds that a database has for it, and after which a bad one is looked at again. */
const PATIENCE = 2_000
const AGAIN = 10_000

interface Found {
  /** By the name of the database, what is wrong with it. */
  readonly bad: Map<string, string>
  checkedAt: number
  running: Promise<void> | undefined
}

/** Of each binding, which an isolate has one of. At most as long as the list of databases. */
const found = new WeakMap<Env['SHARDS'], Found>()

/** Names, sorted: `TENANT/SHARD` or `TENANT/controllers`. */
export async function unreadableDatabases(request: ApiRequest, served: ServedResources): Promise<string[]> {
  const { env } = request
  let state = found.get(env.SHARDS)
  if (state === undefined) found.set(env.SHARDS, (state = { bad: new Map(), checkedAt: 0, running: undefined }))
  const now = request.now.getTime()
  const isDue = state.checkedAt === 0 || (state.bad.size > 0 && now - state.checkedAt >= AGAIN)
  if (isDue && state.running === undefined) {
    const { bad } = state
    state.checkedAt = now
    state.running = checkAll(request, served, bad).finally(() => (state.running = undefined))
  }
  await state.running
  return [...new Set([...state.bad.keys(), ...storageOf(env).failing()])].sort()
}

interface Database {
  readonly name: string
  check(): Promise<string | undefined>
}

async function checkAll(request: ApiRequest, served: ServedResources, bad: Map<string, string>): Promise<void> {
  const databases = databasesOf(request, served)
  await Promise.all(
    databases.map(async ({ name, check }) => {
      const problem = await within(check())
      if (problem !== undefined && !bad.has(name))
        logError('a database cannot be read', { shard: name, error: problem })
      if (problem === undefined) bad.delete(name)
      else bad.set(name, problem)
    }),
  )
}

async function within(check: Promise<string | undefined>): Promise<string | undefined> {
  let timer: ReturnType<typeof setTimeout> | null = null
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('it does not answer'), PATIENCE)
  })
  try {
    return await Promise.race([check, late])
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    clearTimeout(timer)
  }
}

/** Those on the disk: asking for another would make it. */
function databasesOf({ env, tenant }: ApiRequest, served: ServedResources): Database[] {
  const { databases: stored } = settingsOf(env)
  const kept = served.resources.filter(({ persisted }) => persisted)
  const shards = new Set([CONTROL_SHARD, ...kept.map(({ storage }) => collectionOf(tenant, storage).shard)])
  const shardDatabases = [...shards].flatMap((shard): Database[] => {
    const name = `${tenant.uid}/${shard}`
    const id = env.SHARDS.idFromName(name)
    return stored.has(id.toString()) ? [{ name, check: async () => await env.SHARDS.get(id).check() }] : []
  })
  const controllers = env.CONTROLLERS.idFromName(tenant.uid)
  if (!stored.has(controllers.toString())) return shardDatabases
  const name = `${tenant.uid}/controllers`
  return [...shardDatabases, { name, check: async () => await env.CONTROLLERS.get(controllers).check() }]
}
