// Writers, watchers and controllers at work for minutes (KEDGE_SOAK_MINUTES, 3), while the engine, the front or all of
// the tree is killed at random moments (KEDGE_SEED repeats them). At the end every history is whole.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { ApiClient } from '../e2e/api-client.ts'
import type { Family, Seen, Target, Written } from './actors.ts'
import { countIn, defineAndForget, emptyNamespaces, follow, makeFamilies, SPACE } from './actors.ts'

const MINUTES = Number(process.env['KEDGE_SOAK_MINUTES'] ?? '3')
const seed = Number(process.env['KEDGE_SEED'] ?? Date.now() % 1_000_000)
const WRITERS = 16

/** mulberry32 */
let state = seed
const random = (): number => {
  state = (state + 0x6d2b79f5) | 0
  let t = Math.imul(state ^ (state >>> 15), 1 | state)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
}
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

let dataDir: string
let server: KedgeProcess
let port = '0'
let target: Target

async function start(): Promise<void> {
  server = await startKedge(['--data-dir', dataDir, '--port', port])
  port = new URL(server.url).port
}

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'kedge-soak-'))
  await start()
  target = { client: new ApiClient(server.kubeconfig), stopped: false }
})
afterAll(async () => {
  target.stopped = true
  await server.stop()
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

const engines = (): number[] => {
  try {
    const children = execFileSync('pgrep', ['-P', String(server.process.pid), '-f', 'workerd serve'])
    return children.toString().trim().split('\n').map(Number)
  } catch {
    return [] // it is being started again
  }
}

const ways = ['engine', 'front', 'tree'] as const

/** The engine comes back by itself; after the others the server is started again. */
async function kill(way: (typeof ways)[number]): Promise<void> {
  if (way === 'engine') {
    for (const pid of engines()) process.kill(pid, 'SIGKILL')
    return
  }
  if (way === 'front') await server.stop('SIGKILL')
  else {
    process.kill(-server.process.pid!, 'SIGKILL')
    await server.stop('SIGKILL')
  }
  await pause(500) // an engine that lost its front goes a moment later
  await start()
}

async function killAtRandom(until: number): Promise<Record<string, number>> {
  const kills: Record<string, number> = { engine: 0, front: 0, tree: 0 }
  while (Date.now() < until) {
    await pause(500 + random() * 5_000)
    const way = ways[Math.floor(random() * ways.length)] ?? 'engine'
    await kill(way)
    kills[way] = (kills[way] ?? 0) + 1
  }
  return kills
}

const names = async (path: string): Promise<Map<string, number>> => {
  const { body } = await target.client.send('GET', path)
  return new Map((body.items ?? []).map(({ metadata, data }) => [metadata.name, Number(data?.['count'] ?? 0)] as const))
}

test(`nothing is lost in ${MINUTES} minutes of kills (seed ${seed})`, { timeout: (MINUTES + 5) * 60_000 }, async () => {
  await target.client.send('POST', '/api/v1/namespaces', { metadata: { name: 'soak' } })
  const { body } = await target.client.send('GET', `${SPACE}/configmaps`)
  const began = Number(body.metadata.resourceVersion)
  const acknowledged = new Map<string, Written>()
  const seen: Seen[] = []
  const families: Family[] = []
  const deletedNamespaces: string[] = []
  const forgotten: string[] = []
  const actors = [
    ...Array.from({ length: WRITERS }, (_, writer) => countIn(target, `writer-${writer}`, acknowledged)),
    follow(target, seen, () => seen.at(-1)?.version ?? began),
    emptyNamespaces(target, deletedNamespaces),
    makeFamilies(target, families),
    defineAndForget(target, forgotten),
  ]
  const kills = await killAtRandom(Date.now() + MINUTES * 60_000)
  await pause(2_000)
  target.stopped = true
  await Promise.all(actors)
  console.log(
    `seed ${seed}: kills ${JSON.stringify(kills)}, ${seen.length} events, ${families.length} families, ${deletedNamespaces.length} namespaces, ${forgotten.length} definitions`,
  )

  // what was acknowledged is there; the write after it may have been done without its answer
  const stored = await names(`${SPACE}/configmaps`)
  for (const [name, { count }] of acknowledged) expect(stored.get(name), name).toBeOneOf([count, count + 1])

  // a watcher sees each state once, in order, and none is missing
  const versions = seen.map(({ version }) => version)
  expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b))
  for (const [name] of acknowledged) {
    const counts = seen.filter((event) => event.name === name).map(({ count }) => count)
    expect(counts, name).toEqual(counts.map((_, index) => index))
  }

  // controllers end what they began, and take nothing else
  const orphans = families.filter(({ ownerDeleted }) => ownerDeleted).flatMap(({ dependents }) => dependents)
  const kept = families.filter(({ ownerDeleted }) => !ownerDeleted).flatMap(({ dependents }) => dependents)
  const isThere = async (wanted: readonly string[], path: string): Promise<string[]> => {
    const there = await names(path)
    return wanted.filter((name) => there.has(name))
  }
  const patience = { timeout: 120_000, interval: 1_000 }
  await expect.poll(() => isThere(orphans, `${SPACE}/configmaps`), patience).toEqual([])
  await expect.poll(() => isThere(deletedNamespaces, '/api/v1/namespaces'), patience).toEqual([])
  await expect
    .poll(() => isThere(forgotten, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'), patience)
    .toEqual([])
  expect(await isThere(kept, `${SPACE}/configmaps`)).toEqual(kept)
  target.client.close()
})
