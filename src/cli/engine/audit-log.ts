// Writes the audit log of a local server. The engine has no file system, so it posts lines to a socket in a directory
// that only the user who started the server may enter. A post is answered when its lines are in the file.
import { listenAt } from './listen-at.ts'
import { makeDirectory } from '../data-directory/make-directory.ts'
import { existsSync, renameSync, rmSync, readdirSync } from 'node:fs'
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { basename, dirname, join, parse } from 'node:path'

export interface AuditLogOptions {
  /** `-` for the standard output. */
  readonly path: string
  /** Bytes after which the file is rotated. */
  readonly maxBytes: number
  /** Rotated files that are kept; the oldest is deleted first. 0 keeps all. */
  readonly maxBackups: number
}

export interface AuditLog {
  /** Posts that wait for the one before. */
  readonly waiting: number
  close(): Promise<void>
}

export async function serveAuditLog(socket: string, options: AuditLogOptions): Promise<AuditLog> {
  const write = options.path === '-' ? toOutput : (await RotatedFile.open(options)).write
  const posts = new Posts(async (request) => write(await bodyOf(request)), options.path)
  const server = createServer((request, answer) => posts.add({ request, answer }))
  await listenAt(server, socket)
  return {
    get waiting() {
      return posts.waiting
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await posts.written
    },
  }
}

interface Post {
  readonly request: IncomingMessage
  readonly answer: ServerResponse
}

/** Writes posts one after the other, so that lines are not mixed. */
class Posts {
  readonly #write: (request: IncomingMessage) => Promise<void>
  readonly #path: string
  /** Those that wait, the first one first. Bound: the senders that are still there; they give up after a while. */
  readonly #waiting = new Set<Post>()
  /** The writing; settles when nothing waits. */
  #writing: Promise<void> | undefined

  constructor(write: (request: IncomingMessage) => Promise<void>, path: string) {
    this.#write = write
    this.#path = path
  }

  get waiting(): number {
    return this.#waiting.size
  }

  get written(): Promise<void> {
    return this.#writing ?? Promise.resolve()
  }

  add(post: Post): void {
    this.#waiting.add(post)
    post.answer.once('close', () => this.#waiting.delete(post))
    this.#writing ??= this.#writeAll()
  }

  async #writeAll(): Promise<void> {
    for (const post of this.#waiting) {
      this.#waiting.delete(post)
      try {
        await this.#write(post.request)
        post.answer.writeHead(204).end()
      } catch (error) {
        console.error(`kedge: the audit log ${this.#path} could not be written: ${String(error)}`)
        post.answer.writeHead(500).end()
      }
    }
    this.#writing = undefined
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  // without an encoding the request's chunks are buffers
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

const toOutput = (lines: Buffer): Promise<void> =>
  new Promise((resolve, reject) => process.stdout.write(lines, (error) => (error ? reject(error) : resolve())))

interface Found {
  readonly isFile: boolean
  /** Bytes. */
  readonly size: number
  readonly isTorn: boolean
}

/** A file that is rotated when it is too large: `audit.log` becomes `audit-TIME.log`. */
class RotatedFile {
  private readonly options: AuditLogOptions
  private file: FileHandle
  /** Devices and pipes have the same place for ever, as /dev/stdout and /dev/null. */
  private readonly isFile: boolean
  private size: number
  /** The file ends in the middle of a line, as after a full disk. Another program may write it, so nothing is cut off. */
  private isTorn: boolean

  private constructor(options: AuditLogOptions, file: FileHandle, { isFile, size, isTorn }: Found) {
    this.options = options
    this.file = file
    this.isFile = isFile
    this.size = size
    this.isTorn = isTorn
  }

  static async open(options: AuditLogOptions): Promise<RotatedFile> {
    makeDirectory(dirname(options.path))
    const file = await open(options.path, 'a', 0o600)
    const found = await file.stat()
    const isFile = found.isFile()
    const isTorn = isFile && found.size > 0 && (await lastOctet(options.path, found.size)) !== NEWLINE
    return new RotatedFile(options, file, { isFile, size: found.size, isTorn })
  }

  readonly write = async (lines: Buffer): Promise<void> => {
    if (this.isFile && this.size > 0 && this.size + lines.length > this.options.maxBytes) await this.rotate()
    const text = this.isTorn ? Buffer.concat([Buffer.of(NEWLINE), lines]) : lines
    this.isTorn = true
    await this.file.appendFile(text)
    this.isTorn = false
    this.size += text.length
  }

  private async rotate(): Promise<void> {
    const { path, maxBackups } = this.options
    const { dir, name, ext } = parse(path)
    const prefix = `${name}-`
    moveAway(
      path,
      freeName((time) => join(dir, `${prefix}${time}${ext}`)),
    )
    const file = await open(path, 'a', 0o600)
    await this.file.close()
    this.file = file
    this.size = 0
    this.isTorn = false
    if (maxBackups === 0) return
    const isBackup = (one: string): boolean =>
      one !== basename(path) && BACKUP.test(one.slice(prefix.length, -ext.length || undefined))
    const backups = readdirSync(dir || '.').filter(
      (one) => one.startsWith(prefix) && one.endsWith(ext) && isBackup(one),
    )
    for (const old of backups.sort().slice(0, -maxBackups)) rmSync(join(dir, old), { force: true })
  }
}

/** The file that was rotated a moment ago may have the name of this millisecond. */
function freeName(nameAt: (time: string) => string): string {
  for (let at = Date.now(); ; at++) {
    const name = nameAt(new Date(at).toISOString().replaceAll(':', '-'))
    if (!existsSync(name)) return name
  }
}

/** A rotation that had no place for the new file has moved the old one already, or another program has. */
function moveAway(path: string, backup: string): void {
  try {
    renameSync(path, backup)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

const NEWLINE = 0x0a

async function lastOctet(path: string, size: number): Promise<number | undefined> {
  const file = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, size - 1)
    return bytesRead === 0 ? undefined : buffer[0]
  } finally {
    await file.close()
  }
}

const BACKUP = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/
