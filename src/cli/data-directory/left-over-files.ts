// Removes what processes left that were killed while they replaced a file. Such a file may have a private key.
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Names that `replaceFile` and `lockDirectory` give to files for a moment, with the number of their process. */
const FOR_A_MOMENT = [/^lock(?:\.abandoned)?\.(\d+)$/, /\.(\d+)\.new$/]

/**
 * Called by the process that has the lock, before it replaces files itself. Other commands may replace files meanwhile.
 * @param directories those that are not there are left out
 */
export function removeLeftOver(directories: readonly string[]): void {
  for (const directory of directories)
    for (const name of namesIn(directory)) {
      const pid = FOR_A_MOMENT.map((form) => form.exec(name)?.[1]).find((found) => found !== undefined)
      if (pid !== undefined && isOver(Number(pid))) rmSync(join(directory, name), { force: true })
    }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    // who needs the directory says what is wrong with it
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}

/** A process in a container has the number that the one before it had. */
function isOver(pid: number): boolean {
  if (pid === process.pid) return true
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
