// A Kedge of its own for a test: started as a user starts it, ended at the end.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'

export const LAUNCHER = join(import.meta.dirname, '../../src/cli/kedge.mjs')

export interface KedgeProcess {
  readonly process: ChildProcess
  /** https://127.0.0.1:PORT */
  readonly url: string
  readonly kubeconfig: string
  /** What it printed so far. */
  output(): string
  /** Ends it and waits; returns the exit code (null after SIGKILL). */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

const apiAlone = (flags: readonly string[]): readonly string[] =>
  flags.includes('--workloads') || flags.includes('--nodes') ? [] : ['--workloads', 'off']

/**
 * As startWithDefaults; a test that says nothing of workloads wants the API alone. By default on any free port, with data
 * that is thrown away.
 */
export const startKedge = (
  flags: readonly string[] = ['--ephemeral', '--port', '0'],
  ...more: [env?: NodeJS.ProcessEnv, within?: readonly string[], launcher?: string]
): Promise<KedgeProcess> => startWithDefaults([...flags, ...apiAlone(flags)], ...more)

/**
 * Starts `kedge start` with these flags and waits until it is ready. In a process group of its own. Rejects with what
 * it printed where it does not get ready.
 * @param within a command that runs the command given to it, in place of itself
 * @param launcher of another checkout
 */
export async function startWithDefaults(
  flags: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  within: readonly string[] = [],
  launcher = LAUNCHER,
): Promise<KedgeProcess> {
  const [command = '', ...args] = [...within, process.execPath, launcher, 'start', ...flags]
  const child = spawn(command, args, {
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'], // the channel ends it when this process is gone
    detached: true,
  })
  child.channel?.unref()
  let printed = ''
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  const ready = new Promise<[string, string]>((resolve) => {
    const read = (text: string): void => {
      printed += text
      const match = /API at (https:\S+)[^]*export KUBECONFIG=(\S+)/.exec(printed)
      if (match) resolve([match[1] ?? '', match[2] ?? ''])
    }
    child.stdout!.setEncoding('utf8').on('data', read)
    child.stderr!.setEncoding('utf8').on('data', read)
  })
  const stop = (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
    child.kill(signal)
    return ended
  }
  const leaveNothing = (): boolean => child.kill('SIGKILL')
  process.once('exit', leaveNothing)
  void ended.then(() => process.removeListener('exit', leaveNothing))
  const [url, kubeconfig] = await Promise.race([
    ready,
    ended.then((code) => Promise.reject(new Error(`kedge ended with ${code}:\n${printed}`))),
  ])
  return { process: child, url, kubeconfig, output: () => printed, stop }
}
