// Starts a Kedge for one test as a user would, and stops it at the end.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'

export const LAUNCHER = join(import.meta.dirname, '../../src/cli/kedge.mjs')

export interface KedgeProcess {
  readonly process: ChildProcess
  /** https://127.0.0.1:PORT */
  readonly url: string
  readonly kubeconfig: string
  /** Its output so far. */
  output(): string
  /** Stops it and waits. @returns the exit code (null after SIGKILL) */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

const apiAlone = (flags: readonly string[]): readonly string[] =>
  flags.includes('--workloads') || flags.includes('--nodes') ? [] : ['--workloads', 'off']

/**
 * Like startWithDefaults, but without controllers for workloads unless flags ask for them: most tests need only the
 * API. By default it takes any free port and a temporary data directory.
 */
export const startKedge = (
  flags: readonly string[] = ['--ephemeral', '--port', '0'],
  ...more: [env?: NodeJS.ProcessEnv, within?: readonly string[], launcher?: string]
): Promise<KedgeProcess> => startWithDefaults([...flags, ...apiAlone(flags)], ...more)

/**
 * Starts `kedge start` with these flags, in a process group of its own, and waits until it is ready. Rejects with its
 * output if it does not become ready.
 * @param within a command that runs the command in its arguments, such as a wrapper
 * @param launcher the CLI of another checkout
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
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'], // the IPC channel ends it when this process ends
    detached: true,
  })
  child.channel?.unref()
  let printed = ''
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  const ready = new Promise<[string, string]>((resolve) => {
    const read = (text: string): void => {
      printed += text
      // a path with blanks is quoted for the shell
      const match = /API at (https:\S+)[^]*export KUBECONFIG=(?:'(.*)'|(\S+))\n/.exec(printed)
      if (match) resolve([match[1] ?? '', match[2] ?? match[3] ?? ''])
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
