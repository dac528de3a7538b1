// Returns the engine's garbage to the system when the engine is idle. V8 keeps it until the next allocation, because
// workerd gives V8 no idle time, so an engine that once did much work would stay large for as long as it sleeps.
import { readFileSync } from 'node:fs'
import { request } from 'node:http'

/** What a process has used so far. */
export interface ProcessUsage {
  /** Ticks of CPU since it began; a second has a hundred. */
  readonly ticks: number
  readonly residentBytes: number
}

/** Milliseconds between two looks. */
const LOOK_MS = 5_000
/** An engine that took fewer ticks between two looks is idle: two per cent of a processor. */
const IDLE_TICKS = 10
/** A collection takes some tens of milliseconds, so it must be worth it. */
const WORTH_BYTES = 16 * 1024 * 1024
const PAGE_BYTES = 4096
const PATIENCE_MS = 10_000

/** Decides at each look whether to collect. */
export class IdleMemory {
  #pid = 0
  #ticks = 0
  /** The memory that the last collection left, or the least since then. 0: this process has not collected yet. */
  #rest = 0
  #hasCollected = false

  /** @param usage of the process, or undefined where the system does not tell */
  isToCollect(pid: number, usage: ProcessUsage | undefined): boolean {
    if (usage === undefined) return false
    const { ticks, residentBytes } = usage
    const isSame = pid === this.#pid
    const isIdle = isSame && ticks - this.#ticks <= IDLE_TICKS
    if (!isSame) this.#rest = 0
    else if (this.#hasCollected || residentBytes < this.#rest) this.#rest = residentBytes
    this.#hasCollected = isIdle && residentBytes - this.#rest >= WORTH_BYTES
    this.#pid = pid
    this.#ticks = ticks
    return this.#hasCollected
  }
}

/** @returns undefined where the process is gone, or the system has no /proc */
export function processUsage(pid: number): ProcessUsage | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // the name of the command may contain any character
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { ticks: Number(fields[11]) + Number(fields[12]), residentBytes: Number(fields[21]) * PAGE_BYTES }
  } catch {
    return undefined
  }
}

/**
 * Looks at the engine from time to time, and lets it collect.
 * @param running the running engine: its process and its socket for collections
 * @returns a function that ends this
 */
export function collectWhenIdle(running: () => { readonly pid: number; readonly socket: string } | undefined) {
  const memory = new IdleMemory()
  const timer = setInterval(() => {
    const engine = running()
    if (engine === undefined || !memory.isToCollect(engine.pid, processUsage(engine.pid))) return
    collect(engine.socket)
  }, LOOK_MS)
  timer.unref()
  return (): void => clearInterval(timer)
}

/** An engine that ends meanwhile needs no collection. */
function collect(socketPath: string): void {
  const call = request({ socketPath, method: 'POST', path: '/', timeout: PATIENCE_MS }, (answer) => answer.resume())
  call.on('timeout', () => call.destroy())
  call.on('error', () => {})
  call.end()
}
