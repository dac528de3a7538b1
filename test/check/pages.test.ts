/**
 * What the pages list, and what the tree has: scripts, settings, flags, annotations, metrics, layers, plug-ins and
 * controllers. A page that lists all of a kind lists no other, and none is missing.
 */
import { fileURLToPath } from 'node:url'
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, test } from 'vitest'
import { helpFor } from '../../src/cli/help.ts'
import { startFlags } from '../../src/cli/flags/start.ts'
import { notBuiltIn } from '../../src/configuration/controllers.ts'
import { pluginNames, pluginsThatRun } from '../../src/configuration/admission-plugins.ts'
import { levels } from './layers.ts'

const root = fileURLToPath(new URL('../..', import.meta.url).href)
const textOf = (file: string) => readFileSync(root + file, 'utf8')
const pages = [...globSync('docs/*.md', { cwd: root }), 'README.md', 'SECURITY.md', 'CONTRIBUTING.md'].sort()
const allPages = pages.map(textOf).join('\n')
const filesOf = (pattern: string) => globSync(pattern, { cwd: root })
const sources = filesOf('{src,durable-objects}/**/*.{ts,mjs}').map(textOf).join('\n')

/** The distinct first groups of a pattern, sorted. */
const found = (text: string, pattern: RegExp): string[] =>
  [...new Set([...text.matchAll(pattern)].map(([, one = '']) => one))].sort()

/** The text between two others; both must be there. */
function between(text: string, from: string, to: string): string {
  const begin = text.indexOf(from)
  const end = text.indexOf(to, begin + from.length)
  if (begin < 0 || end < 0) throw new Error(`no text from ${JSON.stringify(from)} to ${JSON.stringify(to)}`)
  return text.slice(begin + from.length, end)
}

describe.each(pages)('%s', (page) => {
  const text = textOf(page)

  test('names scripts of package.json', () => {
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
    const named = found(text, /npm run ([\w:]+)/g)
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([])
  })

  test('names settings of src/env.ts, or variables of tests', () => {
    const known = new Set([
      ...found(textOf('src/env.ts'), /readonly (KEDGE_[A-Z_]+)\?/g),
      ...filesOf('{test/**/*.ts,package.json,vitest.config.ts}').flatMap((file) =>
        found(textOf(file), /\b(KEDGE_[A-Z_]+)\b/g),
      ),
    ])
    expect(found(text, /\b(KEDGE_[A-Z_]+)\b/g).filter((name) => !known.has(name))).toEqual([])
  })

  test('starts the server with flags that it has', () => {
    const commands = found(text, /(?:kedge start|npm start --) ([^`#\n]*)/g).join(' ')
    expect(found(commands, /(?<!\S)--([a-z-]+)/g).filter((flag) => !Object.hasOwn(startFlags, flag))).toEqual([])
  })

  test('runs node and kedge by way of npx, which has them', () => {
    const lines = [...text.matchAll(/```sh\n([^]*?)```/g)].flatMap(([, block = '']) => block.split('\n'))
    expect(lines.filter((line) => /^(?:node|kedge) /.test(line))).toEqual([])
    expect(found(text, /`(node [^`]+)`/g)).toEqual([])
  })

  test('names files of the tree where it leaves out their folder', () => {
    const names = new Set(filesOf('{src,durable-objects,migrations,test}/**/*.{ts,mjs}').map((file) => basename(file)))
    expect(found(text, /`([\w-]+\.(?:ts|mjs))`/g).filter((name) => !names.has(name))).toEqual([])
  })
})

test('the help of kedge start explains every flag', () => {
  const help = helpFor('start')
  expect(Object.keys(startFlags).filter((flag) => !new RegExp(`--${flag}(?![-\\w])`).test(help))).toEqual([])
})

test('docs/workloads.md has the annotations of simulated pods', () => {
  const table = between(textOf('docs/workloads.md'), '| Annotation ', '\n\n')
  const read = found(
    textOf('src/controllers/simulation/annotations.ts'),
    /this\.text\(['`]([a-z-]+|\$\{kind\}-probe|usage-\$\{resource\})['`]/g,
  )
  const names = read.flatMap((name) =>
    name.startsWith('$')
      ? ['liveness-probe', 'readiness-probe', 'startup-probe']
      : name.startsWith('usage-')
        ? ['usage-cpu', 'usage-memory']
        : [name],
  )
  expect(found(table, /`kedge\.dev\/([a-z-]+)`/g)).toEqual(names.sort())
})

test("docs/workloads.md counts upstream's tests", () => {
  const section = between(textOf('docs/workloads.md'), "\n## Upstream's own tests", '\n## ')
  const linesOf = (file: string) => textOf(`test/upstream/${file}`).split('\n')
  const [passing, others] = ['tests.txt', 'needs-containers.txt'].map((file) =>
    linesOf(file).filter((line) => line.startsWith('[')),
  ) as [string[], string[]]
  expect(new Set([...passing, ...others]).size).toBe(passing.length + others.length)
  const familyOf = (name: string) => /^\[sig-([a-z-]+)\]/.exec(name)?.[1] ?? name
  const countOf = (names: readonly string[], family: string) => names.filter((name) => familyOf(name) === family).length
  expect(found(section, /^\| ([a-z-]+ +\| \d+ of \d+)/gm).map((row) => row.replace(/ +\| /, ': '))).toEqual(
    [...new Set([...passing, ...others].map(familyOf))]
      .map((family) => [family, countOf(passing, family), countOf(others, family)] as const)
      .map(([family, pass, need]) => `${family}: ${pass} of ${pass + need}`)
      .sort(),
  )
  expect(section).toContain(`Each of these ${passing.length} `)
  expect(section).toContain(`the suite has ${passing.length + others.length}.`)
  expect(section).toContain(`the other ${others.length} `)
  const further = linesOf('further.txt').filter((line) => line.startsWith('['))
  expect(section).toContain(`further.txt\` has ${further.length} tests`)
  const reasons = linesOf('needs-containers.txt').join('\n').split(/^# /m).slice(1)
  const counts = reasons.map((reason) => String(reason.split('\n').filter((line) => line.startsWith('[')).length))
  expect(found(section, /\((\d+)\)/g)).toEqual([...new Set(counts)].sort())
})

test('docs/workloads.md has the controllers that are not built in', () => {
  const list = between(textOf('docs/workloads.md'), '\nNot built in', '\nNames, labels')
  expect(found(list, /`([a-z-]+-controller)`/g)).toEqual([...notBuiltIn].sort())
})

test("docs/discovery-and-openapi.md has Kedge's own metrics", () => {
  const own = found(sources, /'(kedge_[a-z_]+)'/g)
  expect(found(textOf('docs/discovery-and-openapi.md'), /`(kedge_[a-z_]+)`/g)).toEqual(own)
  expect(found(allPages, /`(kedge_[a-z_]+)`/g)).toEqual(own)
})

test('docs/architecture.md has the layers', () => {
  const list = between(textOf('docs/architecture.md'), 'Lowest first: ', '. `src/cli`')
  const named = list.split('; ').map((level) => found(level, /`([a-z0-9-]+)`/g))
  expect(named).toEqual(levels.slice(0, -1).map((names) => [...names].sort()))
})

test('docs/admission.md has the plug-ins that do not run by default', () => {
  const table = between(textOf('docs/admission.md'), '| plug-in ', '\n\n')
  const rows = table
    .split('\n')
    .slice(2)
    .map((row) => row.split('|')[1] ?? '')
  const running = pluginsThatRun({})
  expect(found(rows.join(', '), /(\w+)/g)).toEqual(pluginNames.filter((name) => !running.has(name)).sort())
})
