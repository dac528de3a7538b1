/**
 * How much work an input causes: how often V8 runs the blocks of this project's code, and of the parsers that it brings
 * along. Nothing is timed, and the code knows nothing of it. What V8 does itself is not counted: regular expressions have
 * a check of their own (test/check/ambiguous-patterns.ts), as have searches in lists (test/check/nested-lookups.ts).
 */
import { Session } from 'node:inspector/promises'
import { setFlagsFromString } from 'node:v8'

const COUNTED = /\/(?:src\/|test\/hostile\/linear-|node_modules\/(?:js-yaml|jose)\/)/

export class CountedWork {
  readonly #session = new Session()

  static async start(): Promise<CountedWork> {
    // only the interpreter counts each block, and what the collector takes it counts no more
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

  /** Blocks that have run since the last time. What throws has done its work, too. */
  async of(run: () => unknown): Promise<number> {
    try {
      await run()
    } catch {
      // a refusal costs what it costs
    }
    const { result } = await this.#session.post('Profiler.takePreciseCoverage')
    let blocks = 0
    for (const { url, functions } of result)
      if (COUNTED.test(url)) for (const { ranges } of functions) for (const { count } of ranges) blocks += count
    return blocks
  }

  /**
   * By how much the work grows when an input of 2n becomes one of 4n, measured in what it grew by when n became 2n: 2
   * where it grows with the input, 4 where it grows with its square. What any input costs is in none of the two.
   */
  async growth<Input>(input: (n: number) => Input, run: (input: Input) => unknown, n: number): Promise<number> {
    await this.of(() => run(input(n))) // what is made on first use
    const works: number[] = []
    for (const times of [1, 2, 4]) {
      const given = input(n * times)
      works.push(await this.of(() => run(given)))
    }
    const [once, twice, fourTimes] = works as [number, number, number] // one for each
    // a refusal that looks at a constant part costs the same always
    return twice - once < 50 ? 1 : (fourTimes - twice) / (twice - once)
  }
}
