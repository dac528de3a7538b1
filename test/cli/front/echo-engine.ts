// The real engine with a Worker that echoes each request, for tests of the processes in front of the engine.
import { createSecretKey } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEngine } from '../../../src/cli/engine/engine.ts'
import { engineConfig } from '../../../src/cli/engine/config.ts'
import type { EngineAddress } from '../../../src/cli/front/engine-link.ts'
import { readWranglerConfig } from '../../../src/cli/engine/wrangler-config.ts'

export interface Echo {
  readonly method: string
  readonly target: string
  /** Keys are lower-case header names. */
  readonly headers: Readonly<Record<string, string>>
  /** Base64. */
  readonly body: string
  readonly cf: unknown
  readonly attested: boolean
}

export interface EchoEngine {
  readonly address: EngineAddress
  stop(): Promise<void>
}

const WORKER = `
const echo = (attested) => async (request) => {
  const body = new Uint8Array(await request.arrayBuffer())
  const target = request.url.slice(request.url.indexOf('/', request.url.indexOf(':') + 3))
  return Response.json({
    method: request.method, target, headers: Object.fromEntries(request.headers),
    body: btoa(String.fromCharCode(...body)), cf: request.cf ?? null, attested,
  })
}
export default { fetch: echo(false) }
export const AttestedRequests = { fetch: echo(true) }
`

export async function startEchoEngine(): Promise<EchoEngine> {
  const directory = mkdtempSync(join(tmpdir(), 'kedge-echo-'))
  const address = {
    socket: join(directory, 'engine.sock'),
    attestedSocket: join(directory, 'attested.sock'),
    key: createSecretKey(new Uint8Array(32)),
  }
  for (const name of ['worker', 'objects']) mkdirSync(join(directory, name))
  writeFileSync(join(directory, 'worker', 'index.js'), WORKER)
  const { compatibilityDate, compatibilityFlags } = readWranglerConfig(
    join(import.meta.dirname, '../../../wrangler.toml'),
  )
  writeFileSync(
    join(directory, 'engine.capnp'),
    engineConfig({
      worker: { compatibilityDate, compatibilityFlags, vars: {}, durableObjects: [] },
      modules: ['index.js'],
      settings: {},
      objects: join(directory, 'objects'),
      socket: address.socket,
      attestedSocket: address.attestedSocket,
    }),
  )
  const engine = startEngine(join(directory, 'engine.capnp'), () => {})
  await engine.listening
  return {
    address,
    async stop() {
      await engine.stop(100)
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
