// A table of results, with a row for each measure and a column for each side, and its place in the README.
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
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
   * Runs each side's work in turn and several times, so that a machine that slows down affects all sides. Notes the CPU
   * time of a server's processes for each unit of work.
   * @param work returns how many units it did
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

  /**
   * A table with the ratio of the second side to the first, if there are two.
   * @param isWanted selects the rows
   */
  table(names: readonly string[], isWanted: (what: string) => boolean = () => true): string {
    const paired = names.length === 2
    const rows = [...this.rows]
      .filter(([what]) => isWanted(what))
      .map(([what, values]) => {
        const cells = names.map((name) => (values[name] === undefined ? '' : rounded(values[name])))
        const [first, second] = names.map((name) => values[name])
        const ratio = first === undefined || second === undefined ? '' : (second / first).toFixed(2)
        return [what, ...cells, ...(paired ? [ratio] : [])]
      })
    return table(['', ...names, ...(paired ? ['ratio'] : [])], rows)
  }
}

/** A Markdown table with padded columns, as prettier formats it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, column) => Math.max(3, cell.length, ...rows.map((row) => row[column]!.length)))
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

export const machine = (): string => `${cpus().length} cores and ${(totalmem() / 1e9).toFixed(0)} GB`

/** Writes the content between the comments `<!-- NAME -->` and `<!-- end of NAME -->` of the README. */
export function writeReadme(name: string, content: string): void {
  const file = join(import.meta.dirname, '../../README.md')
  const readme = readFileSync(file, 'utf8')
  const [begin, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`]
  const [from, to] = [readme.indexOf(begin), readme.indexOf(end)]
  if (from < 0 || to < 0) throw new Error(`the README has no place for the ${name}`)
  writeFileSync(file, `${readme.slice(0, from + begin.length)}\n\n${content}\n\n${readme.slice(to)}`)
}

const rounded = (value: number): string =>
  value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : value >= 0.1 ? 2 : 3)
