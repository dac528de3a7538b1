/**
 * Runs Durable Objects in this process, with SQLite databases in memory. As in the engine, a call and its answer take a
 * turn of the event loop each, and arguments and results are copied. There are no sockets, and objects are never
 * evicted.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { SqlInProcess } from './sql-storage.ts'
import type { RowSeen } from './sql-storage.ts'

type Method = (...values: unknown[]) => unknown
type Instance = Record<string, Method> & { fetch(request: Request): Promise<Response>; alarm(): Promise<void> }
export type ObjectClass<Env> = new (ctx: DurableObjectState, env: Env) => object

class Alarm {
  private at: number | undefined
  private timer: NodeJS.Timeout | undefined

  constructor(private readonly ring: () => Promise<void>) {}

  get(): number | null {
    return this.at ?? null
  }

  set(at: number): void {
    clearTimeout(this.timer)
    this.at = at
    this.timer = setTimeout(
      () => {
        this.at = undefined
        void this.ring()
      },
      Math.max(0, at - Date.now()),
    ).unref()
  }
}

class OneObject<Env> {
  private readonly instance: Instance
  private begun: Promise<unknown> = Promise.resolve()

  constructor(
    readonly name: string,
    make: ObjectClass<Env>,
    env: Env,
    seen: RowSeen,
    rang: () => void,
  ) {
    const sql = new SqlInProcess(seen)
    const alarm = new Alarm(() => {
      rang()
      return this.call('alarm', []).then(() => {})
    })
    const state = {
      id: { name, toString: () => name },
      storage: {
        sql,
        transactionSync: <Outcome>(work: () => Outcome) => sql.transaction(work),
        sync: () => turn(),
        getAlarm: async () => alarm.get(),
        setAlarm: async (at: number) => alarm.set(at),
      },
      blockConcurrencyWhile: (work: () => Promise<unknown>) => (this.begun = work()),
      waitUntil: (work: Promise<unknown>) => void work.catch(() => {}),
      getWebSockets: () => [],
      abort: (why: string) => {
        throw new Error(why)
      },
    }
    // the two classes use only these parts of the state
    this.instance = new make(state as unknown as DurableObjectState, env) as unknown as Instance
  }

  async call(method: string, values: readonly unknown[]): Promise<unknown> {
    const sent = structuredClone(values)
    await turn()
    await this.begun
    const answer = structuredClone(await this.instance[method]!(...sent))
    await turn()
    return answer
  }

  async fetch(url: string, init?: RequestInit): Promise<Response> {
    const request = new Request(url, init)
    await turn()
    await this.begun
    const response = await this.instance.fetch(request)
    await turn()
    return response.body === null ? response : new Response(piecewise(response.body), response)
  }
}

/** A reader in the engine gets at most this many bytes at a time. */
const PIECE = 256 * 1024

/** Waits a turn of the event loop between two pieces, as the engine does. */
function piecewise(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let rest = new Uint8Array()
  return new ReadableStream({
    async pull(controller) {
      await turn()
      if (rest.length === 0) {
        const { done, value } = await reader.read()
        if (done) return controller.close()
        rest = value as Uint8Array<ArrayBuffer> // this code made the bytes
      }
      controller.enqueue(rest.subarray(0, PIECE))
      rest = rest.subarray(PIECE)
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/** @param rang is called for each alarm of an object */
export function objectNamespace<Env>(
  make: ObjectClass<Env>,
  env: Env,
  seen: RowSeen,
  rang: () => void = () => {},
): unknown {
  const objects = new Map<string, OneObject<Env>>()
  const get = (name: string) => {
    let object = objects.get(name)
    if (object === undefined) objects.set(name, (object = new OneObject(name, make, env, seen, rang)))
    const found = object
    return new Proxy(
      {},
      {
        get: (_, method) =>
          method === 'then'
            ? undefined
            : method === 'fetch'
              ? (url: string, init?: RequestInit) => found.fetch(url, init)
              : (...values: unknown[]) => found.call(String(method), values),
      },
    )
  }
  return { idFromName: (name: string) => name, get, getByName: get }
}
