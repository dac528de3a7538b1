/**
 * Follows docs/extending.md in a copy of the tree: adds a kind, a plug-in, a controller and a setting in the places
 * that the page names and in no others. The copy must compile, pass the checks, and behave as the additions say.
 */
import { fileURLToPath } from 'node:url'
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exampleOf, TEST_FILE, testText, walks } from './additions.ts'
import type { Addition } from './additions.ts'

const root = fileURLToPath(new URL('../..', import.meta.url).href)
const MINUTES = 60_000
/** The whole walk takes half a minute on two processors: `npm run test:extending`. */
const isWhole = process.env.KEDGE_EXTENDING === '1'
const page = readFileSync(`${root}docs/extending.md`, 'utf8')
let copy: string

beforeAll(() => {
  if (!isWhole) return
  copy = mkdtempSync(join(tmpdir(), 'kedge-extending-'))
  for (const name of [
    'src',
    'durable-objects',
    'migrations',
    'docs',
    'test',
    'package.json',
    'tsconfig.json',
    'tsconfig.node.json',
    'vitest.config.ts',
    'README.md',
    'SECURITY.md',
    'CONTRIBUTING.md',
    'wrangler.toml',
  ])
    cpSync(root + name, join(copy, name), { recursive: true })
  symlinkSync(`${root}node_modules`, join(copy, 'node_modules'))
  for (const { additions } of walks)
    for (const addition of additions) writeFileSync(join(copy, addition.file), textWith(addition, copy))
  writeFileSync(join(copy, TEST_FILE), testText)
  writeFileSync(join(copy, 'src/controllers/page-example.ts'), exampleOf(page))
})

afterAll(() => {
  if (isWhole) rmSync(copy, { recursive: true })
})

/** @throws Error if the file is not as additions.ts expects */
function textWith(addition: Addition, tree: string): string {
  if ('text' in addition) return addition.text
  const before = readFileSync(join(tree, addition.file), 'utf8')
  const after =
    'change' in addition ? addition.change(before) : before.replace(addition.before, (found) => addition.insert + found)
  if (after === before) throw new Error(`${addition.file} is not as test/extending/additions.ts knows it`)
  return after
}

/** @returns the output if the program failed */
function run(program: string, ...args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], { cwd: copy, stdio: ['ignore', 'pipe', 'pipe'] })
    const printed: Buffer[] = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => printed.push(chunk))
    child.on('error', reject)
    child.on('close', (code) => resolve(code === 0 ? '' : `exit ${code}: ${Buffer.concat(printed).toString()}`))
  })
}

describe('docs/extending.md', () => {
  const sections = new Map(page.split(/^## /m).map((section) => [section.slice(0, section.indexOf('\n')), section]))

  test.each(walks)('$heading: names every file that is changed', ({ heading, additions }) => {
    const section = sections.get(heading) ?? ''
    const named = (file: string) => section.includes(`\`${file}\``)
    for (const { file, ...addition } of additions) {
      const [, group = '', name = ''] = /^src\/registry\/([^/]+)\/([^/]+)$/.exec(file) ?? []
      const general = name === 'definitions.ts' ? 'src/registry/GROUP/definitions.ts' : 'src/registry/GROUP/RESOURCE.ts'
      // a new file goes into a folder that the page names
      const folder = 'text' in addition && named(file.slice(0, file.lastIndexOf('/') + 1))
      const definition = group !== '' && (named(general) || section.includes('definition of each resource'))
      expect([file, named(file) || folder || definition]).toEqual([file, true])
    }
  })
})

test.each(walks)('$heading: its files have the places that the walk knows', ({ additions }) => {
  for (const addition of additions) expect(textWith(addition, root)).not.toBe('')
})

describe.runIf(isWhole)('a copy of the tree with all that is added', () => {
  test('compiles', async () => expect(await run('node_modules/.bin/tsc', '-p', '.')).toBe(''), 10 * MINUTES)

  test('passes the checks', async () => expect(await run('test/check/run.ts')).toBe(''), 10 * MINUTES)

  test(
    'does what was added',
    async () => expect(await run('node_modules/vitest/vitest.mjs', 'run', '--project', 'node', TEST_FILE)).toBe(''),
    10 * MINUTES,
  )
})
