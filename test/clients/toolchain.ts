// Finds language toolchains. Client suites whose toolchain is missing are skipped, with the reason.
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

/** The directory for what suites build and install: outside the sources, and removed with node_modules. */
const CACHE = join(import.meta.dirname, '../../node_modules/.cache/kedge')

/** The directory with this name in the cache, created if it is missing. */
export function cacheDirectory(name: string): string {
  const directory = join(CACHE, name)
  mkdirSync(directory, { recursive: true })
  return directory
}

/** The first of the commands that exits with success when run with `arguments`; undefined if none does. */
export function findToolchain(commands: readonly string[], ...arguments_: string[]): string | undefined {
  return commands.find((command) => {
    try {
      execFileSync(command, arguments_, { stdio: 'ignore', timeout: 60_000 })
      return true
    } catch {
      return false
    }
  })
}

export interface Finished {
  readonly code: number | null
  /** stdout and stderr in the order in which they came. */
  readonly output: string
}

/** Runs a command until it ends, without a terminal or input. */
export function run(
  command: string,
  arguments_: readonly string[],
  options: { readonly cwd: string; readonly env?: Record<string, string> },
): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, arguments_, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    const read = (text: string): void => {
      output += text
    }
    child.stdout.setEncoding('utf8').on('data', read)
    child.stderr.setEncoding('utf8').on('data', read)
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, output }))
  })
}
