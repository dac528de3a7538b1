// The data directory: who may use it, and where things are in it.
//
//   kubeconfig   for the administrator
//   pki/         CA, certificates, keys, the administrator's token
//   objects/     the durable objects' databases
//   run/         what only a running server needs; made anew at each start
//   lock         who runs on it
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import * as z from 'zod/mini'
import { checkedOrNot } from '../checked.ts'
import { removeLeftOver } from './left-over-files.ts'
import { makeDirectory } from './make-directory.ts'

export interface DataDirectory {
  readonly path: string
  readonly kubeconfig: string
  readonly pki: string
  readonly objects: string
  readonly run: string
}

export function dataDirectory(path: string): DataDirectory {
  const at = (name: string): string => join(resolve(path), name)
  return { path: resolve(path), kubeconfig: at('kubeconfig'), pki: at('pki'), objects: at('objects'), run: at('run') }
}

/** A process, identified by its number and start time, because numbers are used again. */
const processIdentity = z.object({
  pid: z.number(),
  /** Ticks since boot; '' where the system does not report it. */
  started: z.string(),
})
type ProcessIdentity = Readonly<z.infer<typeof processIdentity>>

const lockFile = z.extend(processIdentity, { engine: z.optional(processIdentity) })
type LockFile = Readonly<z.infer<typeof lockFile>>

export interface Lock {
  /** Notes the engine's process, so that a later start that finds the lock abandoned can end it. */
  engineStarted(pid: number): void
  release(): void
}

/** The directory is in use by another server. */
export class DirectoryInUse extends Error {}

/**
 * Makes the directory and locks it for this process. A lock whose owner has ended is taken over. An engine that the
 * owner left is ended first, because two engines would ruin a database.
 */
export function lockDirectory(directory: DataDirectory): Lock {
  makeDirectory(directory.path, 0o700)
  const file = join(directory.path, 'lock')
  const self: LockFile = identify(process.pid)
  const fresh = `${file}.${process.pid}`
  const write = (lock: LockFile): void => writeFileSync(fresh, JSON.stringify(lock), { mode: 0o600 })
  try {
    for (let attempt = 0; ; attempt++) {
      write(self)
      try {
        linkSync(fresh, file) // fails where there is a lock already, and never shows a half-written one
        break
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
        const owner = readLock(file)
        if (owner && (isRunning(owner) || attempt > 4)) {
          throw new DirectoryInUse(
            `The data directory ${directory.path} is in use by another kedge (process ${owner.pid}). ` +
              `Stop that one first, or choose another directory with --data-dir.`,
          )
        }
        if (owner?.engine) endLeftOver(owner.engine)
        removeAbandoned(file, owner)
      }
    }
  } finally {
    rmSync(fresh, { force: true })
  }
  removeLeftOver([directory.path, directory.pki])
  return {
    engineStarted(pid) {
      write({ ...self, engine: identify(pid) })
      renameSync(fresh, file)
    },
    release() {
      if (readLock(file)?.pid === process.pid) rmSync(file, { force: true })
    },
  }
}

function readLock(file: string): LockFile | undefined {
  try {
    return checkedOrNot(lockFile, JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return undefined
  }
}

/**
 * Removes an abandoned lock. Another start may have removed it already and hold the directory; then its lock is put
 * back.
 */
function removeAbandoned(file: string, judged: LockFile | undefined): void {
  const aside = `${file}.abandoned.${process.pid}`
  try {
    renameSync(file, aside)
    if (readLock(aside)?.pid !== judged?.pid) linkSync(aside, file)
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    rmSync(aside, { force: true })
  }
}

function identify(pid: number): ProcessIdentity {
  return { pid, started: startOf(pid) }
}

/**
 * Field 22 of /proc/PID/stat (proc(5)). The name in field 2 may contain anything but ends with the last parenthesis.
 */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' ? '' : (rest[18] ?? '')
  } catch {
    return ''
  }
}

function isRunning(owner: ProcessIdentity): boolean {
  try {
    process.kill(owner.pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  return startOf(owner.pid) === owner.started
}

function endLeftOver(engine: ProcessIdentity): void {
  const until = performance.now() + 5_000
  while (isRunning(engine) && performance.now() < until) {
    process.kill(engine.pid, 'SIGKILL')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
  }
}
