// Builds the Worker: an ES module, and a chunk for each lazily imported part, the same for Cloudflare and for the
// local engine. `node src/cli/build.ts [--clean]`; --clean also removes the chunks of earlier builds. The engine
// reads the modules at every cold start, so names are short (source maps have the long ones), and tables are text.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'

import * as z from 'zod/mini'
import { checkedOrNot } from './checked.ts'
import { fileOfInput, lazyTables } from './lazy-tables.ts'

export const PROJECT = resolve(import.meta.dirname, '../..')
export const WORKER = join(PROJECT, 'dist', 'worker')

/** The inputs and outputs of the build: `dist/worker/build.json`, written last. */
export interface Build {
  /** Input file, relative to the project → modification time in ms and size in bytes. */
  readonly inputs: Readonly<Record<string, readonly [number, number]>>
  /** File names in dist/worker; the entry is first. */
  readonly modules: readonly string[]
}

/** The build of the present sources. Builds only where a source has changed since the last build. */
export async function upToDateBuild(): Promise<Build> {
  const last = lastBuild()
  return last !== undefined && isFresh(last) ? last : build()
}

/** Bundles the Worker's modules, without writing them to disk. */
export async function bundle() {
  const esbuild = await import('esbuild')
  const result = await esbuild.build({
    absWorkingDir: PROJECT,
    entryPoints: [{ in: 'src/index.ts', out: 'index' }],
    outdir: WORKER,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2024',
    platform: 'browser',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['cloudflare:*'],
    loader: { '.sql': 'text' },
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    minify: true,
    sourcemap: 'linked',
    sourcesContent: false,
    plugins: [lazyTables],
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'silent',
  })
  // else its process, with 190 MB, would stay as long as this one
  await esbuild.stop()
  return result
}

export async function build(): Promise<Build> {
  const result = await bundle()
  mkdirSync(WORKER, { recursive: true })
  const files = result.outputFiles.map((file) => ({ name: basename(file.path), contents: file.contents }))
  files.sort((a, b) => Number(b.name === 'index.js') - Number(a.name === 'index.js'))
  for (const file of files.toReversed()) replaceFile(join(WORKER, file.name), file.contents) // the entry after its imports
  const inputs = Object.keys(result.metafile.inputs)
    .filter((input) => !input.startsWith('<'))
    .map(fileOfInput)
  const made: Build = {
    inputs: Object.fromEntries(
      [...inputs, ...BUILD_FILES].map((input) => {
        const path = relative(PROJECT, resolve(PROJECT, input))
        return [path, fingerprint(path)]
      }),
    ),
    modules: files.map((file) => file.name).filter((name) => !name.endsWith('.map')),
  }
  replaceFile(join(WORKER, 'build.json'), JSON.stringify(made))
  return made
}

/** Inputs of the build besides the Worker's own sources. */
const BUILD_FILES = [
  import.meta.filename,
  join(import.meta.dirname, 'lazy-tables.ts'),
  join(PROJECT, 'package-lock.json'),
].map((file) => relative(PROJECT, file))

const buildFile = z.object({
  inputs: z.record(z.string(), z.tuple([z.number(), z.number()])),
  modules: z.array(z.string()).check(z.minLength(1)),
})

function lastBuild(): Build | undefined {
  try {
    // another release may have written it; where its form differs, a new build follows
    return checkedOrNot(buildFile, JSON.parse(readFileSync(join(WORKER, 'build.json'), 'utf8')))
  } catch {
    return undefined
  }
}

function isFresh(last: Build): boolean {
  try {
    last.modules.forEach((name) => statSync(join(WORKER, name)))
    return Object.entries(last.inputs).every(([input, [time, size]]) => {
      const now = fingerprint(input)
      return now[0] === time && now[1] === size
    })
  } catch {
    return false
  }
}

function fingerprint(input: string): [number, number] {
  const { mtimeMs, size } = statSync(join(PROJECT, input))
  return [mtimeMs, size]
}

/** In one step, so that another process that starts now reads the old file or the new one. */
function replaceFile(path: string, contents: string | Uint8Array): void {
  const fresh = join(dirname(path), `.${basename(path)}.${process.pid}`)
  writeFileSync(fresh, contents)
  renameSync(fresh, path)
}

if (process.argv[1] === import.meta.filename) {
  const made = await build()
  if (process.argv.includes('--clean'))
    for (const name of readdirSync(WORKER))
      if (name !== 'build.json' && !made.modules.includes(name.replace(/\.map$/, ''))) rmSync(join(WORKER, name))
}
