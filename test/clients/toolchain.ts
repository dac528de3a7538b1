// Languages that a machine may have or not: client suites of those that are missing are skipped, and say so.
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

/** Where suites keep what they build and install: outside the sources, gone with node_modules. */
const CACHE = join(import.meta.dirname, '../../node_modules/.cache/kedge')

/** The directory of that name under the cache; made where it is missing. */
export function cacheDirectory(name: string): string {
  const directory = join(CACHE, name)
  mkdirSync(directory, { recursive: true })
  return directory
}

/** The first of the commands that is there and answers `arguments` with success; undefined where none does. */
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
  /** stdout and stderr as they came. */
  readonly output: string
}

/** Runs a command to its end, without a terminal or input. */
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
