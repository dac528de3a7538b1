// `kedge backup` and `kedge restore`: a control plane to a file and back, through the running server.
import { createReadStream, createWriteStream, renameSync, rmSync, statSync } from 'node:fs'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'

interface Server {
  readonly url: string
  readonly token: string
  readonly authority: string
}

/** Of the kubeconfig that `kedge start` wrote. */
export function serverOf(kubeconfig: string): Server {
  interface Config {
    readonly clusters: readonly { cluster: { server: string; 'certificate-authority-data': string } }[]
    readonly users: readonly { user: { token: string } }[]
  }
  // written by kubeconfig.ts, in JSON
  const { clusters, users } = JSON.parse(readFileSync(kubeconfig, 'utf8')) as Config
  const { cluster } = clusters[0]!
  return {
    url: cluster.server,
    token: users[0]!.user.token,
    authority: Buffer.from(cluster['certificate-authority-data'], 'base64').toString(),
  }
}

/** Only a whole backup gets the file's name. */
export async function backup(server: Server, file: string): Promise<void> {
  const response = await ask(server, 'GET', '/backup')
  const partial = `${file}.partial`
  try {
    const progress = new Progress('Backed up', undefined)
    await pipeline(response, progress, createWriteStream(partial, { mode: 0o600 }))
    if (!progress.tail.includes('"end":true')) throw new Error('the server broke off in the middle of the backup')
    renameSync(partial, file)
    progress.done(file)
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  }
}

export async function restore(server: Server, file: string): Promise<void> {
  const progress = new Progress('Restored', statSync(file).size)
  const response = await ask(server, 'POST', '/restore', createReadStream(file).pipe(progress))
  const { objects } = JSON.parse(await textOf(response)) as { objects: number }
  progress.done(`${objects} objects`)
}

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
      textOf(response).then((text) => reject(new Error(messageOf(text))), reject)
    })
    sent.once('error', reject)
    if (body === undefined) sent.end()
    else body.pipe(sent)
  })
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of response) text += String(chunk)
  return text
}

function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { message: string }).message
  } catch {
    return text
  }
}

/** Tells on a terminal how far it is; passes everything through. */
class Progress extends Transform {
  tail = ''
  private bytes = 0
  private told = 0

  private readonly what: string
  /** Bytes that there will be, where that is known. */
  private readonly of: number | undefined

  constructor(what: string, of: number | undefined) {
    super()
    this.what = what
    this.of = of
  }

  override _transform(chunk: Buffer, _encoding: string, next: (error: null, chunk: Buffer) => void): void {
    this.bytes += chunk.length
    this.tail = (this.tail + chunk.toString('latin1')).slice(-200)
    if (process.stderr.isTTY && Date.now() - this.told > 200) {
      this.told = Date.now()
      const part = this.of === undefined ? '' : ` of ${megabytes(this.of)}`
      process.stderr.write(`\r${this.what} ${megabytes(this.bytes)}${part} …`)
    }
    next(null, chunk)
  }

  done(where: string): void {
    if (process.stderr.isTTY) process.stderr.write('\r')
    console.log(`${this.what} ${megabytes(this.bytes)}: ${where}`)
  }
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
