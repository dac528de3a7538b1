// A front before an engine of a test: any server that listens on a socket.
import { createSecretKey } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import type { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthority, issue } from '../../../src/cli/data-directory/certificate.ts'
import { startFront } from '../../../src/cli/front/front.ts'
import type { Front, FrontOptions } from '../../../src/cli/front/front.ts'

const KEY = createSecretKey(new Uint8Array(32))
export const authority = await createAuthority({ commonName: 'ca' }, new Date(), 1)
const certificate = await issue(
  authority,
  { subject: { commonName: 's' }, usage: 'server', names: ['127.0.0.1'], days: 1 },
  new Date(),
)

export interface RunningFront {
  readonly front: Front
  stop(): Promise<void>
}

export async function startBefore(
  engine: Server,
  options: Partial<FrontOptions> = {},
  engineReady: Promise<void> = Promise.resolve(),
): Promise<RunningFront> {
  const directory = mkdtempSync(join(tmpdir(), 'kedge-front-'))
  const path = join(directory, 'engine.sock')
  await new Promise<void>((resolve) => engine.listen(path, resolve))
  const front = await startFront({
    host: '127.0.0.1',
    port: 0,
    server: certificate,
    clientAuthorities: [authority.certificate],
    engine: () => engineReady.then(() => ({ socket: path, attestedSocket: path, key: KEY })),
    ...options,
  })
  return {
    front,
    async stop() {
      await front.close(0)
      await new Promise((resolve) => engine.close(resolve))
      rmSync(directory, { recursive: true })
    },
  }
}
