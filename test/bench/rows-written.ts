// Counts the rows that a write writes, its compaction included, because Cloudflare bills them. The shard counts them,
// on a separate engine that keeps old states for seconds only.
import { randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { upToDateBuild } from '../../src/cli/build/build.ts'
import { PROJECT, WORKER } from '../../src/cli/fresh-build.mjs'
import { startEngine } from '../../src/cli/engine/engine.ts'
import { engineConfig } from '../../src/cli/engine/config.ts'
import { readWranglerConfig } from '../../src/cli/engine/wrangler-config.ts'
import { pause } from './load.ts'
import { configMap } from './side.ts'

const OBJECTS = 3_000
const COLLECTION = '/api/v1/namespaces/default/configmaps'

/** Rows for each operation. A deletion removes an object whose create was counted before. */
export interface RowsWritten {
  readonly create: number
  readonly update: number
  readonly delete: number
}

interface Stats {
  readonly rowsWritten: number
  readonly keys: number
  readonly versions: number
}

export async function rowsWritten(): Promise<RowsWritten> {
  const directory = mkdtempSync(join(tmpdir(), 'kedge-rows-'))
  const [objects, socket, configFile] = ['objects', 'engine.sock', 'engine.capnp'].map((name) => join(directory, name))
  mkdirSync(objects!)
  const { modules } = await upToDateBuild()
  for (const name of modules) cpSync(join(WORKER, name), join(directory, 'worker', name))
  const token = randomBytes(16).toString('hex')
  writeFileSync(
    configFile!,
    engineConfig({
      worker: readWranglerConfig(join(PROJECT, 'wrangler.toml')),
      modules,
      settings: { KEDGE_ADMIN_TOKEN: token, KEDGE_HISTORY_SECONDS: '4' },
      objects: objects!,
      socket: socket!,
    }),
  )
  const engine = startEngine(configFile!, () => {})
  const send = (method: string, path: string, body?: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const headers = { Host: 'localhost', Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
      const outgoing = request({ socketPath: socket!, method, path, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('end', () => {
          if (response.statusCode! < 400) resolve(text)
          else reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`))
        })
      })
      outgoing.on('error', reject).end(body)
    })
  const stats = async (): Promise<Stats> =>
    (JSON.parse(await send('GET', '/debug/shards?shard=configmaps')) as { shards: [Stats] }).shards[0]
  /** Rows that `each` writes for one object, measured after compaction has dropped all old states. */
  const cost = async (each: (name: string) => Promise<unknown>): Promise<number> => {
    const before = await stats()
    let n = 0
    const writer = async (): Promise<void> => {
      while (n < OBJECTS) await each(`o${n++}`)
    }
    await Promise.all(Array.from({ length: 16 }, writer))
    for (const end = Date.now() + 20_000; Date.now() < end; await pause(200)) {
      const { keys, versions } = await stats()
      if (keys === versions) break
    }
    return ((await stats()).rowsWritten - before.rowsWritten) / OBJECTS
  }
  try {
    await engine.listening
    await send('GET', COLLECTION) // creates the shard
    return {
      create: await cost((name) => send('POST', COLLECTION, configMap(name))),
      update: await cost((name) =>
        send(
          'PUT',
          `${COLLECTION}/${name}`,
          JSON.stringify({ ...(JSON.parse(configMap(name)) as object), data: { value: 'new' } }),
        ),
      ),
      delete: await cost((name) => send('DELETE', `${COLLECTION}/${name}`)),
    }
  } finally {
    await engine.stop(100)
    rmSync(directory, { recursive: true, force: true })
  }
}

if (import.meta.main) console.log(await rowsWritten())
