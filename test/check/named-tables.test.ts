import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { namedTableProblems, namedTablesOf, policies } from './named-tables.ts'
import { findingsIn } from './own-keys.ts'

/**
 * Statements that the check must find and statements that it must not, a line each. One run of the compiler checks all.
 */
const found = [
  "const a = { 'deployments.apps': 1 }",
  'const b = { Pod: 1, Service: 2 }',
  "const c = new Set(['pods', 'nodes'])",
  "const d = new Map([['pods', 1], ['services', 2]])",
  "const e = { 'pods/exec': 1 }",
  "const l = { 'io.k8s.api.apps.v1.Deployment': 1, 'io.k8s.api.core.v1.Volume': 2 }",
  "const f = (kind: string) => { switch (kind) { case 'Role': return 1; case 'ClusterRole': return 2; default: return 0 } }",
]
const allowed = [
  "const g = { group: 'apps', resource: 'deployments' }",
  'const h = { events: 1 }',
  "const m = { 'io.k8s.api.core.v1.Volume': 1, 'io.k8s.api.core.v1.PodSpec': 2 }",
  'const i = () => ({ pods: 1, nodes: 2 })',
  "const j = { 'things.example.com': 1, other: 2 }",
  "const k = (kind: string) => kind === 'Pod' || kind === 'Service'",
]

const folder = mkdtempSync(join(tmpdir(), 'named-tables-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('tables by names', () => {
  let lines: number[] = []
  beforeAll(() => {
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: { noEmit: true }, include: ['*.ts'] }),
    )
    writeFileSync(join(folder, 'lines.ts'), [...found, ...allowed].join('\n'))
    lines = findingsIn([join(folder, 'tsconfig.json')], () => true, [namedTablesOf]).map(({ line }) => line - 1)
  }, 60_000)

  test.each(found.map((text, line) => [text, line] as const))('%s: found', (_, line) => expect(lines).toContain(line))
  test.each(allowed.map((text, index) => [text, found.length + index] as const))('%s: no table', (_, line) =>
    expect(lines).not.toContain(line),
  )
})

test('a policy may have one, and is left out of the list when it has none any more', () => {
  const [policy = '', ...others] = policies.keys()
  const finding = (file: string) => ({ file: `/x/${file}`, line: 3, text: 'a table by pods', why: 'because' })
  const problems = namedTableProblems([finding(policy), finding('new.ts')], (file) =>
    file.endsWith(basename(policy)) ? policy : basename(file),
  )
  expect(problems).toEqual([
    'new.ts:3: a table by pods — because',
    ...others.map((file) => `${file}: has no table by names any more; leave it out of test/check/named-tables.ts`),
  ])
})
