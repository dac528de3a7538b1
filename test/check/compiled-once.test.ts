// SQLite's planner looks at the value of `LIMIT ?`. For each call it compiles such a statement again, which takes longer
// than most of them run. It keeps one with `LIMIT ? + 0`.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const folder = join(import.meta.dirname, '../../durable-objects')
const limits = globSync('*.ts', { cwd: folder }).flatMap((file) =>
  readFileSync(join(folder, file), 'utf8')
    .split('\n')
    .filter((line) => /\bLIMIT \?/.test(line) && !/^\s*\*/.test(line))
    .map((line) => `${file}: ${line}`),
)

test('no statement of an object is compiled again for the number of its rows', () => {
  expect(limits.length).toBeGreaterThan(5)
  expect(limits.filter((limit) => !/LIMIT \?\d* \+ 0(?!\d)/.test(limit))).toEqual([])
})
