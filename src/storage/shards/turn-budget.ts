/**
 * Divides the work of one Durable Object into turns of the engine. The local engine takes new requests only when no
 * call between objects goes on, so a chain of such calls would hold up all requests until its end. The budget lets
 * callers begin and continue only in the first milliseconds of a turn, one after the other. The local engine's clock
 * advances while code runs. Where it does not, the number of callers is the limit.
 */
import type { Clock } from '../../base/clock.ts'
import { turnOfOthers } from '../../base/slices.ts'

/** Milliseconds of a turn after which no caller begins or continues. The last one ends a few milliseconds later. */
const MOST_MS = 4
/** Callers that begin or continue in one turn, however little they do. */
const MOST = 16
/** Microtasks after which a caller that continues has ended, or waits again. */
const STEPS = 64

interface Waiting {
  readonly go: () => void
  /**
   * Resolves when the call has ended; undefined: the caller needs STEPS microtasks. Settles: nobody waits for it longer
   * than a turn.
   */
  readonly ended: Promise<unknown> | undefined
}

/** What work without a call needs. */
export interface WorkBudget {
  /** Resolves in this turn if it has time left, otherwise in a later one. */
  room(): Promise<void>
  /** Resolves in a later turn that has time left. */
  turn(): Promise<void>
}

export class TurnBudget implements WorkBudget {
  /** Bound: the calls that the object has in progress. */
  private readonly waiting: Waiting[] = []
  private isServing = false
  /** Calls in progress. */
  private calls = 0
  /** Settles: a timer of the object, which ends with the object alone. */
  private next: Promise<void> | undefined
  /** When this turn began; undefined while the object does nothing. */
  private began: number | undefined
  private begun = 0

  constructor(
    private readonly now: Clock,
    private readonly newTurn: () => Promise<void> = turnOfOthers,
  ) {}

  /** Makes a call that another object answers. One call at a time works in a turn, because all share a thread. */
  async call<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    let end = (): void => {}
    const ended = new Promise<void>((resolve) => (end = resolve))
    return this.awaited(async () => {
      await this.room(ended)
      return call().finally(end)
    })
  }

  /** Waits for an answer that many callers may get at once. */
  async awaited<Answer>(wait: () => Promise<Answer>): Promise<Answer> {
    this.calls++
    try {
      return await wait()
    } finally {
      this.calls--
      await this.room()
    }
  }

  async turn(): Promise<void> {
    await this.nextTurn()
    await this.room()
  }

  /** All callers share a timer: the engine takes a millisecond for each timer of an object. */
  nextTurn(): Promise<void> {
    this.next ??= this.newTurn().then(() => {
      this.next = undefined
      this.began = undefined
      if (this.calls > 0) this.begin()
    })
    return this.next
  }

  room(ended?: Promise<unknown>): Promise<void> {
    return new Promise((go) => {
      this.waiting.push({ go, ended })
      if (!this.isServing) void this.serve()
    })
  }

  private async serve(): Promise<void> {
    this.isServing = true
    for (;;) {
      const first = this.waiting.shift()
      if (first === undefined) break
      while (!this.hasRoom()) await this.nextTurn()
      first.go()
      await (first.ended === undefined ? microtasks() : Promise.race([first.ended, this.nextTurn()]))
    }
    this.isServing = false
  }

  private hasRoom(): boolean {
    if (this.began === undefined) this.begin()
    return this.begun++ < MOST && this.now() - this.began! < MOST_MS
  }

  private begin(): void {
    this.began = this.now()
    this.begun = 0
    void this.nextTurn()
  }
}

async function microtasks(): Promise<void> {
  for (let step = 0; step < STEPS; step++) await null
}
