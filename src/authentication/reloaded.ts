/**
 * A configuration that may change while the server runs. A local server reads its file when a request needs it
 * (cli/engine/configuration-files.ts). Elsewhere the configuration is the setting's, as long as this version of the
 * Worker runs.
 * An invalid configuration is logged and counted, and the one before stays in force.
 */
import { isRecent } from '../base/clock.ts'
import { logError, logInfo } from '../log/log.ts'
import { SharedCall } from '../tenancy/shared-call.ts'
import { SharedValue } from '../tenancy/shared-value.ts'
import { NO_FILE } from '../webhooks/configuration-server.ts'
import { BadConfiguration } from './configuration-text.ts'
import type { ApiRequest } from '../request/context.ts'

/** Milliseconds for which a file counts as unchanged. */
const LOOKED_AT_EVERY = 1_000
/** Milliseconds for an answer of the front, which reads a file. */
const TIMEOUT = 2_000
/** Milliseconds for the first configuration, which may need other files. */
const STARTING = 10_000

export type ReloadContext = Pick<ApiRequest, 'env' | 'now' | 'waitUntil'>

export interface ReloadCounts {
  readonly success: number
  readonly failure: number
  /** Seconds since 1970; undefined where it never happened. */
  readonly lastSuccess: number | undefined
  readonly lastFailure: number | undefined
}

export class Reloaded<Value> {
  private value: Value | undefined
  private readonly initial = new SharedValue<Value>(STARTING)
  /** The error where the configuration in the setting is invalid. */
  private refused: BadConfiguration | undefined
  /** The text of the current value, and of the last attempt. */
  private applied: string
  private tried: string
  private looked = -Infinity
  /** The configuration is a setting's, and no file's. */
  private hasNoFile = false
  private time = 0
  private readonly call = new SharedCall<void>(() => this.time, TIMEOUT)
  counts: ReloadCounts = { success: 0, failure: 0, lastSuccess: undefined, lastFailure: undefined }

  constructor(
    private readonly name: 'authentication' | 'authorization',
    text: string,
    /** @throws BadConfiguration */
    private readonly make: (text: string, before: Value | undefined) => Promise<Value>,
  ) {
    this.applied = this.tried = text
  }

  /** The text of the current configuration. */
  get text(): string {
    return this.applied
  }

  /**
   * The last valid configuration, at first that of the setting.
   * @throws BadConfiguration
   */
  async start(): Promise<Value> {
    if (this.value !== undefined) return this.value
    if (this.refused !== undefined) throw this.refused
    const text = this.applied
    try {
      const made = await this.initial.get(() => this.make(text, undefined))
      return (this.value ??= made)
    } catch (error) {
      // other errors mean only that its inputs could not be read just now
      if (error instanceof BadConfiguration) this.refused = error
      throw error
    }
  }

  /**
   * The current configuration, at most a second older than its file.
   * @throws BadConfiguration
   */
  async current(context: ReloadContext): Promise<Value> {
    const value = await this.start()
    const { CONFIGURATION: files } = context.env
    const now = context.now.getTime()
    if (files === undefined || this.hasNoFile || isRecent(this.looked, now, LOOKED_AT_EVERY)) return this.value ?? value
    this.time = now
    await this.call.answer(this.call.underWay(TIMEOUT) ?? this.call.next, () => {
      const looking = this.look(files, this.time)
      context.waitUntil(looking)
      return looking
    })
    return this.value ?? value
  }

  private async look(files: Fetcher, time: number): Promise<void> {
    this.looked = time
    let text: string
    try {
      const answer = await files.fetch(`http://configuration/${this.name}`, { signal: AbortSignal.timeout(TIMEOUT) })
      text = await answer.text()
      if (answer.status === NO_FILE) return void (this.hasNoFile = true)
      if (!answer.ok) throw new BadConfiguration(text)
    } catch (error) {
      return this.failed(`failed to read ${this.name} config file`, error, time)
    }
    if (text === this.tried) return
    this.tried = text
    try {
      this.value = await this.make(text, this.value)
    } catch (error) {
      // its inputs could not be read just now, so the next look tries again
      if (!(error instanceof BadConfiguration)) this.tried = this.applied
      return this.failed(`failed to load ${this.name} config`, error, time)
    }
    this.applied = text
    this.counts = { ...this.counts, success: this.counts.success + 1, lastSuccess: time / 1000 }
    logInfo(`reloaded ${this.name} config`)
  }

  private failed(what: string, error: unknown, time: number): void {
    this.counts = { ...this.counts, failure: this.counts.failure + 1, lastFailure: time / 1000 }
    logError(what, { error: error instanceof Error ? error.message : String(error) })
  }
}
