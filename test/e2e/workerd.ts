// The engine itself, at ports that it chooses: one that a test finds free may be another's a moment later.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

const WORKERD = join(import.meta.dirname, '../../node_modules/.bin/workerd')

export interface Workerd {
  readonly engine: ChildProcess
  /** http://127.0.0.1:PORT of each of the sockets, in their order. */
  readonly urls: readonly string[]
}

/**
 * Runs `workerd.capnp` of a directory until its sockets listen.
 * @param sockets names of those that have the port 0
 */
export async function startWorkerd(
  directory: string,
  sockets: readonly string[],
  ...flags: readonly string[]
): Promise<Workerd> {
  const engine = spawn(WORKERD, ['serve', 'workerd.capnp', '--control-fd=3', ...flags], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  })
  const ports = new Map<string, number>()
  // a pipe, as stdio has it
  for await (const line of createInterface({ input: engine.stdio[3] as Readable })) {
    // each line is what the engine says of itself
    const said = JSON.parse(line) as { event: string; socket?: string; port?: number }
    if (said.event === 'listen' && said.socket !== undefined && said.port !== undefined)
      ports.set(said.socket, said.port)
    if (sockets.every((name) => ports.has(name)))
      return { engine, urls: sockets.map((name) => `http://127.0.0.1:${ports.get(name)}`) }
  }
  throw new Error('the engine ended before it listened')
}
