// Measures a server's processes: CPU seconds and resident memory of a process and its descendants (Linux).
import { readFileSync, readdirSync } from 'node:fs'

const TICKS_A_SECOND = 100

export interface Usage {
  /** Seconds of CPU since the processes started. */
  readonly cpu: number
  readonly residentBytes: number
}

export function usageOf(root: number): Usage {
  const all = [...usageByCommand(root).values()]
  return {
    cpu: all.reduce((sum, { cpu }) => sum + cpu, 0),
    residentBytes: all.reduce((sum, { residentBytes }) => sum + residentBytes, 0),
  }
}

/** Usage by the names of the programs. */
export function usageByCommand(root: number): ReadonlyMap<string, Usage> {
  const parents = parentsOfAll()
  const usages = new Map<string, Usage>()
  for (const pid of parents.keys()) {
    if (!descendsFrom(pid, root, parents)) continue
    const stat = fieldsOf(String(pid))
    if (stat === undefined) continue
    const command = commandOf(pid)
    const { cpu, residentBytes } = usages.get(command) ?? { cpu: 0, residentBytes: 0 }
    usages.set(command, {
      cpu: cpu + (Number(stat[11]) + Number(stat[12])) / TICKS_A_SECOND,
      residentBytes: residentBytes + Number(stat[21]) * 4096,
    })
  }
  return usages
}

function parentsOfAll(): Map<number, number> {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = fieldsOf(name)
    if (stat !== undefined) parents.set(Number(name), Number(stat[1]))
  }
  return parents
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return '' // the process has ended
  }
}

/** The fields after the command's name, which may contain any character. */
function fieldsOf(pid: string): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined // the process has ended
  }
}

function descendsFrom(pid: number, root: number, parents: ReadonlyMap<number, number>): boolean {
  for (let at: number | undefined = pid; at !== undefined && at > 1; at = parents.get(at)) if (at === root) return true
  return false
}

/** CPU time of all threads of a process, in milliseconds with the kernel's full precision (Linux). */
export const millisecondsOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + millisecondsOfThread(pid, thread), 0)

/** CPU milliseconds of a process and its descendants: `own` counts those that run the same program, `all` every one. */
export function millisecondsOfTree(root: number): { readonly own: number; readonly all: number } {
  const parents = parentsOfAll()
  const program = commandOf(root)
  const sum = { own: 0, all: 0 }
  for (const pid of parents.keys()) {
    if (!descendsFrom(pid, root, parents)) continue
    const used = millisecondsOf(pid)
    sum.all += used
    if (commandOf(pid) === program) sum.own += used
  }
  return sum
}

/** CPU milliseconds of a process's main thread. */
export const millisecondsOfMain = (pid: number): number => millisecondsOfThread(pid, String(pid))

const millisecondsOfThread = (pid: number, thread: string): number =>
  Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6
