// Serves the floor Worker as `kedge start` serves Kedge: with a TLS front and the same engine, in a separate process.
// Prints its URL when it is ready.
import { createSecretKey } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { startEngine } from '../../src/cli/engine/engine.ts'
import { engineConfig } from '../../src/cli/engine/config.ts'
import { startFront } from '../../src/cli/front/front.ts'
import { openPki } from '../../src/cli/data-directory/pki.ts'
import { readWranglerConfig } from '../../src/cli/engine/wrangler-config.ts'

const directory = mkdtempSync(join(tmpdir(), 'kedge-floor-'))
const objects = join(directory, 'objects')
const socket = join(directory, 'engine.sock')
const configFile = join(directory, 'engine.capnp')
mkdirSync(objects)
await build({
  entryPoints: [join(import.meta.dirname, 'floor-worker.ts')],
  outfile: join(directory, 'worker', 'index.js'),
  bundle: true,
  format: 'esm',
  target: 'es2024',
  external: ['cloudflare:workers'],
})
const { compatibilityDate, compatibilityFlags } = readWranglerConfig(join(import.meta.dirname, '../../wrangler.toml'))
writeFileSync(
  configFile,
  engineConfig({
    worker: {
      compatibilityDate,
      compatibilityFlags,
      vars: {},
      durableObjects: [{ name: 'FLOOR', className: 'FloorObject' }],
    },
    modules: ['index.js'],
    settings: {},
    objects,
    socket,
  }),
)
const pki = await openPki(join(directory, 'pki'), ['localhost', '127.0.0.1'], new Date())
const engine = startEngine(configFile, () => {})
const front = await startFront({
  host: '127.0.0.1',
  port: 0,
  server: pki.server,
  clientAuthorities: [pki.authority.certificate],
  engine: async () => {
    await engine.listening
    return { socket, attestedSocket: socket, key: createSecretKey(new Uint8Array(32)) }
  },
})
await engine.listening
console.log(`https://127.0.0.1:${front.port}`)

const end = async (): Promise<void> => {
  await front.close(100)
  await engine.stop(100)
  rmSync(directory, { recursive: true, force: true })
  process.exit(0)
}
process.on('SIGTERM', () => void end())
process.on('disconnect', () => void end())
