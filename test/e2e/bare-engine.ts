/** The engine with Workers of a test: `workerd.capnp` in a folder names them. */
import { spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { build } from 'esbuild'

export interface BareEngine {
  readonly url: string
  stop(): Promise<void>
}

/**
 * @param workers names of the Workers' files, without their endings
 * @param path is asked until the engine answers
 */
export async function startBareEngine(folder: string, workers: readonly string[], path: string): Promise<BareEngine> {
  const directory = await mkdtemp(join(tmpdir(), 'kedge-bare-'))
  await mkdir(join(directory, 'data'))
  await cp(join(folder, 'workerd.capnp'), join(directory, 'workerd.capnp'))
  await build({
    entryPoints: workers.map((name) => join(folder, `${name}.ts`)),
    outdir: directory,
    bundle: true,
    format: 'esm',
    target: 'es2024',
    external: ['cloudflare:workers'],
  })
  const port = await freePort()
  const workerd = join(import.meta.dirname, '../../node_modules/.bin/workerd')
  const engine = spawn(workerd, ['serve', 'workerd.capnp', `--socket-addr=http=127.0.0.1:${port}`], { cwd: directory })
  const url = `http://127.0.0.1:${port}`
  const stop = async () => {
    engine.kill('SIGKILL')
    await rm(directory, { recursive: true })
  }
  for (let tries = 0; tries < 100; tries++) {
    const isThere = await fetch(url + path).then(
      () => true,
      () => false,
    )
    if (isThere) return { url, stop }
    await pause(100)
  }
  await stop()
  throw new Error('the engine did not start')
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo // of a TCP server
      server.close(() => resolve(port))
    })
  })
