// Measures how long one request blocks its thread: the CPU time between two turns of the event loop.

export interface Steps {
  /** Milliseconds of CPU of all steps, without the idle turns of the event loop. */
  readonly all: number
  /** Milliseconds of the longest step. */
  readonly longest: number
  readonly steps: number
  /** The number of steps longer than this. */
  longer(milliseconds: number): number
}

/** Microseconds of CPU of this thread. */
const used = (): number => {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

/** Microseconds: a shorter turn of the event loop has no work to do and is not a step. */
const STEP = 200

/**
 * @param seen is called for each step with its begin and end, in microseconds of the monotonic clock, and its CPU time
 */
export async function stepsOf(
  run: () => Promise<unknown>,
  seen: (from: number, to: number, used: number) => void = () => {},
): Promise<Steps> {
  const steps: number[] = []
  let all = 0
  let before = used()
  let from = microseconds()
  let next: NodeJS.Immediate
  const turn = (): void => {
    const now = used()
    const to = microseconds()
    const taken = now - before
    if (taken > STEP) {
      all += taken
      steps.push(taken)
      seen(from, to, taken)
    }
    next = setImmediate(turn)
    before = now
    from = to
  }
  next = setImmediate(turn)
  await run()
  turn()
  clearImmediate(next)
  return {
    all: all / 1000,
    longest: steps.reduce((most, taken) => Math.max(most, taken), 0) / 1000,
    steps: steps.length,
    longer: (milliseconds) => steps.filter((taken) => taken > milliseconds * 1000).length,
  }
}

const microseconds = (): number => Number(process.hrtime.bigint() / 1000n)
