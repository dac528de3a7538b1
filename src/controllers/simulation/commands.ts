/**
 * Commands of a Job's container that are plain enough to be simulated: `sleep 30`, `sleep infinity`, `true`, `false`,
 * `exit 3`, each also behind `sh -c`. Nothing else is read: it ends at once.
 */
import type { Container } from '../../api/core/v1.ts'

export interface CommandOutcome {
  /** Milliseconds; Infinity: for ever. */
  readonly duration: number
  readonly exitCode: number
}

export function outcomeOf({ command = [], args = [] }: Container): CommandOutcome | undefined {
  const words = [...command, ...args]
  const [shell = '', flag, script, ...more] = words
  const isShell = /^(?:\/bin\/)?(?:ba)?sh$/.test(shell) && flag === '-c' && script !== undefined && more.length === 0
  return plain(isShell ? script.trim() : words.length > 2 ? '' : words.join(' '))
}

function plain(line: string): CommandOutcome | undefined {
  const [, seconds] = /^(?:\/bin\/)?sleep (\d{1,9}(?:\.\d{1,3})?|infinity)s?$/.exec(line) ?? []
  if (seconds !== undefined)
    return { duration: seconds === 'infinity' ? Infinity : Number(seconds) * 1000, exitCode: 0 }
  if (/^(?:\/bin\/)?true$/.test(line)) return { duration: 0, exitCode: 0 }
  if (/^(?:\/bin\/)?false$/.test(line)) return { duration: 0, exitCode: 1 }
  const [, code] = /^exit (\d{1,3})$/.exec(line) ?? []
  return code === undefined ? undefined : { duration: 0, exitCode: Number(code) % 256 }
}
