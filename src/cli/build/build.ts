// Builds the Worker: an ES module, and a chunk for each lazily imported part, the same for Cloudflare and for the
// local engine. The engine reads the modules at every cold start, so names are short (source maps have the long ones),
// and tables are text. Builds the command line, too. `node src/cli/build/build.ts [--clean | --command-line]`: --clean also
// removes the chunks of earlier builds, --command-line builds nothing else.
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import type { BuildOptions, BuildResult } from 'esbuild'

import { COMMAND_LINE, PROJECT, WORKER, fingerprint, freshBuild } from '../fresh-build.mjs'
import type { Build } from '../fresh-build.mjs'
import { fileOfInput, lazyTables } from './lazy-tables.ts'

/** The build of the present sources. Builds only where a source has changed since the last build. */
export const upToDateBuild = async (): Promise<Build> => freshBuild(WORKER) ?? (await build())

type Bundle = BuildResult<{ metafile: true; write: false }> & {
  /** When esbuild began to read, in milliseconds since 1970. */
  readonly since: number
}

/** Writes nothing to disk. */
async function bundled(options: BuildOptions): Promise<Bundle> {
  const esbuild = await import('esbuild')
  const since = Date.now()
  const result = await esbuild.build({
    ...options,
    absWorkingDir: PROJECT,
    bundle: true,
    splitting: true,
    format: 'esm',
    chunkNames: '[name]-[hash]',
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'silent',
  })
  // else its process, with 190 MB, would stay as long as this one
  await esbuild.stop()
  return { ...result, since }
}

/** Bundles the Worker's modules. */
export const bundle = () =>
  bundled({
    entryPoints: [{ in: 'src/index.ts', out: 'index' }],
    outdir: WORKER,
    target: 'es2024',
    platform: 'browser',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['cloudflare:*'],
    loader: { '.sql': 'text' },
    assetNames: '[name]-[hash]',
    minify: true,
    sourcemap: 'linked',
    sourcesContent: false,
    plugins: [lazyTables],
  })

export const build = async (): Promise<Build> => written(WORKER, 'index.js', await bundle())

/** The command line as JavaScript that can be read: Node takes a third of the time for it, and 40 MB less. */
export const buildCommandLine = async (): Promise<Build> =>
  written(
    COMMAND_LINE,
    'main.js',
    await bundled({
      entryPoints: ['src/cli/main.ts'],
      outdir: COMMAND_LINE,
      target: 'node22',
      platform: 'node',
      external: ['esbuild'],
    }),
  )

/** Inputs of each build besides what it bundles. */
const BUILD_FILES = ['src/cli/build/build.ts', 'src/cli/build/lazy-tables.ts', 'package-lock.json']

/** @param entry the output that the others are imported from */
function written(directory: string, entry: string, { outputFiles, metafile, since }: Bundle): Build {
  mkdirSync(directory, { recursive: true })
  const files = outputFiles.map((file) => ({ name: basename(file.path), contents: file.contents }))
  files.sort((a, b) => Number(b.name === entry) - Number(a.name === entry))
  for (const file of files.toReversed()) replaceFile(join(directory, file.name), file.contents) // the entry after its imports
  const inputs = Object.keys(metafile.inputs)
    .filter((input) => !input.startsWith('<'))
    .map(fileOfInput)
  const made: Build = {
    inputs: Object.fromEntries(
      [...inputs, ...BUILD_FILES].map((input) => {
        const path = relative(PROJECT, resolve(PROJECT, input))
        return [path, fingerprintAsRead(path, since)]
      }),
    ),
    modules: files.map((file) => file.name).filter((name) => !name.endsWith('.map')),
  }
  replaceFile(join(directory, 'build.json'), JSON.stringify(made))
  return made
}

/** Equals that of no file. */
const NEVER: readonly [number, number] = [-1, -1]

/** A source that changed while esbuild read may be in the build as it was before, so it never counts as built. */
export function fingerprintAsRead(path: string, since: number): readonly [number, number] {
  const found = fingerprint(path)
  const [changedAt] = found
  return since <= changedAt && changedAt <= Date.now() ? NEVER : found
}

/** In one step, so that another process that starts now reads the old file or the new one. */
function replaceFile(path: string, contents: string | Uint8Array): void {
  const fresh = join(dirname(path), `.${basename(path)}.${process.pid}`)
  writeFileSync(fresh, contents)
  renameSync(fresh, path)
}

/** Chunks of earlier builds may still be imported by a server that runs. */
function removeOthers(directory: string, { modules }: Build): void {
  for (const name of readdirSync(directory))
    if (name !== 'build.json' && !modules.includes(name.replace(/\.map$/, ''))) rmSync(join(directory, name))
}

if (process.argv[1] === join(PROJECT, 'src/cli/build/build.ts')) {
  const [mode] = process.argv.slice(2)
  const commandLine = await buildCommandLine()
  if (mode !== '--command-line') {
    const worker = await build()
    if (mode === '--clean') {
      removeOthers(COMMAND_LINE, commandLine)
      removeOthers(WORKER, worker)
    }
  }
}
