// kubectl, as somebody types it.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'vitest'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { findKubectl, findKubectlOrNot } from '../clients/kubectl/kubectl.ts'

export interface Printed {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  /** So far. */
  readonly printed: Readonly<Omit<Printed, 'code'>>
  readonly ended: Promise<number | null>
  end(): void
}

/** Skips a test that needs kubectl where there is none, with the reason. */
export function skipWithoutKubectl({ skip }: Pick<TestContext, 'skip'>): void {
  const { kubectl, missing } = findKubectlOrNot()
  skip(kubectl === undefined, missing)
}

let found: string | undefined
/** Looked for when it is first run: a session without one can be made, and its tests are skipped. */
const kubectlPath = (): string => (found ??= findKubectl().path)

export class Session {
  readonly #home = mkdtempSync(join(tmpdir(), 'kedge-e2e-'))
  readonly #kubeconfig: () => string
  /** The namespace of every command; undefined for the kubeconfig's own. */
  namespace: string | undefined

  /** @param kubeconfig its path, or what tells it once a command runs */
  constructor(kubeconfig: string | (() => string)) {
    this.#kubeconfig = typeof kubeconfig === 'string' ? () => kubeconfig : kubeconfig
  }

  get kubeconfig(): string {
    return this.#kubeconfig()
  }

  /** Begins a command that goes on beside others. */
  start(args: readonly string[], stdin = ''): Running {
    const child = spawn(kubectlPath(), [...(this.namespace ? ['-n', this.namespace] : []), ...args], {
      env: { PATH: process.env['PATH'], HOME: this.#home, KUBECONFIG: this.kubeconfig, KUBECACHEDIR: this.#home },
    })
    const printed = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.stderr += text))
    child.stdin.on('error', () => {}).end(stdin)
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
    return { printed, ended, end: () => void child.kill() }
  }

  /** Runs it whatever comes of it. */
  async try(args: readonly string[], stdin?: string): Promise<Printed> {
    const { printed, ended } = this.start(args, stdin)
    const code = await ended
    return { code, ...printed }
  }

  /** What it prints on stdout; throws with all that it printed where it fails. Arguments are split at spaces. */
  async run(line: string, stdin?: string): Promise<string> {
    return this.runArgs(line.split(' '), stdin)
  }

  async runArgs(args: readonly string[], stdin?: string): Promise<string> {
    const { code, stdout, stderr } = await this.try(args, stdin)
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: exit code ${code}\n${stdout}${stderr}`)
    return stdout
  }

  async json<T = Record<string, unknown>>(line: string, stdin?: string): Promise<T> {
    // The caller says what it asked for.
    return JSON.parse(await this.run(`${line} -o json`, stdin)) as T
  }

  close(): void {
    rmSync(this.#home, { recursive: true, force: true })
  }
}

export interface ServerUnderTest {
  readonly kubeconfig: string
  stop(): Promise<unknown>
}

/** A fresh Kedge, or the server of $E2E_KUBECONFIG: what these tests say holds for kube-apiserver, too. */
export async function serverUnderTest(): Promise<ServerUnderTest | KedgeProcess> {
  const kubeconfig = process.env['E2E_KUBECONFIG']
  return kubeconfig ? { kubeconfig, stop: () => Promise.resolve() } : startKedge()
}
