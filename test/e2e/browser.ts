// A headless Chromium, which tests control over its DevTools protocol: they open pages and run code in them.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The path of Chromium: $CHROMIUM or Debian's path; undefined if neither exists. */
export const CHROMIUM = [process.env['CHROMIUM'], '/usr/bin/chromium'].find((path) => path && existsSync(path))

interface Reply {
  readonly id?: number
  readonly error?: { readonly message: string }
  readonly result?: unknown
}

export class Browser {
  readonly #process: ChildProcess
  readonly #profile: string
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, (reply: Reply) => void>()
  #calls = 0

  private constructor(process: ChildProcess, profile: string, socket: WebSocket) {
    this.#process = process
    this.#profile = profile
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => {
      const reply = JSON.parse(String(data)) as Reply
      if (reply.id !== undefined) this.#waiting.get(reply.id)?.(reply)
    })
  }

  /** Starts it without certificate checks: the tests are not about TLS. */
  static async start(): Promise<Browser> {
    const profile = mkdtempSync(join(tmpdir(), 'kedge-browser-'))
    const quiet = ['--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-quic', ...quiet]
    const own = ['--ignore-certificate-errors', '--remote-debugging-port=0', `--user-data-dir=${profile}`]
    const process = spawn(CHROMIUM!, [...flags, ...own, 'about:blank'], { stdio: ['ignore', 'ignore', 'pipe'] })
    globalThis.process.once('exit', () => process.kill('SIGKILL')) // it ends with the test process
    let printed = ''
    const url = await new Promise<string>((resolve, reject) => {
      process.stderr.setEncoding('utf8').on('data', (text: string) => {
        const found = /DevTools listening on (ws:\S+)/.exec((printed += text))
        if (found?.[1] !== undefined) resolve(found[1])
      })
      process.once('exit', (code) => reject(new Error(`chromium ended with ${code}:\n${printed}`)))
    })
    const socket = new WebSocket(url)
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve)
      socket.addEventListener('error', reject)
    })
    return new Browser(process, profile, socket)
  }

  /** Opens a page. Its `run` runs code there and returns the value. */
  async open(url: string): Promise<{ run<Value>(code: string): Promise<Value> }> {
    const { targetId } = await this.#call<{ targetId: string }>('Target.createTarget', { url })
    const { sessionId } = await this.#call<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true })
    const run = async <Value>(code: string): Promise<Value> => {
      const expression = `(async () => { ${code} })()`
      const { result, exceptionDetails } = await this.#call<{
        result: { value: Value }
        exceptionDetails?: { exception?: { description?: string } }
      }>('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true }, sessionId)
      if (exceptionDetails !== undefined)
        throw new Error(exceptionDetails.exception?.description ?? 'thrown in the page')
      return result.value
    }
    for (let tries = 0; tries < 2_000; tries++)
      if (await run<boolean>(`return location.href === ${JSON.stringify(url)} && document.readyState === 'complete'`))
        return { run }
      else await new Promise((resolve) => setTimeout(resolve, 50))
    throw new Error(`${url} does not load`)
  }

  async #call<Result>(method: string, params: unknown, sessionId?: string): Promise<Result> {
    const id = ++this.#calls
    const reply = new Promise<Reply>((resolve) => this.#waiting.set(id, resolve))
    this.#socket.send(JSON.stringify({ id, method, params, sessionId }))
    const { error, result } = await reply
    this.#waiting.delete(id)
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result as Result // as the protocol says
  }

  async close(): Promise<void> {
    this.#socket.close()
    const ended = new Promise((resolve) => this.#process.once('exit', resolve))
    this.#process.kill('SIGKILL')
    await ended
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}
