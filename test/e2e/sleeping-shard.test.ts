/**
 * A shard with watchers sleeps, answers their pings asleep, and wakes to tell them what happens. On the bare engine,
 * because others keep objects awake, as older engines did.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ShardStats } from '../../src/storage/shard-protocol.ts'

/** An object sleeps after ten seconds in which nothing was asked of it. */
const ASLEEP = 13_000

let directory: string
let engine: ChildProcess
let url: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kedge-sleep-'))
  await mkdir(join(directory, 'data'))
  await cp(join(import.meta.dirname, 'sleeping-shard/workerd.capnp'), join(directory, 'workerd.capnp'))
  await build({
    entryPoints: [join(import.meta.dirname, 'sleeping-shard/worker.ts')],
    outfile: join(directory, 'worker.js'),
    bundle: true,
    format: 'esm',
    target: 'es2024',
    external: ['cloudflare:workers'],
  })
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  const workerd = join(import.meta.dirname, '../../node_modules/.bin/workerd')
  engine = spawn(workerd, ['serve', 'workerd.capnp', `--socket-addr=http=127.0.0.1:${port}`], { cwd: directory })
  for (let tries = 0; tries < 100; tries++) {
    if (
      await fetch(`${url}/stats`).then(
        () => true,
        () => false,
      )
    )
      return
    await pause(100)
  }
  throw new Error('the engine did not start')
})

afterAll(async () => {
  engine.kill('SIGKILL')
  await rm(directory, { recursive: true })
})

it('a watched shard sleeps and wakes', async () => {
  await fetch(`${url}/create?key=first`)
  const gone = new AbortController()
  const seen: string[] = []
  const watches = [0, 1].map(async () => {
    const { body } = await fetch(`${url}/watch`, { signal: gone.signal })
    for await (const text of body!.pipeThrough(new TextDecoderStream())) seen.push(...text.trim().split('\n'))
  })
  await pause(500)
  const awake = await stats()
  expect(awake.sockets).toBe(2)

  await pause(ASLEEP)
  const woken = await stats()
  expect(woken.since).toBeGreaterThan(awake.since)
  expect(woken.sockets).toBe(2)
  expect(seen.filter((line) => line.startsWith('progress')).length).toBeGreaterThan(10)

  await pause(ASLEEP)
  const { rv } = (await (await fetch(`${url}/create?key=second`)).json()) as { rv: string }
  expect((await stats()).since).toBeGreaterThan(woken.since)
  await pause(300)
  expect(seen.filter((line) => line.startsWith('event'))).toEqual(Array(2).fill(`event {"rv":"${rv}"}`))
  gone.abort()
  await Promise.allSettled(watches)
})

it('watches go on when their shard is restarted', async () => {
  const gone = new AbortController()
  const seen: string[] = []
  const watches = [0, 1, 2].map(async () => {
    const { body } = await fetch(`${url}/watch`, { signal: gone.signal })
    for await (const text of body!.pipeThrough(new TextDecoderStream()))
      seen.push(...text.split('\n').filter((line) => line.startsWith('event')))
  })
  await pause(500)
  const written: string[] = []
  for (let round = 0; round < 5; round++) {
    const before = (await stats()).since
    await fetch(`${url}/restart`)
    // The first of them is written before any watch is back.
    for (const key of ['a', 'b']) {
      const { rv } = (await (await fetch(`${url}/create?key=${round}-${key}`)).json()) as { rv: string }
      written.push(`event {"rv":"${rv}"}`)
    }
    expect((await stats()).since).toBeGreaterThan(before)
  }
  for (let tries = 0; tries < 100 && seen.length < 3 * written.length; tries++) await pause(100)
  expect(seen.toSorted()).toEqual(written.flatMap((line) => [line, line, line]).toSorted())
  expect((await stats()).sockets).toBe(3)
  gone.abort()
  await Promise.allSettled(watches)
}, 60_000)

const stats = async () => (await (await fetch(`${url}/stats`)).json()) as ShardStats

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
