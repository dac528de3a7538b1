// The engine reads, compiles and runs this code at every start, before any request.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import type { Metafile, OutputFile } from 'esbuild'
import { beforeAll, describe, expect, test } from 'vitest'
import { bundle } from '../../../src/cli/build/build.ts'
import { PROJECT } from '../../../src/cli/fresh-build.mjs'
import { lazyTable } from '../../../src/cli/build/lazy-tables.ts'

const LIMIT = 1_000_000

let files: ReadonlyMap<string, OutputFile>
let outputs: Metafile['outputs']
/** The entry and all modules that it imports statically. */
let always: readonly string[]

beforeAll(async () => {
  const { outputFiles, metafile } = await bundle()
  outputs = metafile.outputs
  files = new Map(Object.keys(outputs).map((path) => [path, outputFiles.find((file) => file.path.endsWith(path))!]))
  always = reached(Object.keys(outputs).find((path) => path.endsWith('/index.js'))!)
}, 60_000)

function reached(path: string, found: string[] = []): string[] {
  if (found.includes(path) || outputs[path] === undefined) return found
  found.push(path)
  for (const { path: imported, kind } of outputs[path].imports)
    if (kind === 'import-statement') reached(imported, found)
  return found
}

const loadedInputs = () => always.flatMap((path) => Object.keys(outputs[path]!.inputs))

test('the modules that are always loaded stay below the limit', () => {
  const bytes = always.map((path) => gzipSync(files.get(path)!.contents, { level: 9 }).length)
  expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(LIMIT)
})

test.each([
  ['what reads YAML', /node_modules\/js-yaml|codec\/yaml\.ts/],
  ['what reads patterns', /node_modules\/re2js/],
  ['what reads signatures', /node_modules\/jose/],
  ['what makes OpenAPI documents', /openapi\/(?:documents|operations|protobuf|texts)\.ts/],
  ['the tables of texts and of first objects', /(?:texts|bootstrap)-table/],
])('%s is loaded on demand', (_, input) => {
  expect(Object.keys(outputs).flatMap((path) => Object.keys(outputs[path]!.inputs))).toContainEqual(
    expect.stringMatching(input),
  )
  expect(loadedInputs().filter((one) => input.test(one))).toEqual([])
})

test('modules are ASCII: anything else doubles what the engine reads', () => {
  for (const path of always) expect(/[^\0-\x7f]/.exec(files.get(path)!.text)?.[0], path).toBeUndefined()
})

test('no literal of a regular expression names a class of Unicode: the engine would build it while it reads it', () => {
  const sources = ['src', 'durable-objects', 'migrations'].flatMap((folder) =>
    readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.startsWith('cli'))
      .map((name) => join(PROJECT, folder, name)),
  )
  const isComment = (line: string) => /^\s*(?:\/?\*|\/\/)/.test(line)
  const lines = sources.flatMap((path) => readFileSync(path, 'utf8').split('\n'))
  const code = lines.filter((line) => !isComment(line)).map((line) => line.replace(/String\.raw`[^`]*`/g, ''))
  expect(code.filter((line) => /\\[pP]\{/.test(line))).toEqual([])
})

test('loading the modules parses no table but a small one', () => {
  const parsed = lengthsParsedByLoading()
  expect(parsed.length).toBeGreaterThan(0) // the feature gates are parsed as a whole, so this shows that the spy works
  expect(parsed.filter((length) => length > 10_000)).toEqual([])
})

/** Loads the modules in a separate process. @returns the length of each text that JSON.parse gets meanwhile */
function lengthsParsedByLoading(): number[] {
  const directory = mkdtempSync(join(tmpdir(), 'kedge-bundle-'))
  try {
    writeFileSync(join(directory, 'package.json'), '{"type": "module"}')
    writeFileSync(join(directory, 'platform.js'), 'export class DurableObject {}')
    for (const path of always)
      writeFileSync(
        join(directory, basename(path)),
        files.get(path)!.text.replaceAll('cloudflare:workers', './platform.js'),
      )
    writeFileSync(
      join(directory, 'load.js'),
      `const lengths = []
      const { parse } = JSON
      JSON.parse = (text, ...rest) => (lengths.push(text.length), parse(text, ...rest))
      await import('./index.js')
      console.log(JSON.stringify(lengths))`,
    )
    return JSON.parse(execFileSync(process.execPath, [join(directory, 'load.js')], { encoding: 'utf8' })) as number[]
  } finally {
    rmSync(directory, { recursive: true })
  }
}

describe('a table', () => {
  const evaluated = (source: string) => {
    const parsed: string[] = []
    const module = source.replace('export default', 'result =')
    const context = {
      result: undefined as unknown,
      JSON: { parse: (text: string): unknown => (parsed.push(text), JSON.parse(text)) },
    }
    runInNewContext(module, context)
    return { table: context.result as Record<string, unknown>, parsed }
  }

  test('is parsed when a member is first read, and once', () => {
    const { table, parsed } = evaluated(lazyTable('{"a": [1], "b c": {"d": 2}}'))
    expect(parsed).toEqual([])
    expect(table['a']).toEqual([1])
    expect(table['b c']).toEqual({ d: 2 })
    expect(Object.keys(table)).toEqual(['a', 'b c'])
    expect(parsed).toHaveLength(1)
  })

  test('of a few long texts stays a literal', () => {
    const json = JSON.stringify({ texts: ['x'.repeat(1000), 'y'.repeat(1000)] })
    expect(evaluated(lazyTable(json))).toEqual({ table: JSON.parse(json) as unknown, parsed: [] })
  })

  test.each([['[1, 2]'], [JSON.stringify(Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`k${n}`, n])))]])(
    'of many members is what it is: %.20s',
    (json) => {
      expect(JSON.stringify(evaluated(lazyTable(json)).table)).toBe(JSON.stringify(JSON.parse(json)))
    },
  )
})
