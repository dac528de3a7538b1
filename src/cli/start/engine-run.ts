/** The files and sockets of one run of the engine, in `run/` of the data directory. */
import { copyFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DataDirectory } from '../data-directory/data-directory.ts'
import { makeDirectory, makePrivateDirectory } from '../data-directory/make-directory.ts'
import { engineConfig } from '../engine/config.ts'
import type { EngineConfig } from '../engine/config.ts'
import { WORKER } from '../fresh-build.mjs'
import type { Build } from '../fresh-build.mjs'
import { workerConfig } from './engine-settings.ts'

export const outgoingSockets = ({ run }: DataDirectory): NonNullable<EngineConfig['outgoingSockets']> => ({
  calls: join(run, 'outgoing.sock'),
  exchanges: join(run, 'exchanges.sock'),
})
export const configurationSocket = (directory: DataDirectory): string => join(directory.run, 'configuration.sock')
export const auditSocket = (directory: DataDirectory): string => join(directory.run, 'audit.sock')

/**
 * Writes the engine's files. The Worker is copied, so that a later build does not change a running server.
 * @returns a function that writes the configuration of one run of the engine, and returns its path
 */
export function prepareRun(
  directory: DataDirectory,
  build: Build,
  sockets: Omit<EngineConfig, 'worker' | 'modules' | 'settings' | 'objects'>,
  own: () => Record<string, string>,
): (key: Uint8Array) => string {
  rmSync(directory.run, { recursive: true, force: true })
  makeDirectory(join(directory.run, 'worker'), 0o700)
  makePrivateDirectory(directory.objects)
  for (const name of build.modules) copyFileSync(join(WORKER, name), join(directory.run, 'worker', name))
  const worker = workerConfig()
  const file = join(directory.run, 'workerd.capnp')
  return (key) => {
    const config = engineConfig({
      worker,
      modules: build.modules,
      settings: {
        ...own(),
        KEDGE_FRONT_KEY: Buffer.from(key).toString('base64'),
        KEDGE_DATABASES: databasesIn(directory.objects).join(','),
      },
      objects: directory.objects,
      ...sockets,
    })
    writeFileSync(file, config, { mode: 0o600 })
    return file
  }
}

/**
 * Ids of the Durable Objects that have a database. Removes empty databases, which shards leave behind whose types are
 * gone. Only while no engine runs.
 */
export function databasesIn(objects: string): string[] {
  const files = readdirSync(objects, { recursive: true, encoding: 'utf8' })
  return files.flatMap((file) => {
    const id = /([0-9a-f]{64})\.sqlite$/.exec(file)?.[1]
    if (id === undefined) return []
    const path = join(objects, file)
    if (!isEmptyDatabase(path)) return [id]
    for (const rest of ['', '-wal', '-shm']) rmSync(`${path}${rest}`, { force: true })
    return []
  })
}

/** Octets of SQLite's page. A table has a page of its own. */
const PAGE = 4096

/**
 * Whether a database has no table: one page, which says so itself, and nothing in the log. A file that was cut off, or
 * is no database, is damage and not empty (https://www.sqlite.org/fileformat.html).
 */
function isEmptyDatabase(path: string): boolean {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })
  if (statSync(path).size !== PAGE || (log !== undefined && log.size > 0)) return false
  const page = readFileSync(path)
  const pages = page.readUInt32BE(28)
  const [kind, entries] = [page.readUInt8(100), page.readUInt16BE(103)]
  return page.toString('latin1', 0, 16) === 'SQLite format 3\0' && pages === 1 && kind === LEAF && entries === 0
}

/** A page of a table without pages below it. */
const LEAF = 0x0d
