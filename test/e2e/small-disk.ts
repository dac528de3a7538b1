// A file system of a few megabytes that only processes entered into it can see. It needs no rights where the kernel lets
// anybody have a name space of their own.
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'

/** With the rights of root, or as root of a name space of one's own. */
const ways = [
  { unshare: ['--mount'], nsenter: ['--mount'] },
  { unshare: ['--user', '--map-root-user', '--mount'], nsenter: ['--user', '--mount', '--preserve-credentials'] },
]

const MOUNT = 'mount -t tmpfs -o size="$2" kedge "$1" && echo mounted && exec cat'

export class SmallDisk {
  readonly #holder: ChildProcess
  readonly #directory: string
  /** A command that runs another one where the file system is. */
  readonly within: readonly string[]

  private constructor(holder: ChildProcess, directory: string, flags: readonly string[]) {
    this.#holder = holder
    this.#directory = directory
    this.within = ['nsenter', '--target', String(holder.pid), ...flags, '--']
  }

  /** @returns undefined where this machine does not allow it */
  static async mount(directory: string, megabytes: number): Promise<SmallDisk | undefined> {
    for (const { unshare, nsenter } of ways) {
      const command = [...unshare, 'sh', '-c', MOUNT, 'sh', directory, `${megabytes}m`]
      const holder = spawn('unshare', command, { stdio: ['pipe', 'pipe', 'ignore'] })
      const isMounted = await new Promise<boolean>((resolve) => {
        holder.stdout.once('data', () => resolve(true))
        holder.once('exit', () => resolve(false))
        holder.once('error', () => resolve(false))
      })
      if (isMounted) return new SmallDisk(holder, directory, nsenter)
    }
    return undefined
  }

  /** Takes away so much of it. */
  fill(megabytes: number): void {
    this.#run('dd', 'if=/dev/zero', `of=${this.#ballast}`, 'bs=1M', `count=${megabytes}`)
  }

  /** Gives back what was taken. */
  free(): void {
    this.#run('rm', this.#ballast)
  }

  get #ballast(): string {
    return join(this.#directory, 'ballast')
  }

  #run(...command: readonly string[]): void {
    const [program = '', ...args] = [...this.within, ...command]
    const { status, stderr } = spawnSync(program, args)
    if (status !== 0) throw new Error(`${command.join(' ')}: ${String(stderr)}`)
  }

  /** Gone as soon as the last process in it is. */
  close(): void {
    this.#holder.kill('SIGKILL')
  }
}
