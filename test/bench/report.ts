// What was measured, as a table: a row for each measure, a column for each side.
import { cpus, totalmem } from 'node:os'
import { usage } from './side.ts'
import type { Side } from './side.ts'

export const TURNS = 4

export class Report {
  private readonly rows = new Map<string, Record<string, number>>()

  note({ name }: Side, what: string, value: number): void {
    const row = this.rows.get(what) ?? {}
    this.rows.set(what, { ...row, [name]: value })
    process.stderr.write(`  ${name.padEnd(9)} ${what}: ${rounded(value)}\n`)
  }

  /**
   * Runs a piece of work of each side, in turn and several times, so that a machine that gets slower does so for all.
   * Notes the CPU that a server's processes took, by what was done.
   * @param work returns how much that was
   */
  async inTurn<S extends Side>(sides: readonly S[], what: string, work: (side: S) => Promise<number>): Promise<void> {
    const totals = sides.map((side) => ({ side, cpu: 0, count: 0 }))
    for (let turn = 0; turn < TURNS; turn++)
      for (const total of totals) {
        const before = usage(total.side)?.cpu ?? 0
        total.count += await work(total.side)
        total.cpu += (usage(total.side)?.cpu ?? 0) - before
      }
    for (const { side, cpu, count } of totals)
      if (side.pids.length > 0) this.note(side, `${what}: server CPU, ms each`, (cpu * 1000) / count)
  }

  /** With two sides their ratio: of the second to the first. */
  print(names: readonly string[], heading: string): void {
    const paired = names.length === 2
    console.log(`\n${cpus().length} cores, ${rounded(totalmem() / 1e9)} GB; ${heading}\n`)
    console.log(`| | ${names.join(' | ')} |${paired ? ' ratio |' : ''}`)
    console.log(`|---|${names.map(() => '---|').join('')}${paired ? '---|' : ''}`)
    for (const [what, values] of this.rows) {
      const cells = names.map((name) => (values[name] === undefined ? '' : rounded(values[name])))
      const [first, second] = names.map((name) => values[name])
      const ratio = first === undefined || second === undefined ? '' : (second / first).toFixed(2)
      console.log(`| ${what} | ${cells.join(' | ')} |${paired ? ` ${ratio} |` : ''}`)
    }
  }
}

const rounded = (value: number): string =>
  value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : value >= 0.1 ? 2 : 3)
