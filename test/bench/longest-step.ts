// How much of its thread's time one request takes at once: CPU between two turns of the event loop.

export interface Steps {
  /** Milliseconds of CPU, all in all. */
  readonly all: number
  /** Of the longest step. */
  readonly longest: number
  readonly steps: number
  /** Steps that took more than so many milliseconds. */
  longer(milliseconds: number): number
}

/** Microseconds of CPU of this thread. */
const used = (): number => {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

/** What a turn of the loop takes that has nothing to do is no step. */
const STEP = 200

/** @param seen is told of each step: when it began and ended, in microseconds of the monotonic clock, and its CPU */
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
    all += taken
    if (taken > STEP) {
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
