/**
 * docs/architecture.md draws the path of a GET. This test follows the imports, so that the drawing matches the code.
 */
import { fileURLToPath } from 'node:url'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { importsIn } from './layers.ts'

const root = fileURLToPath(new URL('../..', import.meta.url).href)
const sourceOf = (file: string) => readFileSync(root + file, 'utf8')

/** The first file in the second column of each row, from the heading to the next heading. */
const drawn = sourceOf('docs/architecture.md')
  .split('## The path of a request')[1]!
  .split('\n## ')[0]!
  .split('\n')
  .flatMap((line) => /^\| \w[^|]*\| `([^`]+\.ts)`/.exec(line)?.[1] ?? [])

/** Imports from a higher layer, as the page declares them. */
const up = new Set([
  'src/authorization/authorize.ts -> src/tenancy/control-snapshot.ts',
  'src/registry/scope.ts -> src/tenancy/control-snapshot.ts',
])

/** The file that passes a function to another one, where the path does not follow an import. */
const chosen: ReadonlyMap<string, string> = new Map([
  ['src/endpoints/verbs/get.ts', 'src/endpoints/handlers.ts'],
  ['src/storage/shards/shard-client.ts', 'src/storage/environment-storage.ts'],
  ['durable-objects/log.ts', 'durable-objects/shard-parts.ts'],
])

test('is at most fourteen files', () => {
  expect(drawn[0]).toBe('src/index.ts')
  expect(drawn.length).toBeGreaterThan(10)
  expect(drawn.length).toBeLessThanOrEqual(14)
  expect(new Set(drawn).size).toBe(drawn.length)
})

const imports = drawn.flatMap((file) => importsIn(file, sourceOf(file)).filter(({ isType }) => !isType))

test('goes in one direction', () => {
  const pointingUp = imports
    .filter(({ from, to }) => drawn.includes(to) && drawn.indexOf(to) < drawn.indexOf(from))
    .map(({ from, to }) => `${from} -> ${to}`)
  expect(new Set(pointingUp)).toEqual(up)
})

test.each(drawn.slice(1))('%s is reached from a file above it', (file) => {
  const above = drawn.slice(0, drawn.indexOf(file))
  const way = chosen.get(file)
  const reached = (target: string) => imports.some(({ from, to }) => to === target && above.includes(from))
  expect(reached(way ?? file)).toBe(true)
  if (way !== undefined) expect(importsIn(way, sourceOf(way)).some(({ to }) => to === file)).toBe(true)
})
