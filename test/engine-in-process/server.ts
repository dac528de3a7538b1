/**
 * A whole server in this process: the Worker, its shards and its controllers. Tests can measure its steps. Each user of
 * this module bundles it, because it contains the Durable Object classes.
 */
import { ControllerManager } from '../../durable-objects/controller-manager.ts'
import { ResourceShard } from '../../durable-objects/resource-shard.ts'
import type { Env } from '../../src/env.ts'
import { serve } from '../../src/server.ts'
import type { ShardStats } from '../../src/storage/shards/shard-protocol.ts'
import { objectNamespace } from './object-namespace.ts'

const TOKEN = 'an-administrator-whose-token-is-long-enough'
/** How far the server's clock is ahead of the real one, in milliseconds. */
let ahead = 0
const { now } = Date
Date.now = () => now() + ahead
// the engine has these globals and Node does not
Object.assign(globalThis, { IdentityTransformStream: TransformStream })

export interface Answer {
  readonly status: number
  readonly body: Body
}

/** The fields of an object that cases read. */
export interface Body {
  readonly metadata?: { readonly resourceVersion?: string; readonly deletionTimestamp?: string }
  readonly status?: Readonly<Record<string, unknown>>
  readonly items?: readonly Body[]
}

export interface ServerInProcess {
  /** @throws unless the answer is a success */
  send(method: string, path: string, body?: unknown, contentType?: string): Promise<Answer>
  stats(shard: string): Promise<ShardStats>
  /** The number of queued controller tasks, those that are not due yet included. */
  queued(): Promise<number>
  /** How many alarms of the controllers rang. */
  alarms(): number
  /** Advances the clock by this many milliseconds; timers that are already set do not notice. */
  pass(milliseconds: number): void
}

let servers = 0

/** @param rowSeen is called for each row that SQLite finds */
export function serverInProcess(settings: Partial<Env> = {}, rowSeen: () => void = () => {}): ServerInProcess {
  // isolates cache what they know of a tenant, so each server has a tenant of its own
  const tenant = `tenant-${++servers}`
  let alarms = 0
  const env = { KEDGE_ADMIN_TOKEN: TOKEN, KEDGE_ROOT_TENANT: tenant, ...settings } as {
    -readonly [Name in keyof Env]: Env[Name]
  }
  env.SHARDS = objectNamespace<Env>(ResourceShard, env, rowSeen) as Env['SHARDS']
  env.CONTROLLERS = objectNamespace<Env>(ControllerManager, env, rowSeen, () => void alarms++) as Env['CONTROLLERS']
  const execution = { waitUntil: (work: Promise<unknown>) => void work.catch(() => {}), passThroughOnException() {} }
  return {
    async send(method, path, body, contentType = 'application/json') {
      const headers = {
        Authorization: `Bearer ${TOKEN}`,
        ...(body === undefined ? {} : { 'Content-Type': contentType }),
      }
      const request = new Request(`https://server${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const response = await serve(request, env, execution as unknown as ExecutionContext, () => Date.now())
      const text = await response.text()
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
      return { status: response.status, body: JSON.parse(text) as Body }
    },
    async stats(shard) {
      return env.SHARDS.get(env.SHARDS.idFromName(`${tenant}/${shard}`)).stats() as unknown as Promise<ShardStats>
    },
    async queued() {
      const counts = await env.CONTROLLERS.getByName(tenant).counts()
      return counts.reduce((sum, { queued }) => sum + queued, 0)
    },
    alarms: () => alarms,
    pass: (milliseconds) => void (ahead += milliseconds),
  }
}
