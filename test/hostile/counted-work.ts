/**
 * Measures the work that an input causes: how often V8 runs the blocks of this project's code and of its parsers.
 * Nothing is timed, and the code does not know that it is counted. V8's built-in functions do not count: other checks
 * cover regular expressions (test/check/ambiguous-patterns.ts) and searches in lists (test/check/nested-lookups.ts).
 */
import { Session } from 'node:inspector/promises'
import { setFlagsFromString } from 'node:v8'

const COUNTED = /\/(?:src\/|test\/hostile\/linear-|node_modules\/(?:js-yaml|jose)\/)/

export class CountedWork {
  readonly #session = new Session()

  static async start(): Promise<CountedWork> {
    // only the interpreter counts each block, and V8 loses the counts of bytecode that its collector flushes
    for (const flag of ['--no-opt', '--no-maglev', '--no-sparkplug', '--no-flush-bytecode']) setFlagsFromString(flag)
    const counted = new CountedWork()
    counted.#session.connect()
    await counted.#session.post('Profiler.enable')
    await counted.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
    return counted
  }

  async stop(): Promise<void> {
    await this.#session.post('Profiler.stopPreciseCoverage')
    this.#session.disconnect()
  }

  /** Counts the blocks that `run` executes, also where it throws. */
  async of(run: () => unknown): Promise<number> {
    try {
      await run()
    } catch {
      // the work of a refusal counts, too
    }
    const { result } = await this.#session.post('Profiler.takePreciseCoverage')
    let blocks = 0
    for (const { url, functions } of result)
      if (COUNTED.test(url)) for (const { ranges } of functions) for (const { count } of ranges) blocks += count
    return blocks
  }

  /**
   * The growth of the work from an input of 2n to one of 4n, divided by the growth from n to 2n. Linear work gives 2,
   * quadratic work gives 4. The differences cancel the constant cost.
   */
  async growth<Input>(input: (n: number) => Input, run: (input: Input) => unknown, n: number): Promise<number> {
    await this.of(() => run(input(n))) // the first call fills the caches
    const works: number[] = []
    for (const times of [1, 2, 4]) {
      const given = input(n * times)
      works.push(await this.of(() => run(given)))
    }
    const [once, twice, fourTimes] = works as [number, number, number] // one for each input
    // a refusal that reads only a constant part always costs the same
    return twice - once < 50 ? 1 : (fourTimes - twice) / (twice - once)
  }
}
