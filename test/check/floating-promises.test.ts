import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { floatingPromisesOf } from './floating-promises.ts'
import { findingsIn } from './own-keys.ts'

const found = [
  'work()',
  'perhaps()',
  'work().then(next)',
  'known',
  'flag ? work() : undefined',
  'flag && work()',
  'thenable()',
]
const allowed = [
  'await work()',
  'void work()',
  'work().catch(next)',
  'work().then(next, next)',
  'kept = work()',
  'plain()',
]

const declarations = `
declare const work: () => Promise<number>
declare const perhaps: () => number | Promise<number>
declare const thenable: () => PromiseLike<number>
declare const plain: () => number
declare const next: () => void
declare const known: Promise<void>
declare const flag: boolean
let kept: Promise<number>
export {}
`

const directory = mkdtempSync(join(tmpdir(), 'floating-promises-'))
let lines: string[]

beforeAll(() => {
  writeFileSync(join(directory, 'planted.ts'), [declarations, ...found, ...allowed].join('\n'))
  const compilerOptions = { target: 'es2024', module: 'esnext', strict: true, noEmit: true, types: [] }
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['planted.ts'] }))
  lines = findingsIn([join(directory, 'tsconfig.json')], () => true, [floatingPromisesOf]).map(({ text }) => text)
})
afterAll(() => rmSync(directory, { recursive: true }))

test.each(found)('%s is found', (statement) => expect(lines).toContain(statement))
test.each(allowed)('%s is allowed', (statement) => expect(lines).not.toContain(statement))
