/** The text of a Go template (text/template) cut into plain text and the words of its actions. */

/** The template is wrong, or does more than is allowed. */
export class TemplateError extends Error {}

export type Token =
  | { readonly kind: 'name' | 'variable' | 'mark'; readonly text: string }
  /** `.a.b`, or `.` alone: []. Follows a variable or a parenthesis where `follows`. */
  | { readonly kind: 'field'; readonly path: readonly string[]; readonly follows: boolean }
  | { readonly kind: 'literal'; readonly value: string | number }

export type Piece = { readonly text: string } | { readonly action: readonly Token[] }

const TOKEN = /(\s+)|("(?:[^"\\\n]|\\.)*"|`[^`]*`)|([-+]?\d+(?:\.\d+)?)|(\$\w*)|(\.\w+|\.)|(:=|[=|(),])|([A-Za-z_]\w*)/y // pattern: each alternative begins with other characters

/** @throws TemplateError */
export function piecesOf(template: string): Piece[] {
  const pieces: Piece[] = []
  let at = 0
  let trims = false
  for (;;) {
    const open = template.indexOf('{{', at)
    const end = open < 0 ? template.length : open
    const trimsNext = template.startsWith('{{- ', end) || template.startsWith('{{-\n', end)
    let text = template.slice(at, end)
    if (trims) text = text.trimStart()
    if (trimsNext) text = text.trimEnd()
    if (text !== '') pieces.push({ text })
    if (open < 0) return pieces
    const action = actionAt(template, open + (trimsNext ? 3 : 2))
    if (action.tokens !== undefined) pieces.push({ action: action.tokens })
    ;({ at, trims } = action)
  }
}

interface ActionText {
  /** Undefined: a comment. */
  readonly tokens: Token[] | undefined
  readonly at: number
  readonly trims: boolean
}

function actionAt(template: string, from: number): ActionText {
  const comment = /\s*\/\*/y
  comment.lastIndex = from
  if (comment.test(template)) {
    const [end, close] = [template.indexOf('*/', from), template.indexOf('}}', template.indexOf('*/', from))]
    if (end < 0 || close < 0) throw new TemplateError('unclosed comment')
    return { tokens: undefined, at: close + 2, trims: template[close - 1] === '-' }
  }
  const tokens: Token[] = []
  let [at, isAfterBlank] = [from, true]
  for (;;) {
    if (template.startsWith('}}', at)) return { tokens, at: at + 2, trims: false }
    if (isAfterBlank && template.startsWith('-}}', at)) return { tokens, at: at + 3, trims: true }
    TOKEN.lastIndex = at
    const found = TOKEN.exec(template)
    if (found === null) {
      if (at >= template.length) throw new TemplateError('unclosed action')
      throw new TemplateError(`unexpected ${JSON.stringify(template[at])} in an action`)
    }
    const [all, blank, text, number, variable, field, mark, name] = found
    if (text !== undefined) tokens.push({ kind: 'literal', value: textOf(text) })
    else if (number !== undefined) tokens.push({ kind: 'literal', value: Number(number) })
    else if (variable !== undefined) tokens.push({ kind: 'variable', text: variable })
    else if (field !== undefined) addField(tokens, field.slice(1), !isAfterBlank)
    else if (mark !== undefined) tokens.push({ kind: 'mark', text: mark })
    else if (name !== undefined) tokens.push({ kind: 'name', text: name })
    isAfterBlank = blank !== undefined || mark === '('
    at += all.length
  }
}

/** Fields that stand together are one path. */
function addField(tokens: Token[], name: string, stands: boolean): void {
  const last = tokens.at(-1)
  const path = name === '' ? [] : [name]
  if (stands && last?.kind === 'field' && last.path.length > 0 && path.length > 0)
    tokens[tokens.length - 1] = { ...last, path: [...last.path, ...path] }
  else {
    const follows = stands && (last?.kind === 'variable' || (last?.kind === 'mark' && last.text === ')'))
    tokens.push({ kind: 'field', path, follows })
  }
}

function textOf(literal: string): string {
  if (literal.startsWith('`')) return literal.slice(1, -1)
  try {
    return JSON.parse(literal) as string // a string between quotation marks
  } catch {
    throw new TemplateError(`the text ${literal} has an escape that is not known`)
  }
}
