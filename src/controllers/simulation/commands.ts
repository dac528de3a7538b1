/**
 * Commands of a container that are simple enough to simulate: `echo WORDS`, `sleep 30`, `sleep infinity`, `true`,
 * `false`, and the image `pause`. After `sh -c` also `exit 3`, and several commands with `;`, `&&` and `||`. A command
 * with anything else is not simulated at all.
 */
import type { Container } from '../../api/core/v1.ts'

export interface CommandOutcome {
  /** Milliseconds; Infinity: forever. */
  readonly duration: number
  readonly exitCode: number
  /** Absent: it prints nothing. */
  readonly printed?: readonly Printed[]
}

export interface Printed {
  /** Milliseconds from the start. */
  readonly after: number
  readonly line: string
}

/** Kubernetes makes the sandboxes of pods from this image. It does nothing, forever. */
const PAUSE = /(?:^|\/)pause(?:[:@]|$)/
/** The most characters of a script. The simulation does not parse a longer one. */
const LONGEST_SCRIPT = 4096

export function outcomeOf({ image = '', command = [], args = [] }: Container): CommandOutcome | undefined {
  if (command.length === 0 && PAUSE.test(image)) return { duration: Infinity, exitCode: 0 }
  const words = [...command, ...args]
  const [shell = '', flag, script, ...more] = words
  const isShell = /^(?:\/bin\/)?(?:ba)?sh$/.test(shell) && flag === '-c' && script !== undefined && more.length === 0
  if (!isShell) return words[0] === 'exit' ? undefined : played([{ after: ';', words }])
  return script.length > LONGEST_SCRIPT ? undefined : played(statementsOf(script))
}

interface Statement {
  /** The operator before the statement. */
  readonly after: string
  readonly words: readonly string[]
}

/** A word without characters that are special to a shell, or an operator between two statements. */
const TOKEN = /[ \t]*(?:(;|&&|\|\||\n)|((?:'[^'\\]*'|"[^"\\$`!]*"|[^\s;&|<>()$`\\'"*?#~{}[\]!=])+))/y

const QUOTED = /'([^']*)'|"([^"]*)"/g

/** @returns undefined if a shell would interpret more than words and operators */
function statementsOf(script: string): readonly Statement[] | undefined {
  const text = script.trim().replace(/;$/, '')
  const statements: Statement[] = []
  let [after, words] = [';', [] as string[]]
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length;) {
    const [all, operator, word] = TOKEN.exec(text) ?? []
    if (all === undefined) return undefined
    if (word !== undefined) words.push(word.replaceAll(QUOTED, '$1$2'))
    else if (operator !== undefined) {
      statements.push({ after, words })
      after = operator
      words = []
    }
  }
  return [...statements, { after, words }]
}

function played(statements: readonly Statement[] | undefined): CommandOutcome | undefined {
  let [duration, exitCode] = [0, 0]
  const printed: Printed[] = []
  const isSkipped = (after: string): boolean => (after === '&&' ? exitCode !== 0 : after === '||' && exitCode === 0)
  let isOver = false
  for (const { after, words } of statements ?? []) {
    const result = plain(words)
    // statements that never run must be simple, too
    if (result === undefined) return undefined
    if (isOver || isSkipped(after)) continue
    if (result.line !== undefined) printed.push({ after: duration, line: result.line })
    duration += result.duration ?? 0
    exitCode = result.exitCode ?? 0
    isOver = result.ends === true || duration === Infinity
  }
  if (statements === undefined) return undefined
  return { duration, exitCode, ...(printed.length === 0 ? {} : { printed }) }
}

interface Plain {
  readonly duration?: number
  readonly exitCode?: number
  readonly line?: string
  /** The statement ends the whole script. */
  readonly ends?: true
}

function plain([command = '', ...args]: readonly string[]): Plain | undefined {
  const name = command.replace(/^\/bin\//, '')
  // the flags of echo differ between shells
  if (name === 'echo') return args[0]?.startsWith('-') === true ? undefined : { line: args.join(' ') }
  const line = [name, ...args].join(' ')
  const [, seconds] = /^sleep (\d{1,9}(?:\.\d{1,3})?|infinity)s?$/.exec(line) ?? []
  if (seconds !== undefined) return { duration: seconds === 'infinity' ? Infinity : Number(seconds) * 1000 }
  if (line === 'true') return {}
  if (line === 'false') return { exitCode: 1 }
  const [, code] = /^exit (\d{1,3})$/.exec(line) ?? []
  return code === undefined ? undefined : { exitCode: Number(code) % 256, ends: true }
}
