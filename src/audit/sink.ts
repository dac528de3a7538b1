/**
 * Hands the events of requests to a backend. In `batch` mode events wait in a bounded buffer. The first request that
 * finds no flush under way flushes it after its response. In the blocking modes each request waits for its event.
 */
import { isRecent } from '../base/clock.ts'
import { settledByOthers } from '../base/settled-by-others.ts'
import { logError } from '../log/log.ts'
import type { AuditMode } from '../settings/audit.ts'
import type { AuditPlugin } from './metrics.ts'
import { auditCounts, countUp } from './metrics.ts'

export interface Backend {
  readonly name: AuditPlugin & ('log' | 'webhook')
  /** @param events one JSON text each. The promise rejects where the backend did not write them. */
  send(events: readonly string[]): Promise<void>
}

export interface SinkOptions {
  readonly mode: AuditMode
  /** The most buffered events. Further events are dropped, and a metric counts them. */
  readonly bufferEvents: number
  /** The most buffered characters, so that a few large events do not fill the memory of an isolate. */
  readonly bufferLength: number
  readonly batchEvents: number
  /** How long a batch that is not full waits for more events. */
  readonly batchWaitMs: number
  /** The delays before further attempts to send a batch. */
  readonly retryMs: readonly number[]
}

export interface Clock {
  now(): number
  sleep(ms: number): Promise<void>
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * After this time without progress another request takes over the flush: Workers may stop the work of a request after
 * its response.
 */
const GIVEN_UP_MS = 120_000

export class Sink {
  #buffer: string[] = []
  #length = 0
  /** When the flush began or last made progress. */
  #activeAt: number | undefined
  #enough: (() => void) | undefined

  private readonly backend: Backend
  private readonly options: SinkOptions
  private readonly clock: Clock

  constructor(backend: Backend, options: SinkOptions, clock: Clock) {
    this.backend = backend
    this.options = options
    this.clock = clock
  }

  /** @returns whether the request may go on */
  async process(event: string, waitUntil: (work: Promise<unknown>) => void): Promise<boolean> {
    const { mode } = this.options
    if (mode === 'batch') {
      this.#keep(event, waitUntil)
      return true
    }
    const written = await this.#send([event], [])
    return written || mode === 'blocking'
  }

  #keep(event: string, waitUntil: (work: Promise<unknown>) => void): void {
    const { bufferEvents, bufferLength, batchEvents } = this.options
    if (this.#buffer.length >= bufferEvents || this.#length + event.length > bufferLength) {
      countUp(auditCounts.errors, 'buffered')
      return
    }
    this.#buffer.push(event)
    this.#length += event.length
    if (this.#buffer.length >= batchEvents) this.#enough?.()
    const now = this.clock.now()
    if (this.#activeAt !== undefined && isRecent(this.#activeAt, now, GIVEN_UP_MS)) return
    this.#activeAt = now
    waitUntil(this.#empty(now))
  }

  /** @param since identifies the flush: it stops when another flush took over */
  async #empty(since: number): Promise<void> {
    const { batchEvents, batchWaitMs, retryMs } = this.options
    let mark = since
    while (this.#buffer.length > 0) {
      if (this.#buffer.length < batchEvents) {
        const { promise: enough, resolve } = settledByOthers<void>()
        this.#enough = resolve
        await Promise.race([this.clock.sleep(batchWaitMs), enough])
      }
      this.#enough = undefined
      const batch = this.#buffer.splice(0, batchEvents)
      this.#length -= batch.reduce((sum, { length }) => sum + length, 0)
      if (batch.length > 0) await this.#send(batch, retryMs)
      if (this.#activeAt !== mark) return
      mark = this.#activeAt = this.clock.now()
    }
    this.#activeAt = undefined
  }

  async #send(events: readonly string[], retryMs: readonly number[]): Promise<boolean> {
    const { name } = this.backend
    for (const [attempt, wait] of [0, ...retryMs].entries()) {
      if (attempt > 0) await this.clock.sleep(wait)
      try {
        await this.backend.send(events)
        return true
      } catch (error) {
        if (attempt < retryMs.length) continue
        countUp(auditCounts.errors, name, events.length)
        logError(`audit events could not be written by ${name}`, { events: events.length, error })
      }
    }
    return false
  }
}
