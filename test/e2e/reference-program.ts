// Programs of others that tests run beside Kedge: $KUBE_SCHEDULER and so on, or the one on the PATH.
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import type { TestContext } from 'vitest'

export type ReferenceProgram = 'kube-controller-manager' | 'kube-scheduler' | 'kubelogin'

const variableOf = (program: ReferenceProgram): string => program.toUpperCase().replaceAll('-', '_')

/** Where it is, if it is. */
export function programPath(program: ReferenceProgram): string | undefined {
  try {
    return (
      process.env[variableOf(program)] ||
      execFileSync('/bin/sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).trim()
    )
  } catch {
    return undefined
  }
}

/** Skips a test where the program is missing, with the reason. */
export const skipWithout = (program: ReferenceProgram, { skip }: Pick<TestContext, 'skip'>): void =>
  skip(programPath(program) === undefined, `there is no ${program}: set ${variableOf(program)}`)

/** @returns the running program; its output is thrown away */
export function startReference(program: ReferenceProgram, kubeconfig: string, args: readonly string[]): ChildProcess {
  const path = programPath(program)
  if (path === undefined) throw new Error(`there is no ${program}`)
  const flags = [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--secure-port=0',
  ]
  return spawn(path, [...flags, ...args], { stdio: 'ignore' })
}

export async function endReference(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill(signal)
  await ended
}
