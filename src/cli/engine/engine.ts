// The engine's process: workerd, which must never outlive this one.
import { ownValue } from '../../base/own.ts'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createRequire } from 'node:module'
import type { Readable } from 'node:stream'

export interface Engine {
  readonly pid: number
  /** Resolves when it listens; rejects where it ends before. */
  readonly listening: Promise<void>
  /** Resolves when it has ended, for any reason, with the signal that ended it. */
  readonly ended: Promise<{ readonly signal: string | null }>
  /** Asks it to end, and kills it after `graceMs`. Acknowledged writes are on disk in either case. */
  stop(graceMs: number): Promise<void>
}

/** @param onStart notes the process; an engine that cannot be noted does not run on */
export function startEngine(configFile: string, onStart: (pid: number) => void): Engine {
  const engine = spawn(workerdBinary(), ['serve', configFile, '--control-fd=3'], {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    detached: true, // Ctrl-C goes to the front, which then ends the engine
  })
  const started = engine.pid
  const watchdog = started === undefined ? undefined : watchOver(started)
  try {
    if (started !== undefined) onStart(started)
  } catch (error) {
    engine.kill('SIGKILL')
    throw error
  }
  const ended = new Promise<{ readonly signal: string | null }>((resolve) => {
    engine.once('error', () => resolve({ signal: null }))
    engine.once('exit', (_code, signal) => {
      watchdog?.kill('SIGKILL')
      resolve({ signal })
    })
  })
  return {
    pid: started ?? 0,
    // its fourth stream is the pipe that was configured above
    listening: Promise.race([
      untilListening(engine.stdio[3] as Readable),
      ended.then(() => Promise.reject(new Error('The engine (workerd) ended before it was ready.'))),
    ]),
    ended,
    async stop(graceMs) {
      engine.kill('SIGTERM')
      const timer = setTimeout(() => engine.kill('SIGKILL'), graceMs)
      await ended
      clearTimeout(timer)
    },
  }
}

/**
 * A shell that waits for the end of its input, which comes when this process has ended, even by SIGKILL, and then
 * ends the engine. It has a process group of its own, so that a signal to this group does not end it.
 */
function watchOver(pid: number): ChildProcess {
  const watchdog = spawn('/bin/sh', ['-c', 'read _; kill -KILL "$1"', 'kedge-watchdog', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  watchdog.on('error', () => {})
  watchdog.unref()
  return watchdog
}

function untilListening(control: Readable): Promise<void> {
  return new Promise((resolve) => {
    control.setEncoding('utf8').on('data', (lines: string) => {
      if (lines.includes('"listen"')) resolve()
    })
  })
}

/** The program itself, not the script that some installations put before it. */
function workerdBinary(): string {
  const require = createRequire(import.meta.url)
  const platform = `${process.platform}-${process.arch}`
  const name = ownValue({ 'linux-x64': 'linux-64', 'linux-arm64': 'linux-arm64', 'darwin-x64': 'darwin-64' }, platform)
  try {
    return require.resolve(`@cloudflare/workerd-${name ?? platform}/bin/workerd`)
  } catch {
    return require.resolve('workerd/bin/workerd')
  }
}
