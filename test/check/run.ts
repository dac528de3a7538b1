import { fileURLToPath } from 'node:url'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { ambiguousPatternsIn } from './ambiguous-patterns.ts'
import { unboundedIn } from './bounded-state.ts'
import { copiedListsIn } from './copied-lists.ts'
import { keptPromises } from './shared-promises.ts'
import { clockProblemsIn, staleClockPlaces, timeProblemsIn } from './clocks.ts'
import { circleProblems, importsIn, layerProblems } from './layers.ts'
import { floatingPromisesOf } from './floating-promises.ts'
import { namedTableProblems, namedTablesOf } from './named-tables.ts'
import { loopsAtOnceOf } from './loops-in-parts.ts'
import { nestedLookupsIn } from './nested-lookups.ts'
import { findingsIn, unsafeKeysOf } from './own-keys.ts'
import { missingFilesIn } from './named-files.ts'
import { staleWriters, writeProblemsIn } from './one-write-path.ts'
import { hardWordsIn } from './plain-words.ts'
import { spreadArgumentsIn } from './spread-arguments.ts'
import { implementationProblems, implementationQuestionsOf } from './two-implementations.ts'

const root = fileURLToPath(new URL('../..', import.meta.url).href)
const isOurs = (file: string) => /^(src|durable-objects|migrations)\//.test(relative(root, file))
const findings = findingsIn(
  ['tsconfig.json', 'tsconfig.node.json'].map((name) => root + name),
  isOurs,
  [unsafeKeysOf, floatingPromisesOf],
)
const isTest = (file: string) => /^test\//.test(relative(root, file))
const testConfigs = ['test/tsconfig.json', 'test/durable-objects/tsconfig.json'].map((name) => root + name)
findings.push(...findingsIn(testConfigs, isTest, [floatingPromisesOf]))
for (const { file, line, text, why } of findings) console.error(`${relative(root, file)}:${line}: ${text} — ${why}`)
if (findings.length > 0) {
  console.error(`${findings.length} findings (see test/check/own-keys.ts and floating-promises.ts)`)
  process.exit(1)
}

const loops = findingsIn(
  [`${root}tsconfig.json`],
  (file) => /^src\/(?:validation|registry)\//.test(relative(root, file)),
  [loopsAtOnceOf],
)
for (const { file, line, text, why } of loops) console.error(`${relative(root, file)}:${line}: ${text} — ${why}`)
if (loops.length > 0) {
  console.error(`${loops.length} validators go over a client's list at once (see test/check/loops-in-parts.ts)`)
  process.exit(1)
}

const searches = nestedLookupsIn([`${root}tsconfig.json`], (file) =>
  /^(?:src\/(?!cli\/)|durable-objects\/)/.test(relative(root, file)),
)
for (const { file, line, text, why } of searches) console.error(`${relative(root, file)}:${line}: ${text} — ${why}`)
if (searches.length > 0) {
  console.error(`${searches.length} searches in loops may be quadratic (see test/check/nested-lookups.ts)`)
  process.exit(1)
}

const tables = findingsIn(
  [`${root}tsconfig.json`],
  (file) => /^(?:src\/(?!cli\/|registry\/)|durable-objects\/)/.test(relative(root, file)),
  [namedTablesOf],
)
const named = namedTableProblems(tables, (file) => relative(root, file))
for (const problem of named) console.error(problem)
if (named.length > 0) {
  console.error(`${named.length} tables know resources by name (see test/check/named-tables.ts)`)
  process.exit(1)
}

const questions = implementationProblems(
  findingsIn([`${root}tsconfig.json`], isOurs, [implementationQuestionsOf]),
  (file) => relative(root, file),
)
for (const problem of questions) console.error(problem)
if (questions.length > 0) {
  console.error(`${questions.length} questions whether a resource is built in (see test/check/two-implementations.ts)`)
  process.exit(1)
}

const patterns = ambiguousPatternsIn(
  ['tsconfig.json', 'tsconfig.node.json'].map((name) => root + name),
  isOurs,
)
for (const { file, line, text, why } of patterns) console.error(`${relative(root, file)}:${line}: ${text} — ${why}`)
if (patterns.length > 0) {
  console.error(
    `${patterns.length} patterns may take the square of a text's length (see test/check/ambiguous-patterns.ts)`,
  )
  process.exit(1)
}

const spreads = globSync('{src,durable-objects}/**/*.ts', { cwd: root })
  .filter((file) => !file.startsWith('src/cli/'))
  .flatMap((file) => spreadArgumentsIn(readFileSync(root + file, 'utf8')).map((line) => `${file}:${line}`))
for (const place of spreads)
  console.error(
    `${place}: arguments are spread; use append (src/base/append.ts), leastOf or mostOf (src/base/extremes.ts)`,
  )
if (spreads.length > 0) process.exit(1)

const copies = globSync('{src,durable-objects}/**/*.ts', { cwd: root }).flatMap((file) =>
  copiedListsIn(readFileSync(root + file, 'utf8')).map((line) => `${file}:${line}`),
)
for (const place of copies) console.error(`${place}: a list is copied for each item; use addTo (src/base/lookup.ts)`)
if (copies.length > 0) process.exit(1)

const ofCli = globSync('src/cli/**/*.{ts,mjs}', { cwd: root })
const sources = globSync('{src,durable-objects,migrations}/**/*.ts', { cwd: root }).filter(
  (file) => !file.startsWith('src/cli/'),
)
const sourceOf = (file: string) => readFileSync(root + file, 'utf8')
const clocks = [
  ...sources.flatMap((file) => clockProblemsIn(file, sourceOf(file))),
  ...ofCli.flatMap((file) => timeProblemsIn(file, sourceOf(file))),
  ...staleClockPlaces(sourceOf).map((file) => `${file}: takes no clock any more; leave it out of test/check/clocks.ts`),
]
for (const problem of clocks) console.error(problem)
if (clocks.length > 0) process.exit(1)

const writes = [
  ...sources.flatMap((file) => writeProblemsIn(file, sourceOf(file))),
  ...staleWriters(sourceOf).map(
    (file) => `${file}: writes nothing any more; leave it out of test/check/one-write-path.ts`,
  ),
]
for (const problem of writes) console.error(problem)
if (writes.length > 0) process.exit(1)

const imports = sources.flatMap((file) => importsIn(file, sourceOf(file)))
const structure = [...layerProblems(imports), ...circleProblems(imports)]
for (const problem of structure) console.error(problem)
if (structure.length > 0) process.exit(1)

const written = globSync('{src,durable-objects,migrations,docs}/**/*.{ts,md,mjs}', { cwd: root })
const hard = [...written, 'README.md', 'SECURITY.md', 'CONTRIBUTING.md'].flatMap((file) =>
  hardWordsIn(file, sourceOf(file)),
)
for (const place of hard) console.error(place)
if (hard.length > 0) process.exit(1)

const pages = [...globSync('docs/*.md', { cwd: root }), 'README.md', 'SECURITY.md', 'CONTRIBUTING.md']
const missing = pages.flatMap((page) =>
  missingFilesIn(sourceOf(page), (file) => existsSync(root + file) || file.includes('GROUP')).map(
    (file) => `${page} names ${file}, which is not there`,
  ),
)
for (const problem of missing) console.error(problem)
if (missing.length > 0) process.exit(1)

const unbounded = unboundedIn(root)
for (const name of unbounded) console.error(`${name} outlives a request and does not say what bounds it`)
if (unbounded.length > 0) {
  console.error(`${unbounded.length} collections may grow for ever (see test/check/bounded-state.ts)`)
  process.exit(1)
}

const promises = keptPromises(root)
for (const name of promises) console.error(`${name} keeps a promise that may never settle`)
if (promises.length > 0) {
  console.error(`${promises.length} promises outlive their request (see test/check/shared-promises.ts)`)
  process.exit(1)
}
