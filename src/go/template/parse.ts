/** Go templates as trees: actions, pipelines, variables, if, range, with, break and continue. Not: define, template, block. */
import type { Token } from './tokens.ts'
import { TemplateError, piecesOf } from './tokens.ts'

export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly pipe: Pipe }
  | {
      readonly kind: 'if' | 'with' | 'range'
      readonly pipe: Pipe
      readonly body: readonly Node[]
      readonly other: readonly Node[]
    }
  | { readonly kind: 'break' }
  | { readonly kind: 'continue' }

export interface Pipe {
  /** `$x := …`, `$x = …`, `$index, $item := …` */
  readonly variables: readonly string[]
  readonly declares: boolean
  readonly commands: readonly (readonly Term[])[]
}

export type Term =
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null }
  | { readonly kind: 'field'; readonly path: readonly string[] }
  | { readonly kind: 'variable'; readonly name: string; readonly path: readonly string[] }
  | { readonly kind: 'pipe'; readonly pipe: Pipe; readonly path: readonly string[] }
  | { readonly kind: 'call'; readonly name: string }

/** Levels of blocks and parentheses. */
const DEEPEST = 32
const CONSTANTS: ReadonlyMap<string, boolean | null> = new Map<string, boolean | null>([
  ['true', true],
  ['false', false],
  ['nil', null],
])

/**
 * @param functions that may be called
 * @throws TemplateError
 */
export function parseTemplate(template: string, functions: { has(name: string): boolean }): readonly Node[] {
  const pieces = piecesOf(template)
  let next = 0

  /** @returns what ended the block: `else` with its rest, or `end`; undefined: the text */
  function block(depth: number, isLoop: boolean): { nodes: Node[]; ended: readonly Token[] | undefined } {
    if (depth > DEEPEST) throw new TemplateError(`more than ${DEEPEST} blocks within one another`)
    const nodes: Node[] = []
    while (next < pieces.length) {
      const piece = pieces[next++]!
      if ('text' in piece) {
        nodes.push({ kind: 'text', text: piece.text })
        continue
      }
      const word = piece.action[0]?.kind === 'name' ? piece.action[0].text : ''
      if (word === 'end' || word === 'else') return { nodes, ended: piece.action }
      if (word === 'break' || word === 'continue') {
        if (!isLoop) throw new TemplateError(`{{${word}}} outside of {{range}}`)
        nodes.push({ kind: word })
      } else if (word === 'if' || word === 'with' || word === 'range')
        nodes.push(branch(word, piece.action.slice(1), depth, isLoop || word === 'range'))
      else if (word === 'define' || word === 'template' || word === 'block')
        throw new TemplateError(`{{${word}}} is not supported`)
      else nodes.push({ kind: 'action', pipe: new PipeReader(piece.action, functions).whole() })
    }
    return { nodes, ended: undefined }
  }

  function branch(kind: 'if' | 'with' | 'range', head: readonly Token[], depth: number, isLoop: boolean): Node {
    const pipe = new PipeReader(head, functions).whole()
    const { nodes: body, ended } = block(depth + 1, isLoop)
    if (ended === undefined) throw new TemplateError(`{{${kind}}} without {{end}}`)
    if (ended[0]?.kind === 'name' && ended[0].text === 'end') return { kind, pipe, body, other: [] }
    const [, word, ...rest] = ended
    // {{else if …}} is closed by the same {{end}}
    if (word?.kind === 'name' && (word.text === 'if' || word.text === 'with'))
      return { kind, pipe, body, other: [branch(word.text, rest, depth + 1, isLoop)] }
    if (word !== undefined) throw new TemplateError('unexpected words behind {{else}}')
    const { nodes: other, ended: closed } = block(depth + 1, isLoop)
    if (closed?.[0]?.kind !== 'name' || closed[0].text !== 'end') throw new TemplateError(`{{${kind}}} without {{end}}`)
    return { kind, pipe, body, other }
  }

  const { nodes, ended } = block(0, false)
  if (ended !== undefined) throw new TemplateError('{{end}} or {{else}} without a beginning')
  return nodes
}

class PipeReader {
  private at = 0

  constructor(
    private readonly tokens: readonly Token[],
    private readonly functions: { has(name: string): boolean },
  ) {}

  whole(): Pipe {
    const pipe = this.pipe(0)
    if (this.at < this.tokens.length) throw new TemplateError(`unexpected ${this.shown(this.tokens[this.at])}`)
    return pipe
  }

  private pipe(depth: number): Pipe {
    if (depth > DEEPEST) throw new TemplateError(`more than ${DEEPEST} parentheses within one another`)
    const { variables, declares } = this.declaration()
    const commands: Term[][] = []
    do commands.push(this.command(depth))
    while (this.takes('|'))
    if (commands.slice(1).some(([first]) => first?.kind !== 'call'))
      throw new TemplateError('what follows | is no function')
    return { variables, declares, commands }
  }

  private declaration(): { variables: readonly string[]; declares: boolean } {
    const [first, comma, second, assigns] = this.tokens.slice(this.at, this.at + 4)
    if (first?.kind !== 'variable') return { variables: [], declares: false }
    if (isMark(comma, ':=') || isMark(comma, '=')) {
      this.at += 2
      return { variables: [first.text], declares: isMark(comma, ':=') }
    }
    if (isMark(comma, ',') && second?.kind === 'variable' && (isMark(assigns, ':=') || isMark(assigns, '='))) {
      this.at += 4
      return { variables: [first.text, second.text], declares: isMark(assigns, ':=') }
    }
    return { variables: [], declares: false }
  }

  private command(depth: number): Term[] {
    const terms: Term[] = []
    for (;;) {
      const token = this.tokens[this.at]
      if (token === undefined || isMark(token, '|') || isMark(token, ')')) break
      terms.push(this.term(token, depth))
    }
    const [first, ...others] = terms
    if (first === undefined) throw new TemplateError('a command is missing')
    if (others.length > 0 && first.kind !== 'call') throw new TemplateError('what has arguments is no function')
    return terms
  }

  private term(token: Token, depth: number): Term {
    this.at++
    if (token.kind === 'literal') return token
    if (token.kind === 'field') return { kind: 'field', path: token.path }
    if (token.kind === 'variable') return { kind: 'variable', name: token.text, path: this.following() }
    if (isMark(token, '(')) {
      const pipe = this.pipe(depth + 1)
      if (!this.takes(')')) throw new TemplateError('a parenthesis is not closed')
      return { kind: 'pipe', pipe, path: this.following() }
    }
    if (token.kind !== 'name') throw new TemplateError(`unexpected ${this.shown(token)}`)
    const constant = CONSTANTS.get(token.text)
    if (constant !== undefined) return { kind: 'literal', value: constant }
    if (!this.functions.has(token.text)) throw new TemplateError(`function "${token.text}" is not known`)
    return { kind: 'call', name: token.text }
  }

  private following(): readonly string[] {
    const token = this.tokens[this.at]
    if (token?.kind !== 'field' || !token.follows) return []
    this.at++
    return token.path
  }

  private takes(mark: string): boolean {
    if (!isMark(this.tokens[this.at], mark)) return false
    this.at++
    return true
  }

  private shown(token: Token | undefined): string {
    return token === undefined ? 'end' : 'text' in token ? `"${token.text}"` : token.kind
  }
}

const isMark = (token: Token | undefined, text: string): boolean => token?.kind === 'mark' && token.text === text
