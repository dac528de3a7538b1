/**
 * Commits writes that arrive together in one step: a commit costs one fsync, whatever it contains. Each write is a
 * transaction of its own, because the failure of one must not undo others. No caller gets an answer before all of them
 * are durable: the platform holds answers and messages back until the turn's writes are confirmed. When they cannot be
 * confirmed it ends the object, and fails the waiting calls.
 */
import { logError } from '../src/log/log.ts'
import { turnOfOthers } from '../src/api/slices.ts'
import { StorageError } from '../src/storage/errors.ts'

/** Writes of one commit: they take some ten milliseconds, in which the object serves no other request. */
const MAX_TOGETHER = 256
/** Writes that may wait: with more, the shard is overloaded. */
const MAX_WAITING = 4_096

export class WriteQueue<Outcome> {
  /** Bound: MAX_WAITING. */
  private readonly waiting: {
    write: () => Outcome
    resolve: (outcome: Outcome) => void
    reject: (error: unknown) => void
  }[] = []

  /** @param committed gets the outcomes of one commit, once for all of them */
  constructor(
    private readonly transact: (write: () => Outcome) => Outcome,
    private readonly committed: (outcomes: readonly Outcome[]) => void,
  ) {}

  /** Counts commits, so that a caller can tell whether there was one since it last looked. */
  flushes = 0

  /** @throws StorageError Overloaded */
  run(write: () => Outcome): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      if (this.waiting.length >= MAX_WAITING)
        return reject(new StorageError('Overloaded', 0, 0, 'too many writes wait'))
      if (this.waiting.push({ write, resolve, reject }) === 1) setTimeout(() => this.flush(), 0)
    })
  }

  /** Ends when nothing waits, including writes that come in this turn. */
  async settled(): Promise<void> {
    do await turnOfOthers()
    while (this.waiting.length > 0)
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

  /** Runs `committed`. If it fails, the writes are answered as Uncertain instead of never. */
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
