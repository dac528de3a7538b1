/**
 * Measures the work that an input causes: how often V8 runs the blocks of this project's code and of its parsers.
 * A built-in search for a text counts the characters that it passes. Nothing is timed, and the code does not know that it
 * is counted. V8's other built-in functions do not count: other checks cover regular expressions
 * (test/check/ambiguous-patterns.ts) and searches in lists (test/check/nested-lookups.ts).
 */
import { Session } from 'node:inspector/promises'
import { setFlagsFromString } from 'node:v8'

const COUNTED = /\/(?:src\/|test\/hostile\/linear-|node_modules\/(?:js-yaml|jose)\/)/

type Search = (this: { readonly length: number }, what: unknown, from?: number) => unknown

const searches: readonly { readonly of: object; readonly name: string; readonly isBackward?: boolean }[] = [
  { of: String.prototype, name: 'indexOf' },
  { of: String.prototype, name: 'includes' },
  { of: String.prototype, name: 'lastIndexOf', isBackward: true },
  { of: Object.getPrototypeOf(Uint8Array.prototype) as object, name: 'indexOf' },
]

/** Counts the characters or octets that searches pass while `run` runs. */
async function passedBySearches(run: () => unknown): Promise<number> {
  let passed = 0
  const originals = searches.map(({ of, name, isBackward = false }) => {
    const original = Reflect.get(of, name) as Search // one of the functions above
    const counting: Search = function (what, from) {
      const found = original.call(this, what, from)
      const begin = from ?? (isBackward ? this.length : 0)
      const end = typeof found === 'number' && found >= 0 ? found : isBackward || found === true ? 0 : this.length
      passed += Math.abs(end - begin)
      return found
    }
    Object.defineProperty(of, name, { value: counting, configurable: true, writable: true })
    return () => Object.defineProperty(of, name, { value: original, configurable: true, writable: true })
  })
  try {
    await run()
  } catch {
    // the work of a refusal counts, too
  } finally {
    for (const restore of originals) restore()
  }
  return passed
}

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

  /** Counts the blocks that `run` executes and the characters that it searches, also where it throws. */
  async of(run: () => unknown): Promise<number> {
    let blocks = await passedBySearches(run)
    const { result } = await this.#session.post('Profiler.takePreciseCoverage')
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
