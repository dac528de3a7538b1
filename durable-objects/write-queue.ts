/**
 * Commits writes that arrive together in one step: a commit costs one fsync, whatever it contains. Each write is a
 * transaction of its own, because the failure of one must not undo others. No caller gets an answer before all of
 * them are durable: the platform holds back answers and messages until the turn's writes are confirmed. If they
 * cannot be confirmed, the platform ends the object and fails the waiting calls.
 */
import { logError } from '../src/log/log.ts'
import { turnOfOthers } from '../src/base/slices.ts'
import { StorageError } from '../src/storage/errors.ts'

/** Writes in one commit. They take some ten milliseconds, in which the object serves no other request. */
const MAX_TOGETHER = 256
/** Writes that may wait. With more, the shard is overloaded. */
const MAX_WAITING = 4_096
/** Milliseconds for requests between two pieces of the shard's own work. A piece takes one or two milliseconds. */
const BETWEEN = 20

export class WriteQueue<Outcome> {
  /** Bound: MAX_WAITING. */
  private readonly waiting: {
    write: () => Outcome
    resolve: (outcome: Outcome) => void
    reject: (error: unknown) => void
  }[] = []

  /** @param committed receives the outcomes of one commit together */
  constructor(
    private readonly transact: (write: () => Outcome) => Outcome,
    private readonly committed: (outcomes: readonly Outcome[]) => void,
  ) {}

  /** Counts commits. */
  private flushes = 0

  /** @throws StorageError Overloaded */
  run(write: () => Outcome): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      if (this.waiting.length >= MAX_WAITING)
        return reject(new StorageError('Overloaded', 0, 0, 'too many writes wait'))
      if (this.waiting.push({ write, resolve, reject }) === 1) setTimeout(() => this.flush(), 0)
    })
  }

  /** Resolves when no write waits, including those that arrive in this turn. */
  async settled(): Promise<void> {
    do await turnOfOthers()
    while (this.waiting.length > 0)
  }

  /** Waits between two pieces of the shard's own work, so that writers get most of the time. */
  async yieldToWriters(): Promise<void> {
    const before = this.flushes
    await pause(0)
    if (this.flushes !== before) await pause(BETWEEN)
  }

  private flush(): void {
    this.flushes++
    const writes = this.waiting.splice(0, MAX_TOGETHER)
    if (this.waiting.length > 0) setTimeout(() => this.flush(), 0)
    const outcomes: Outcome[] = []
    const answers: ((problem?: StorageError) => void)[] = []
    for (const { write, resolve, reject } of writes) {
      try {
        const outcome = this.transact(write)
        outcomes.push(outcome)
        answers.push((problem) => (problem === undefined ? resolve(outcome) : reject(problem)))
      } catch (error) {
        answers.push(() => reject(error))
      }
    }
    const problem = this.tell(outcomes)
    for (const answer of answers) answer(problem)
  }

  /** Runs `committed`. Where it fails, the writes are answered as Uncertain rather than never. */
  private tell(outcomes: readonly Outcome[]): StorageError | undefined {
    if (outcomes.length === 0) return undefined
    try {
      this.committed(outcomes)
      return undefined
    } catch (error) {
      logError('what was written could not be followed up', { error })
      return new StorageError('Uncertain', 0, 0, String(error))
    }
  }
}

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds))
