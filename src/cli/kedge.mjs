#!/usr/bin/env node
// Starts the command line (main.ts), bundled: Node reads that in a third of the time, and needs 40 MB less than for some
// 250 files, most of them TypeScript. A Node older than 22.18 hands over to the Node that the project brings along.
import { spawn, spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major > 22 || (major === 22 && minor >= 18)) {
  const { main } = await commandLine()
  await main(process.argv.slice(2))
} else {
  const newer = bundledNode()
  if (newer === undefined) {
    console.error(
      `kedge: Node ${process.versions.node} is too old. Use Node 22.18 or newer, or run "npm install" on Linux, which brings one along.`,
    )
    process.exit(1)
  }
  // The channel tells the child when this process is gone.
  const child = spawn(newer, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  // Ctrl-C reaches both, and a supervisor's signal this one alone. The other ends once, however often it is told.
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
    process.on(signal, () => child.kill(signal))
  child.on('exit', (code) => process.exit(code ?? 1))
}

function bundledNode() {
  try {
    return createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/bin/node`)
  } catch {
    return undefined
  }
}

/** From the sources where nothing can be built, as in a directory that cannot be written. */
async function commandLine() {
  const { COMMAND_LINE, freshBuild } = await import('./fresh-build.mjs')
  const [entry] = (freshBuild(COMMAND_LINE) ?? (isBuilt() ? freshBuild(COMMAND_LINE) : undefined))?.modules ?? []
  return entry === undefined ? import('./main.ts') : import(pathToFileURL(join(COMMAND_LINE, entry)).href)
}

/** In a process of its own: what a build needs would stay in this one. */
function isBuilt() {
  const builder = fileURLToPath(new URL('build/build.ts', import.meta.url))
  return spawnSync(process.execPath, [builder, '--command-line'], { stdio: 'ignore', timeout: 60_000 }).status === 0
}
