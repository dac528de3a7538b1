import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startEngine } from '../../../src/cli/engine/engine.ts'

/** It runs until it is ended. */
const idle = (directory: string, socket: string): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "files", disk = (path = "${directory}"))],
  sockets = [(name = "socket", address = "unix:${socket}", http = (), service = "files")],
);
`

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('an engine whose process cannot be noted does not run on', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kedge-engine-'))
  const config = join(directory, 'workerd.capnp')
  const socket = join(directory, 'socket')
  writeFileSync(config, idle(directory, socket))
  let pid = 0
  const note = (started: number): void => {
    pid = started
    throw new Error('ENOSPC: no space left on device')
  }
  expect(() => startEngine(config, note)).toThrow('ENOSPC')
  await expect.poll(() => isRunning(pid)).toBe(false)
  rmSync(socket, { force: true }) // it may have come so far

  const engine = startEngine(config, () => {})
  await engine.listening
  expect(isRunning(engine.pid)).toBe(true)
  await engine.stop(1_000)
})
