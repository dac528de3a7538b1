// Writes a file that others read, in one step: they find the old one or the new one, also after a full disk or a crash.
import { closeSync, fsyncSync, openSync, realpathSync, renameSync, rmSync, writeSync } from 'node:fs'

/** The file can be read by its owner alone. Where its name is a link, what it leads to is replaced. */
export function replaceFile(path: string, text: string): void {
  const place = placeOf(path)
  const fresh = `${place}.${process.pid}.new`
  try {
    writeThrough(fresh, text)
    renameSync(fresh, place)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw error
  }
}

function placeOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** The text is on the disk before the file gets its name. */
function writeThrough(path: string, text: string): void {
  rmSync(path, { force: true })
  const descriptor = openSync(path, 'wx', 0o600)
  try {
    const octets = Buffer.from(text)
    for (let at = 0; at < octets.length;) at += writeSync(descriptor, octets, at)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
