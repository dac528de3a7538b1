import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { nestedLookupsIn } from './nested-lookups.ts'

/** Lines that the check must find and lines that it must not, in one file. One run of the compiler checks all. */
const found = [
  'names.map((name) => others.includes(name))',
  'names.map((name, index) => names.indexOf(name) < index)',
  'names.filter((name, index) => names.slice(0, index).some((other) => other === name))',
  'names.flatMap((name) => (object.names ?? []).find((other) => other === name))',
  'names.flatMap((name) => Object.keys(object).includes(name))',
  'for (const name of names) if (others.includes(name)) break',
  'for (const name in object) if (others.includes(name)) break',
  'for (let at = 0; at < names.length; at++) if (others.includes(names[at]!)) break',
  '(() => { const isKnown = (name: string) => others.includes(name); return names.filter(isKnown) })()',
]
const allowed = [
  'others.includes(names[0]!)',
  'names.map((name) => name.includes("a"))',
  'names.map((name) => name.split("/").filter((part) => part !== ""))',
  'lists.map((list) => list.includes("a"))',
  'names.map((name) => listOf(name).includes("a"))',
  'names.map((name) => source.listOf(name).includes("a"))',
  'names.map((name) => KNOWN.includes(name))',
  'names.map((name) => known.includes(name))',
  'names.map(() => letters.includes("a"))',
  '["a", "b"].map((name) => others.includes(name))',
  'KNOWN.map((name) => others.includes(name))',
  'names.map((name) => set.has(name))',
  'names.map((name) => others.includes(name)) // few: a comment says why',
]

const declarations = [
  'declare function listOf(name: string): string[]',
  'declare const source: { listOf(name: string): string[] }',
  'const known = ["a", "b"]',
  'const KNOWN = ["a", "b"]',
  'export function inside(object: { names?: string[] }, names: string[], others: string[], lists: string[][], set: Set<string>, letters: ("a" | "b")[]) {',
]

const directory = mkdtempSync(join(tmpdir(), 'nested-lookups-'))
let lines: ReadonlySet<string>

beforeAll(() => {
  const statements = [...found, ...allowed].map((line) => (line.startsWith('for') ? line : `;${line}`))
  const text = [...declarations, ...statements, '}'].join('\n\n')
  writeFileSync(join(directory, 'planted.ts'), text)
  const compilerOptions = { target: 'es2024', module: 'esnext', strict: true, noEmit: true, types: [] }
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['planted.ts'] }))
  const source = text.split('\n')
  lines = new Set(
    nestedLookupsIn([join(directory, 'tsconfig.json')], () => true).map(({ line }) =>
      source[line - 1]!.replace(/^;/, ''),
    ),
  )
})
afterAll(() => rmSync(directory, { recursive: true }))

test.each(found)('%s is found', (line) => expect(lines).toContain(line))
test.each(allowed)('%s is allowed', (line) => expect(lines).not.toContain(line))
