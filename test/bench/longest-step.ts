// How much of its thread's time one request takes at once: CPU between two turns of the event loop.

export interface Steps {
  /** Milliseconds of CPU, all in all. */
  readonly all: number
  /** Of the longest step. */
  readonly longest: number
  readonly steps: number
}

/** Microseconds of CPU of this thread. */
const used = (): number => {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

/** What a turn of the loop takes that has nothing to do is no step. */
const STEP = 200

export async function stepsOf(run: () => Promise<unknown>): Promise<Steps> {
  const found = { all: 0, longest: 0, steps: 0 }
  let before = used()
  let next: NodeJS.Immediate
  const turn = (): void => {
    const now = used()
    const taken = now - before
    found.all += taken
    found.longest = Math.max(found.longest, taken)
    if (taken > STEP) found.steps++
    next = setImmediate(turn)
    before = now
  }
  next = setImmediate(turn)
  await run()
  turn()
  clearImmediate(next)
  return { all: found.all / 1000, longest: found.longest / 1000, steps: found.steps }
}
