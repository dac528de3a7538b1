// A machine that joins: kubeadm and kubelet in a mount namespace of their own, because they write to /etc and /var.
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findToolchain, run } from '../toolchain.ts'
import type { Finished } from '../toolchain.ts'
import { startContainerRuntime } from './container-runtime.ts'

export interface Tools {
  readonly kubeadm: string
  readonly kubelet: string
}

/** The programs named by KUBEADM and KUBELET, or those on the PATH; a text with the reason if any is missing. */
export function findTools(): Tools | string {
  const { KUBEADM = 'kubeadm', KUBELET = 'kubelet' } = process.env
  const kubeadm = findToolchain([KUBEADM], 'version')
  const kubelet = findToolchain([KUBELET], '--version')
  if (kubeadm === undefined || kubelet === undefined) return 'KUBEADM and KUBELET name no programs'
  if (process.getuid?.() !== 0) return 'kubelet runs as root'
  try {
    execFileSync('unshare', ['--mount', 'true'], { stdio: 'ignore' })
  } catch {
    return 'there are no mount namespaces on this machine'
  }
  return { kubeadm, kubelet }
}

const KUBELET_CLIENT = '/var/lib/kubelet/pki/kubelet-client-current.pem'

export class Machine {
  private kubelet: ChildProcess | undefined
  readonly log: string

  private constructor(
    private readonly tools: Tools,
    readonly name: string,
    private readonly directory: string,
    private readonly namespace: ChildProcess,
    private readonly runtime: { close(): void },
  ) {
    this.log = join(directory, 'kubelet.log')
  }

  static async start(tools: Tools, name: string): Promise<Machine> {
    const directory = mkdtempSync(join(tmpdir(), 'kedge-machine-'))
    const written = mkdtempSync(join(tmpdir(), 'kedge-machine-'))
    const script = join(import.meta.dirname, 'node.sh')
    const namespace = spawn('unshare', ['--mount', '--propagation', 'private', script, written], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await new Promise((resolve, reject) => {
      namespace.stdout.once('data', resolve)
      namespace.once('exit', () => reject(new Error('the machine did not start')))
    })
    namespace.once('exit', () => rmSync(written, { recursive: true, force: true }))
    const runtime = await startContainerRuntime(join(directory, 'cri.sock'))
    return new Machine(tools, name, directory, namespace, runtime)
  }

  get socket(): string {
    return `unix://${join(this.directory, 'cri.sock')}`
  }

  /** Reads a file inside the machine; links resolve to the machine's own files. @throws Error if the file is missing */
  read(file: string): string {
    return execFileSync('nsenter', this.inside('cat', [file]), { encoding: 'utf8', stdio: 'pipe' })
  }

  write(file: string, text: string): void {
    execFileSync('nsenter', this.inside('tee', [file]), { input: text, stdio: ['pipe', 'ignore', 'inherit'] })
  }

  /** The kubelet's certificate followed by its key. */
  get clientCertificate(): string {
    return this.read(KUBELET_CLIENT)
  }

  set clientCertificate(pem: string) {
    this.write(KUBELET_CLIENT, pem)
  }

  private inside(command: string, args: readonly string[]): readonly string[] {
    return ['--mount', `--target=${this.namespace.pid}`, command, ...args]
  }

  /** Runs `kubeadm join` with these arguments, and starts the kubelet as systemd would once it is configured. */
  async join(args: readonly string[], configuration: object): Promise<Finished> {
    const patches = mkdtempSync(join(this.directory, 'patches-'))
    writeFileSync(join(patches, 'kubeletconfiguration+merge.json'), JSON.stringify(configuration))
    const own = ['--cri-socket', this.socket, '--node-name', this.name, '--patches', patches]
    const joined = run(
      'nsenter',
      this.inside('timeout', ['120', this.tools.kubeadm, 'join', ...args, ...own, '--ignore-preflight-errors=all']),
      { cwd: this.directory },
    )
    let ended = false
    void joined.finally(() => (ended = true))
    while (!ended && !this.isConfigured()) await new Promise((resolve) => setTimeout(resolve, 100))
    if (!ended) this.startKubelet()
    return joined
  }

  /** kubeadm writes the kubelet's flags last. */
  private isConfigured(): boolean {
    try {
      return this.read('/var/lib/kubelet/kubeadm-flags.env') !== ''
    } catch {
      return false
    }
  }

  startKubelet(): void {
    const args = [
      '--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf',
      '--kubeconfig=/etc/kubernetes/kubelet.conf',
      '--config=/var/lib/kubelet/config.yaml',
      `--hostname-override=${this.name}`,
      `--container-runtime-endpoint=${this.socket}`,
    ]
    const log = openSync(this.log, 'a')
    this.kubelet = spawn('nsenter', this.inside(this.tools.kubelet, args), { stdio: ['ignore', log, log] })
    closeSync(log)
  }

  async stopKubelet(): Promise<void> {
    const { kubelet } = this
    this.kubelet = undefined
    if (kubelet === undefined || kubelet.exitCode !== null) return
    const gone = new Promise((resolve) => kubelet.once('exit', resolve))
    kubelet.kill('SIGKILL')
    await gone
  }

  async end(): Promise<void> {
    await this.stopKubelet()
    this.runtime.close()
    const gone = new Promise((resolve) => this.namespace.once('exit', resolve))
    this.namespace.kill('SIGKILL')
    await gone
    rmSync(this.directory, { recursive: true, force: true })
  }
}
