/**
 * Commands of a container that are plain enough to be simulated: `sleep 30`, `sleep infinity`, `true`, `false`,
 * `exit 3`, each also behind `sh -c`, and what the image `pause` does. Nothing else is read.
 */
import type { Container } from '../../api/core/v1.ts'

export interface CommandOutcome {
  /** Milliseconds; Infinity: for ever. */
  readonly duration: number
  readonly exitCode: number
}

/** The image of which Kubernetes makes the sandboxes of pods: it does nothing, for ever. */
const PAUSE = /(?:^|\/)pause(?:[:@]|$)/

export function outcomeOf({ image = '', command = [], args = [] }: Container): CommandOutcome | undefined {
  if (command.length === 0 && PAUSE.test(image)) return { duration: Infinity, exitCode: 0 }
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
