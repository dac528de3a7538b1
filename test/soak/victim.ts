// A server that the test kills repeatedly, and that restarts at the same address with the same data.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { ApiClient } from '../e2e/api-client.ts'
import type { Target } from './actors.ts'

export const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

const ways = ['engine', 'front', 'tree'] as const

/** Numbers from 0 up to 1 (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

function sealingFlags(directory: string): string[] {
  const keys = join(directory, 'keys')
  writeFileSync(keys, `soak:${randomBytes(32).toString('base64')}`, { mode: 0o600 })
  return ['--encryption-keys', keys, '--encryption-resources', 'secrets,configmaps']
}

export class Victim {
  readonly kills: Record<(typeof ways)[number], number> = { engine: 0, front: 0, tree: 0 }

  private constructor(
    private readonly random: () => number,
    private server: KedgeProcess,
    readonly target: Target,
    private readonly directory: string,
    private readonly flags: readonly string[],
  ) {}

  /** @param encrypted whether the database encrypts what the writers write */
  static async start(random: () => number, encrypted: boolean): Promise<Victim> {
    const directory = mkdtempSync(join(tmpdir(), 'kedge-soak-'))
    const flags = ['--data-dir', join(directory, 'data'), ...(encrypted ? sealingFlags(directory) : [])]
    const server = await startKedge([...flags, '--port', '0'])
    return new Victim(random, server, { client: new ApiClient(server.kubeconfig), stopped: false }, directory, flags)
  }

  get url(): string {
    return this.server.url
  }

  async killAtRandom(until: number): Promise<void> {
    while (Date.now() < until) {
      await pause(500 + this.random() * 5_000)
      await this.kill()
    }
  }

  /** A killed engine is restarted by its front; after other kills this starts the server again. */
  async kill(): Promise<void> {
    const way = ways[Math.floor(this.random() * ways.length)] ?? 'engine'
    this.kills[way]++
    if (way === 'engine') {
      for (const pid of this.engines()) process.kill(pid, 'SIGKILL')
      return
    }
    if (way === 'tree') process.kill(-this.server.process.pid!, 'SIGKILL')
    await this.server.stop('SIGKILL')
    await pause(500) // an engine whose front died ends a moment later
    this.server = await startKedge([...this.flags, '--port', new URL(this.url).port])
  }

  async stop(): Promise<void> {
    this.target.stopped = true
    await this.server.stop()
    this.target.client.close()
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 })
  }

  private engines(): number[] {
    try {
      const children = execFileSync('pgrep', ['-P', String(this.server.process.pid), '-f', 'workerd serve'])
      return children.toString().trim().split('\n').map(Number)
    } catch {
      return [] // the server is restarting
    }
  }
}
