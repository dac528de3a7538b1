/**
 * A quota holds across isolates: four Workers, each an isolate with its own memory, share the Durable Objects, as on
 * Cloudflare. The test calls the engine directly, without TLS.
 */
import type { ChildProcess } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { upToDateBuild } from '../../src/cli/build/build.ts'
import { PROJECT, WORKER } from '../../src/cli/fresh-build.mjs'
import { engineConfig } from '../../src/cli/engine/config.ts'
import { readWranglerConfig } from '../../src/cli/engine/wrangler-config.ts'
import { startWorkerd } from './workerd.ts'

const TOKEN = 'an-administrator-whose-token-is-long-enough'
const ISOLATES = 4
const SOCKETS = Array.from({ length: ISOLATES }, (_, index) => `tcp${index}`)

const directory = mkdtempSync(join(tmpdir(), 'kedge-isolates-'))
let engine: ChildProcess
let urls: readonly string[]

/** The configuration of one Worker, and of further Workers with its code, which refer to its Durable Objects. */
function severalWorkers(config: string): string {
  const [, own = ''] = /const apiServer :Workerd\.Worker = \(([\s\S]*)\);/.exec(config) ?? []
  const another = own
    .replace(/durableObjectNamespaces = \[[\s\S]*?\],\n/, '')
    .replace(/durableObjectStorage = \(.*\),\n/, '')
    .replace(/durableObjectNamespace = ("\w+")/g, 'durableObjectNamespace = (className = $1, serviceName = "worker")')
  const others = Array.from({ length: ISOLATES - 1 }, (_, index) => `other${index}`)
  const services = others.map((name) => `(name = "${name}", worker = .${name})`)
  const sockets = ['worker', ...others].map(
    (name, index) => `(name = "${SOCKETS[index]}", address = "127.0.0.1:0", service = "${name}", http = ())`,
  )
  return (
    config
      .replace(/services = \[\n/, `services = [\n${services.join(',\n')},\n`)
      .replace(/sockets = \[\n/, `sockets = [\n${sockets.join(',\n')},\n`) +
    others.map((name) => `\nconst ${name} :Workerd.Worker = (${another});\n`).join('')
  )
}

const send = (isolate: number, method: string, path: string, body?: object): Promise<Response> =>
  fetch(urls[isolate % ISOLATES] + path, {
    method,
    headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })

async function until(isThere: () => Promise<boolean>): Promise<void> {
  while (!(await isThere().catch(() => false))) await pause(50)
}

beforeAll(async () => {
  const { modules } = await upToDateBuild()
  mkdirSync(join(directory, 'objects'))
  for (const name of modules) cpSync(join(WORKER, name), join(directory, 'worker', name))
  const config = engineConfig({
    worker: readWranglerConfig(join(PROJECT, 'wrangler.toml')),
    modules,
    settings: { KEDGE_ADMIN_TOKEN: TOKEN },
    objects: join(directory, 'objects'),
    socket: join(directory, 'engine.sock'),
  })
  writeFileSync(join(directory, 'workerd.capnp'), severalWorkers(config))
  ;({ engine, urls } = await startWorkerd(directory, SOCKETS, '--experimental'))
  for (const isolate of urls.keys()) await until(async () => (await send(isolate, 'GET', '/readyz')).ok)
})
afterAll(() => {
  engine.kill('SIGKILL')
  rmSync(directory, { recursive: true, force: true })
})

const BLUE = '/api/v1/namespaces/blue'

interface Quota {
  readonly status?: { readonly hard?: object; readonly used?: { readonly configmaps?: string } }
}

test('100 concurrent creates in four isolates fill the quota exactly', async () => {
  await send(0, 'POST', '/api/v1/namespaces', { metadata: { name: 'blue' } })
  await until(async () => (await send(0, 'GET', `${BLUE}/configmaps/kube-root-ca.crt`)).ok)
  const hard = { configmaps: '31', services: '0' }
  expect((await send(0, 'POST', `${BLUE}/resourcequotas`, { metadata: { name: 'q' }, spec: { hard } })).status).toBe(
    201,
  )
  const quota = async () => (await (await send(0, 'GET', `${BLUE}/resourcequotas/q`)).json()) as Quota
  await until(async () => (await quota()).status?.used?.configmaps === '1')
  // Each isolate knows the quota once it refuses an object beyond it.
  const service = { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } }
  for (const isolate of urls.keys())
    await until(async () => (await send(isolate, 'POST', `${BLUE}/services?dryRun=All`, service)).status === 403)

  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) => send(n, 'POST', `${BLUE}/configmaps`, { metadata: { name: `c${n}` } })),
  )
  const codes = answers.map(({ status }) => status)
  expect(codes.filter((code) => code === 201)).toHaveLength(30)
  expect(codes.filter((code) => code === 403)).toHaveLength(70)
  const there = (await (await send(1, 'GET', `${BLUE}/configmaps`)).json()) as { items: unknown[] }
  expect(there.items).toHaveLength(31)
  expect((await quota()).status).toMatchObject({ used: { configmaps: '31' } })
})
