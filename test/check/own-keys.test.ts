import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findingsIn } from './own-keys.ts'

/** Lines that the check must find and lines that it must not, in one file. One run of the compiler checks all. */
const found = [
  'asked in table',
  "'constructor' in table",
  'table[asked]',
  'table[`${asked}/status`]',
  'table?.[asked]?.length',
  '(table as Record<string, string>)[asked]',
  'closed[asked as keyof typeof closed]',
  'table[asked]!.length',
  "table[asked] = 'x'",
  "table[asked] ??= 'x'",
  'Object.assign(table, other)',
  "Object.assign(table, { [asked]: 'x' })",
  '(<T extends Record<string, string>, K extends keyof T>(object: T, key: K) => object[key])',
  'for (const name of Object.keys(other)) table[name]',
  'Object.keys(other).map((name) => table[name])',
]
const allowed = [
  "'error' in table",
  'list[0]',
  'list[list.length - 1]',
  'closed[known]',
  "table['constructor']",
  'ownValue(table, asked)',
  'delete table[asked]',
  "({ ...table, [asked]: 'x' })",
  "Object.assign(table, { name: 'x' })",
  'for (const name in table) table[name]',
  "for (const name of Object.keys(table).sort()) table[name] = 'x'",
  'Object.keys(table).filter((name) => table[name] !== undefined)',
  'Object.keys(closed).map((name) => closed[name as keyof typeof closed])',
  'table[asked] // own key: a comment says why',
]

const declarations = [
  'declare const table: Record<string, string>',
  'declare const other: Record<string, string>',
  'declare const list: string[]',
  'declare const asked: string',
  "declare const known: 'a' | 'b'",
  'const closed = { a: 1, b: 2 }',
  'declare function ownValue(object: object, key: string): string | undefined',
]

const directory = mkdtempSync(join(tmpdir(), 'own-keys-'))
const file = join(directory, 'planted.ts')
let lines: Map<string, string>

beforeAll(() => {
  const statements = [...found, ...allowed].map((line) =>
    line.startsWith('for') ? line : `void (${line.replace(/ \/\/.*/, '')})${/ \/\/.*/.exec(line)?.[0] ?? ''}`,
  )
  const text = [...declarations, ...statements, 'export {}'].join('\n\n')
  writeFileSync(file, text)
  const compilerOptions = { target: 'es2024', module: 'esnext', strict: true, noEmit: true, types: [] }
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['planted.ts'] }))
  const source = text.split('\n')
  lines = new Map(
    findingsIn([join(directory, 'tsconfig.json')], () => true).map(({ line, why }) => [source[line - 1]!, why]),
  )
})
afterAll(() => rmSync(directory, { recursive: true }))

const isFound = (statement: string) => [...lines.keys()].some((line) => line.includes(statement))

test.each(found)('%s is found', (statement) => expect(isFound(statement)).toBe(true))
test.each(allowed)('%s is allowed', (statement) => expect(isFound(statement)).toBe(false))
test('says what to use instead', () => {
  expect([...new Set(lines.values())].sort()).toEqual([
    'use Object.hasOwn',
    'use a spread',
    'use ownValue',
    'use setOwn',
  ])
})
