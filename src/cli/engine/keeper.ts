// Keeps an engine running. An engine that ends by itself is started again, even where it ended before it listened.
import type { Engine } from './engine.ts'

/** A started engine and the state of this run. */
export interface Run<Address> {
  readonly engine: Engine
  readonly address: Address
}

export interface KeeperOptions<Address> {
  readonly launch: () => Run<Address>
  readonly now: () => number
  readonly pause: (ms: number) => Promise<void>
  readonly log: (text: string) => void
}

interface Exit {
  readonly signal: string | null
  readonly didListen: boolean
  readonly wasReplaced: boolean
}

/** No engine can be kept running; the text says why. */
export class EngineFailed extends Error {}

/**
 * Milliseconds before the second start in a row that failed before the engine listened. The pause doubles each time.
 */
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000
/** After this time without a listening engine another start will not help. */
const GIVE_UP_MS = 60_000

export class EngineKeeper<Address> {
  readonly #options: KeeperOptions<Address>
  /** Resolves when it was stopped; rejects where no engine can be kept running. */
  readonly ended: Promise<void>
  #end!: { resolve: () => void; reject: (error: Error) => void }
  #engine: Engine | undefined
  #ready = pending<Address>()
  /** The engine in whose place another one starts. */
  #replaced: Engine | undefined
  #isStopped = false

  constructor(options: KeeperOptions<Address>) {
    this.#options = options
    this.ended = new Promise((resolve, reject) => (this.#end = { resolve, reject }))
    this.ended.catch(() => {}) // `ready` and the caller get the error
  }

  /** The engine's address, once it listens. */
  ready(): Promise<Address> {
    return this.#ready.promise
  }

  /** Runs until `stop`, or until no further start can help. */
  async run(): Promise<void> {
    const { now, log } = this.#options
    let [hasListened, listenedAt, attempts] = [false, now(), 0]
    while (!this.#isStopped) {
      const exit = await this.#runOnce(() => {
        hasListened = true
        attempts = 0
      })
      if (this.#isStopped) break
      if (exit.wasReplaced) {
        listenedAt = now()
        continue
      }
      if (exit.didListen) listenedAt = now()
      // an engine that has never listened and exits by itself has reported the reason: its settings or files are
      // wrong
      else if (!hasListened && exit.signal === null) return this.#fail('ended before it was ready; see above')
      else if (now() - listenedAt >= GIVE_UP_MS)
        return this.#fail(`did not get ready in ${GIVE_UP_MS / 1_000} s and ${attempts} starts`)
      log('kedge: the engine (workerd) ended unexpectedly and is started again')
      if (attempts > 0) await this.#options.pause(Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), LONGEST_PAUSE_MS))
      attempts++
    }
    this.#end.resolve()
  }

  /** Starts another engine in place of the one that runs, because its settings have changed. */
  async replace(graceMs: number): Promise<void> {
    this.#replaced = this.#engine
    await this.#engine?.stop(graceMs)
  }

  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true
    await this.#engine?.stop(graceMs)
  }

  async #runOnce(onListening: () => void): Promise<Exit> {
    const run = this.#launched()
    if (run === undefined) return { signal: null, didListen: false, wasReplaced: false }
    const { engine, address } = run
    this.#engine = engine
    let didListen = false
    engine.listening.then(
      () => {
        didListen = true
        onListening()
        this.#ready.resolve(address)
      },
      () => {}, // only that it ended matters
    )
    const { signal } = await engine.ended
    if (didListen) this.#ready = pending()
    return { signal, didListen, wasReplaced: this.#replaced === engine }
  }

  /** Undefined where the engine's files cannot be written, as on a full disk. */
  #launched(): Run<Address> | undefined {
    try {
      return this.#options.launch()
    } catch (error) {
      this.#options.log(`kedge: the engine (workerd) could not be started: ${String(error)}`)
      return undefined
    }
  }

  #fail(what: string): void {
    const error = new EngineFailed(`The engine (workerd) ${what}.`)
    this.#ready.reject(error)
    this.#end.reject(error)
  }
}

function pending<Value>() {
  let settle!: { resolve: (value: Value) => void; reject: (error: Error) => void }
  const promise = new Promise<Value>((resolve, reject) => (settle = { resolve, reject }))
  promise.catch(() => {}) // `ended` gets the same error
  return { promise, ...settle }
}
