import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loopsAtOnceOf } from './loops-in-parts.ts'
import { findingsIn } from './own-keys.ts'

const found = [
  'names.flatMap(problemsOf)',
  '(spec.names ?? []).flatMap(problemsOf)',
  'spec.others!.flatMap((name) => problemsOf(name))',
  'names.forEach((name) => errors.push(...problemsOf(name)))',
  'names.forEach((name) => append(errors, problemsOf(name)))',
]
const allowed = [
  'errorsOf(names, problemsOf)',
  "(['a', 'b'] as const).flatMap(problemsOf)",
  'kinds.flatMap(problemsOf)',
  'KINDS.flatMap(problemsOf)',
  'Object.keys(spec).flatMap(problemsOf)',
  'names.flatMap((name) => [name])',
  'names.forEach((name) => seen.add(name))',
  'names.flatMap(problemsOf) // few: two families',
]
const declarations = `
interface FieldError { readonly field: string }
declare const names: readonly string[]
declare const kinds: readonly ('a' | 'b')[]
declare const KINDS: readonly string[]
declare const spec: { readonly names?: string[]; readonly others?: string[] }
declare const problemsOf: (name: string) => FieldError[]
declare const errorsOf: (names: readonly string[], check: (name: string) => FieldError[]) => FieldError[]
declare const append: (to: FieldError[], more: readonly FieldError[]) => void
declare const errors: FieldError[]
declare const seen: Set<string>
export {}
`

const directory = mkdtempSync(join(tmpdir(), 'loops-in-parts-'))
let lines: number[]
const first = declarations.split('\n').length

beforeAll(() => {
  writeFileSync(join(directory, 'planted.ts'), [declarations, ...found, '', ...allowed].join(';\n'))
  const compilerOptions = { target: 'es2024', module: 'esnext', strict: true, noEmit: true, types: [] }
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['planted.ts'] }))
  lines = findingsIn([join(directory, 'tsconfig.json')], () => true, [loopsAtOnceOf]).map(({ line }) => line)
})
afterAll(() => rmSync(directory, { recursive: true }))

test.each(found)('finds %s', (text) => expect(lines).toContain(first + 1 + found.indexOf(text)))

test.each(allowed)('allows %s', (text) => expect(lines).not.toContain(first + 2 + found.length + allowed.indexOf(text)))
