// Polls the inspector for the memory of an engine's isolate while it works: V8's heap and the buffers outside it.
import { pause } from './load.ts'

const EVERY_MS = 100
const MB = 1e6

interface Usage {
  readonly usedSize: number
  readonly backingStorageSize: number
}

export class HeapWatch {
  private used = 0
  private buffers = 0
  private isOver = false
  private readonly socket: WebSocket
  private readonly watching: Promise<void>

  private fail: (why: Error) => void = () => {}

  private constructor(socket: WebSocket) {
    this.socket = socket
    socket.addEventListener('close', () => this.fail(new Error('the engine has ended')))
    this.watching = this.watch()
  }

  /** @param address HOST:PORT of the inspector */
  static async start(address: string): Promise<HeapWatch> {
    const answer = await fetch(`http://${address}/json`)
    const [first] = (await answer.json()) as { readonly webSocketDebuggerUrl: string }[]
    const socket = new WebSocket(first!.webSocketDebuggerUrl)
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve())
      socket.addEventListener('error', () => reject(new Error(`no inspector at ${address}`)))
    })
    return new HeapWatch(socket)
  }

  /** @returns the maximum of each, in MB */
  async stop(): Promise<{ readonly used: number; readonly buffers: number }> {
    this.isOver = true
    await this.watching
    this.socket.close()
    return { used: this.used / MB, buffers: this.buffers / MB }
  }

  private async watch(): Promise<void> {
    for (let id = 1; !this.isOver; id++) {
      const { usedSize, backingStorageSize } = await this.usage(id)
      this.used = Math.max(this.used, usedSize)
      this.buffers = Math.max(this.buffers, backingStorageSize)
      await pause(EVERY_MS)
    }
  }

  private usage(id: number): Promise<Usage> {
    return new Promise((resolve, reject) => {
      const heard = ({ data }: MessageEvent): void => {
        const message = JSON.parse(String(data)) as { readonly id?: number; readonly result?: Usage }
        if (message.id !== id || message.result === undefined) return
        this.socket.removeEventListener('message', heard)
        resolve(message.result)
      }
      this.socket.addEventListener('message', heard)
      this.fail = reject
      this.socket.send(JSON.stringify({ id, method: 'Runtime.getHeapUsage' }))
    })
  }
}
