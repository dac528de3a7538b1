// A server on a Unix socket. It replaces a socket file that an earlier server left.
import { rmSync } from 'node:fs'
import type { Server } from 'node:net'

export async function listenAt(server: Server, socket: string): Promise<void> {
  rmSync(socket, { force: true })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(socket, resolve)
  })
}
