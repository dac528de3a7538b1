import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findingsIn } from './own-keys.ts'
import { askers, implementationProblems, implementationQuestionsOf } from './two-implementations.ts'

const declarations = `
interface Entry { readonly serving: object; readonly listKind: string; readonly definition?: { readonly kind: string } }
interface Rule { readonly definition?: string }
declare const entry: Entry
declare const maybe: Entry | undefined
declare const entries: readonly Entry[]
declare const rule: Rule
declare const builtInServing: object
declare const customServing: object
declare const type: { readonly heldAs: 'typed' | 'unstructured' }
`
const found = [
  'export const a = entry.definition === undefined',
  'export const b = maybe?.definition',
  'export const c = entries.filter(({ definition }) => definition !== undefined)',
  'export const d = (({ definition: one }: Entry) => one)(entry)',
  'export const e = entry.serving === customServing',
  'export const f = builtInServing !== entry.serving',
  "export const f2 = type.heldAs === 'typed'",
  "export function f3() { switch (type.heldAs) { case 'typed': return 1 } }",
]
const allowed = [
  'export const g = rule.definition',
  'export const h = entry.listKind',
  'export const i = { serving: customServing }',
  'export const k = { typed: 1, unstructured: 2 }[type.heldAs]',
  'export const j = [rule].map(({ definition }) => definition)',
]

const folder = mkdtempSync(join(tmpdir(), 'two-implementations-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('which implementation it is', () => {
  let lines: number[] = []
  const first = declarations.split('\n').length - 1
  beforeAll(() => {
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: { noEmit: true, strict: true }, include: ['*.ts'] }),
    )
    writeFileSync(join(folder, 'lines.ts'), declarations + [...found, ...allowed].join('\n'))
    const findings = findingsIn([join(folder, 'tsconfig.json')], () => true, [implementationQuestionsOf])
    lines = findings.map(({ line }) => line - 1 - first)
  }, 60_000)

  test.each(found.map((text, line) => [text, line] as const))('%s: found', (_, line) => expect(lines).toContain(line))
  test.each(allowed.map((text, index) => [text, found.length + index] as const))('%s: no question', (_, line) =>
    expect(lines).not.toContain(line),
  )
})

test('a place that has a reason may ask, and is left out of the list when it asks no more', () => {
  const [asker = '', ...others] = askers.keys()
  const finding = (file: string) => ({ file, line: 3, text: 'entry.definition', why: 'because' })
  expect(implementationProblems([finding(asker), finding('new.ts')], (file) => file)).toEqual([
    'new.ts:3: entry.definition — because',
    ...others.map((file) => `${file}: asks no more; leave it out of test/check/two-implementations.ts`),
  ])
})
