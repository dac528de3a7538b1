// A parser reads twice as much when its input is twice as long, for the worst shapes that are known.
import { describe, expect, test } from 'vitest'
import { Budget } from '../../src/base/budget.ts'
import { openBrackets } from '../../src/codec/yaml/error.ts'
import { pemBlocks } from '../../src/x509/pem.ts'

type Shape = readonly [what: string, of: (n: number) => string]

const BEGIN = '-----BEGIN A-----\n'
const END = '-----END A-----\n'

const scanners: readonly {
  readonly name: string
  readonly run: (text: string, work: Budget) => unknown
  readonly shapes: readonly Shape[]
}[] = [
  {
    name: 'PEM',
    run: pemBlocks,
    shapes: [
      ['blocks that never end', (n) => BEGIN.repeat(n)],
      ['blocks that begin before one end', (n) => BEGIN.repeat(n) + `\n${END}`],
      ['blocks that begin before an end of another type', (n) => BEGIN.repeat(n) + '\n-----END B-----\n'],
      ['headers without an end', (n) => `${BEGIN}a: b\n`.repeat(n)],
      ['one header of colons', (n) => `${BEGIN}${':'.repeat(n)}\n\n${END}`],
      ['ends without a beginning', (n) => `\n${END}`.repeat(n)],
      ['blocks that are whole', (n) => `${BEGIN}AAAA\n${END}`.repeat(n)],
      ['types that begin with another one', (n) => '-----BEGIN '.repeat(n)],
      ['blanks at the end of a line', (n) => `${BEGIN}AAAA\n-----END A-----${' '.repeat(n)}x`],
    ],
  },
  {
    name: 'open brackets before an error of YAML',
    run: openBrackets,
    shapes: [
      ['brackets', (n) => '['.repeat(n)],
      ['brackets that close', (n) => '[]'.repeat(n)],
      ['quotes', (n) => '"'.repeat(n)],
      ['escaped quotes that do not end', (n) => '"' + '\\"'.repeat(n)],
      ['single quotes among double ones', (n) => '"' + `\\"'\\"`.repeat(n)],
      ['an apostrophe before each bracket', (n) => `'"[`.repeat(n)],
    ],
  },
]

describe.each(scanners)('$name', ({ run, shapes }) => {
  test.each(shapes)('%s', (_, of) => {
    const spent = (n: number): number => {
      const work = new Budget()
      run(of(n), work)
      return work.spent
    }
    const [once, twice] = [spent(2_000), spent(4_000)]
    expect(once).toBeGreaterThan(0)
    expect(twice / once).toBeLessThan(2.5)
  })
})
