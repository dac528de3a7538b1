// `kedge backup` and `kedge restore`: copies a control plane to a file and back, through the running server.
import { createHash } from 'node:crypto'
import { closeSync, createReadStream, createWriteStream, openSync, readFileSync, realpathSync } from 'node:fs'
import { readSync, renameSync, rmSync, statSync } from 'node:fs'
import { Agent, request } from 'node:https'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { load } from 'js-yaml'
import * as z from 'zod/mini'
import { messageOf } from '../ask.ts'
import { checked } from '../checked.ts'
import { ADMINISTRATOR, CLUSTER } from '../data-directory/kubeconfig.ts'

export interface Server {
  readonly url: string
  readonly token: string
  readonly authority: string
}

/**
 * The form in which kubeconfig.ts writes it. kubectl rewrites it in YAML when the owner adds contexts or chooses a
 * namespace.
 */
const kubeconfigFile = z.object({
  clusters: z.array(z.object({ name: z.string(), cluster: z.looseObject({ server: z.string() }) })),
  users: z.array(z.object({ name: z.string(), user: z.looseObject({}) })),
})
const own = z.object({
  server: z.string(),
  'certificate-authority-data': z.string(),
  token: z.string(),
})

/** The server in the kubeconfig that `kedge start` wrote. */
export function serverOf(kubeconfig: string): Server {
  const { clusters, users } = checked(kubeconfigFile, load(readFileSync(kubeconfig, 'utf8')), kubeconfig)
  const cluster = clusters.find(({ name }) => name === CLUSTER)?.cluster
  const user = users.find(({ name }) => name === ADMINISTRATOR)?.user
  const found = checked(own, { ...cluster, ...user }, kubeconfig)
  return {
    url: found.server,
    token: found.token,
    authority: Buffer.from(found['certificate-authority-data'], 'base64').toString(),
  }
}

/** Only a complete backup gets the file's name. A device or a pipe takes it as it comes, and is never replaced. */
export async function backup(server: Server, file: string): Promise<void> {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found?.isDirectory() === true) throw new Error(`${file} is a directory. A backup wants the name of a file.`)
  const response = await ask(server, 'GET', '/backup')
  const progress = new Progress('Backed up', undefined)
  if (found !== undefined && !found.isFile()) {
    const problem = await save(response, progress, file, {})
    if (problem !== undefined) throw new Error(`The backup is not whole, and what ${file} got is of no use: ${problem}`)
    return progress.done(file, console.error) // the file may be the standard output
  }
  const whole = found === undefined ? file : realpathSync(file)
  // of this process, because another backup may have the same file
  const partial = `${whole}.${process.pid}.partial`
  try {
    const problem = await save(response, progress, partial, { mode: 0o600, flush: true })
    if (problem !== undefined) throw new Error(`The backup is not whole, and ${file} was not written: ${problem}`)
    renameSync(partial, whole)
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  }
  progress.done(file)
}

/**
 * @returns why the backup is not whole
 * @throws the error of the disk
 */
async function save(
  response: IncomingMessage,
  progress: Progress,
  file: string,
  options: { readonly mode?: number; readonly flush?: boolean },
): Promise<string | undefined> {
  const { signal, release } = interruption()
  // however the connection ended, the last line says whether the backup is complete
  const broken = await pipeline(response, progress, createWriteStream(file, options), { signal }).then(
    () => undefined,
    (error: unknown) => error,
  )
  release()
  if (isFileError(broken)) throw broken
  return signal.aborted ? 'it was interrupted' : problemIn(progress.tail)
}

/** Ends the work instead of the process, so that nothing stays of it. */
function interruption() {
  const controller = new AbortController()
  const interrupt = (): void => controller.abort()
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.once(signal, interrupt)
  return {
    signal: controller.signal,
    release: () => signals.forEach((signal) => process.removeListener(signal, interrupt)),
  }
}

/** endpoints/backup/restore.ts answers it. */
const restored = z.object({ objects: z.number(), unserved: z._default(z.array(z.string()), []) })

const REPEAT = 'Run the same command again, or give the restore up with "kedge restore --abandon".'

export async function restore(server: Server, file: string): Promise<void> {
  const found = statSync(file)
  // its end is read before the rest
  if (!found.isFile()) throw new Error(`${file} is no file, and a backup is restored from a file.`)
  const { size } = found
  const tail = tailOf(file, size)
  const problem = problemIn(tail) ?? (await damageOf(file, size, tail))
  if (problem !== undefined) throw new Error(`${file} is no whole backup, and nothing was restored: ${problem}`)
  const progress = new Progress('Restored', size)
  try {
    const response = await ask(server, 'POST', '/restore', createReadStream(file).pipe(progress))
    const { objects, unserved } = checked(restored, JSON.parse(await textOf(response)), 'the answer to the restore')
    progress.done(`${objects} objects`)
    if (unserved.length > 0)
      console.log(`Nothing defines ${unserved.join(', ')}: their objects are kept, and served once something does.`)
  } catch (error) {
    if (error instanceof Refused) throw error
    throw new Error(
      `The connection ended after ${megabytes(progress.bytes)} and before the end of the restore (${textOfError(error)}). ${REPEAT}`,
    )
  }
}

/** Gives up a restore that cannot be finished, and leaves an empty control plane. */
export async function abandonRestore(server: Server): Promise<void> {
  await textOf(await ask(server, 'POST', '/restore?abandon=true'))
  console.log('The restore was given up: the control plane is empty.')
}

/** The error in the last line; undefined where the backup is complete. */
function problemIn(tail: string): string | undefined {
  const last = tail.trimEnd().split('\n').at(-1) ?? ''
  if (last.startsWith('{"end":true,')) return undefined
  const [, message] = /^\{"error":(".*")\}$/.exec(last) ?? []
  if (message !== undefined) return `the server could not go on: ${String(JSON.parse(message))}`
  return 'its end is missing. Was the server stopped, or the file cut off?'
}

/** The server looks at the digest too, but only when it has emptied the control plane and read everything. */
async function damageOf(file: string, size: number, tail: string): Promise<string | undefined> {
  const end = tail.trimEnd()
  const last = end.slice(end.lastIndexOf('\n') + 1)
  const read = lastLine.safeParse(last)
  if (!read.success) return 'its last line is damaged'
  const { sha256 } = read.data
  if (sha256 === undefined) {
    console.error(
      `${file} has no SHA-256: an earlier release wrote it, and nothing tells whether it was changed since.`,
    )
    return undefined
  }
  const hash = createHash('sha256')
  const before = size - tail.length + end.length - last.length
  // read without an encoding
  if (before > 0) for await (const bytes of createReadStream(file, { end: before - 1 })) hash.update(bytes as Buffer)
  return hash.digest('hex') === sha256 ? undefined : 'it was changed since it was written (its SHA-256 is another)'
}

/** endpoints/backup/format.ts: End */
const lastLine = z.pipe(
  z.pipe(z.string(), z.transform(jsonIn)),
  z.strictObject({ end: z.literal(true), objects: z.number(), sha256: z.optional(z.string()) }),
)

/** Undefined for a text that is no JSON. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const TAIL_BYTES = 4096

function tailOf(file: string, size: number): string {
  const descriptor = openSync(file, 'r')
  try {
    const tail = Buffer.alloc(Math.min(TAIL_BYTES, size))
    readSync(descriptor, tail, 0, tail.length, size - tail.length)
    return tail.toString('latin1')
  } finally {
    closeSync(descriptor)
  }
}

/** Whether the error is the disk's and not that of the connection, from which a backup is only read. */
const isFileError = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && ['open', 'write', 'fsync', 'close'].includes(String(error.syscall))

const textOfError = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The server has answered with an error. */
class Refused extends Error {}

/** Milliseconds to wait for an answer after the connection broke. */
const ANSWER_MS = 200

function ask(
  { url, token, authority }: Server,
  method: string,
  path: string,
  body?: Readable,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const agent = new Agent({ ca: authority })
    const headers = { Authorization: `Bearer ${token}` }
    const sent = request(url + path, { method, agent, headers }, (response) => {
      if (response.statusCode === 200) return resolve(response)
      textOf(response).then((text) => reject(new Refused(messageOf(text))), reject)
    })
    // a server that refuses a body closes the connection before all is sent; its answer counts
    sent.on('error', (error) => setTimeout(() => reject(error), ANSWER_MS))
    if (body === undefined) sent.end()
    else body.pipe(sent)
  })
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of response) text += String(chunk)
  return text
}

/** Shows progress on a terminal, and passes all data through. */
class Progress extends Transform {
  tail = ''
  bytes = 0
  private printedAt = 0

  private readonly what: string
  /** The expected bytes, where known. */
  private readonly of: number | undefined

  constructor(what: string, of: number | undefined) {
    super()
    this.what = what
    this.of = of
  }

  override _transform(chunk: Buffer, _encoding: string, next: (error: null, chunk: Buffer) => void): void {
    this.bytes += chunk.length
    this.tail = (this.tail + chunk.toString('latin1')).slice(-TAIL_BYTES)
    if (process.stderr.isTTY && performance.now() - this.printedAt > 200) {
      this.printedAt = performance.now()
      const part = this.of === undefined ? '' : ` of ${megabytes(this.of)}`
      process.stderr.write(`\r${this.what} ${megabytes(this.bytes)}${part} …`)
    }
    next(null, chunk)
  }

  done(where: string, say: (text: string) => void = console.log): void {
    if (process.stderr.isTTY) process.stderr.write('\r')
    say(`${this.what} ${megabytes(this.bytes)}: ${where}`)
  }
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
