// Files that a user may renew while the server runs.
import { unwatchFile, watchFile } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { ownValue } from '../../base/own.ts'

/** Texts, or the paths of files with them, by what they are. */
export type Texts<Name extends string> = Readonly<Record<Name, string>>

/** Milliseconds between two looks at the files. */
const LOOKED_AT_EVERY = 1_000

/**
 * Hands on what the files hold when it is not current any more. Texts with a problem are logged, and the ones before
 * stay: another of the files may change next.
 */
export function followFiles<Name extends string>(
  files: Texts<Name>,
  current: Texts<Name>,
  problemOf: (texts: Texts<Name>) => string | undefined,
  renewed: (texts: Texts<Name>) => void,
  log: (text: string) => void,
): { close(): void } {
  const paths = Object.entries<string>(files)
  let tried = current
  const look = async (): Promise<void> => {
    const read = await Promise.all(paths.map(async ([name, path]) => [name, await readFile(path, 'utf8')] as const))
    if (read.every(([name, text]) => text === ownValue<string>(tried, name))) return
    tried = Object.fromEntries(read) as Texts<Name> // all of the names
    const problem = problemOf(tried)
    if (problem !== undefined) throw new Error(problem)
    renewed(tried)
  }
  let last = Promise.resolve()
  const changed = (): void => {
    last = last.then(look).catch((error: unknown) => log(error instanceof Error ? error.message : String(error)))
  }
  for (const [, path] of paths) watchFile(path, { interval: LOOKED_AT_EVERY, persistent: false }, changed)
  changed() // what has changed since they were read
  return {
    close() {
      for (const [, path] of paths) unwatchFile(path, changed)
    },
  }
}
