// Connections to other servers that agreed to another protocol (WebSocket, SPDY), which the engine cannot carry. The
// front keeps each under a ticket. The engine answers its client with the ticket, and the front joins the two
// connections, whose bytes do not pass through the engine.
import { randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'

export interface Tunnel {
  readonly socket: Duplex
  /** The other server's bytes so far: the head of its answer, and data behind it. */
  readonly said: Buffer
}

interface Waiting extends Tunnel {
  readonly late: NodeJS.Timeout
}

/** Milliseconds between the other server's answer and the engine's. */
const HOLD_MS = 10_000
/** The most waiting tunnels. Further ones are closed, because no client waits for them. */
const MAX_WAITING = 1_000

export class Tunnels {
  /** By ticket. Bound: MAX_WAITING, each for HOLD_MS. */
  readonly #waiting = new Map<string, Waiting>()

  /** @returns the ticket; undefined where too many wait */
  hold(tunnel: Tunnel): string | undefined {
    if (this.#waiting.size >= MAX_WAITING) return undefined
    const ticket = randomBytes(24).toString('base64url')
    const drop = (): void => void this.take(ticket)?.socket.destroy()
    const late = setTimeout(drop, HOLD_MS).unref()
    this.#waiting.set(ticket, { ...tunnel, late })
    tunnel.socket.on('error', () => {}) // 'close' follows
    tunnel.socket.once('close', drop)
    return ticket
  }

  /** Returns a tunnel once. */
  take(ticket: string): Tunnel | undefined {
    const tunnel = this.#waiting.get(ticket)
    if (tunnel === undefined) return undefined
    this.#waiting.delete(ticket)
    clearTimeout(tunnel.late)
    return tunnel
  }

  close(): void {
    for (const ticket of [...this.#waiting.keys()]) this.take(ticket)?.socket.destroy()
  }
}

/**
 * Joins two connections until one of them ends. Each is read only as fast as the other takes the data.
 * @param ahead the client's bytes behind its request
 */
export function join(client: Duplex, ahead: Buffer, { socket, said }: Tunnel): void {
  for (const [from, to] of [
    [client, socket],
    [socket, client],
  ] as const) {
    from.on('data', (data: Buffer) => {
      if (!to.write(data)) from.pause()
    })
    to.on('drain', () => from.resume())
    from.on('end', () => to.end())
    from.on('error', () => {}) // 'close' follows
    from.on('close', () => to.destroy())
  }
  client.write(said)
  if (ahead.length > 0) socket.write(ahead)
  client.resume()
  socket.resume()
}
