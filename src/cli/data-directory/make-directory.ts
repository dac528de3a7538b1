// Makes a directory and what is missing above it. Node's own way (`recursive: true`) tries for ever where a file system
// has the parent and says that it has not, as /proc does.
import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * @param mode of each directory that is made; one that is there keeps its own
 * @throws the error of the system
 */
export function makeDirectory(path: string, mode = 0o777): void {
  if (isDirectory(path)) return
  try {
    mkdirSync(path, mode)
  } catch (error) {
    // another process may have made it meanwhile
    if (isDirectory(path)) return
    const parent = dirname(path)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path || isDirectory(parent)) throw error
    makeDirectory(parent, mode)
    makeDirectory(path, mode)
  }
}

/** For its owner alone, also where it is there: a copy of a data directory may have come without its modes. */
export function makePrivateDirectory(path: string): void {
  makeDirectory(path, 0o700)
  if ((statSync(path).mode & 0o077) === 0) return
  try {
    chmodSync(path, 0o700)
  } catch (error) {
    console.error(`kedge: others may read ${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const isDirectory = (path: string): boolean => {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
  } catch {
    return false
  }
}
