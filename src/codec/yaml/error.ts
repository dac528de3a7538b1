/**
 * Translates syntax errors of js-yaml into the texts of Kubernetes' YAML library, by the kind of the error and the text
 * at its place.
 */
import type { YAMLException } from 'js-yaml'
import { Budget } from '../../base/budget.ts'

/** The text is no YAML, or the YAML is no JSON. `message` begins with `yaml: ` where kube-apiserver's message does. */
export class YamlError extends Error {
  override readonly name = 'YamlError'
}

/**
 * An error of the scanner (`token`) or the parser (`structure`). kube-apiserver counts lines of scanner errors from 1
 * and of parser errors from 0, and its message omits a line 0. `at` is the line: that of the error, of the next token,
 * or the end of the text. Errors of the reader, which comes before the scanner, have no line.
 */
interface Problem {
  readonly found: 'token' | 'structure'
  readonly text: string
  readonly at: 'here' | 'next' | 'end' | 'nowhere'
}

const token = (text: string, at: Problem['at'] = 'here'): Problem => ({ found: 'token', text, at })
const structure = (text: string, at: Problem['at'] = 'here'): Problem => ({ found: 'structure', text, at })

const cannotStart = token('found character that cannot start any token')
const mappingValues = token('mapping values are not allowed in this context')
const noName = token('did not find expected alphabetic or numeric character')
const endOfStream = token('found unexpected end of stream', 'end')
const noColon = token("could not find expected ':'", 'next')
const noKey = structure('did not find expected key')
const noItem = structure("did not find expected '-' indicator")
const noSpaceAfterTag = token('did not find expected whitespace or line break')
const noNode = structure('did not find expected node content')

/** The place of an error. */
interface Place {
  readonly text: string
  readonly at: number
  readonly line: number
}

/**
 * @param text the first document
 * @returns `endsAt` where the text before the error is a valid document: kube-apiserver does not read further
 */
export function yamlSyntaxError(text: string, error: YAMLException): YamlError | { readonly endsAt: number } {
  const line = error.mark?.line ?? 0
  const at = text.split('\n', line).reduce((sum, before) => sum + before.length + 1, 0) + (error.mark?.column ?? 0)
  const place = { text, at, line }
  const problem = problemOf(place, error.reason)
  return problem === undefined ? { endsAt: at } : errorOf(place, problem)
}

function errorOf({ text, line }: Place, { found, text: what, at }: Problem): YamlError {
  const counted = at === 'here' ? line : at === 'next' ? nextLine(text, line) : lastLine(text, found)
  if (counted === 0 || at === 'nowhere') return new YamlError(`yaml: ${what}`)
  return yamlErrorAt(found === 'token' ? counted + 1 : counted, what)
}

export const yamlErrorAt = (line: number, what: string) =>
  new YamlError(`yaml: ${line > 0 ? `line ${line}: ` : ''}${what}`)

/** kube-apiserver counts a last line without a line break as a whole line. */
const endLine = (text: string) => text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
const lastLine = (text: string, found: Problem['found']) =>
  found === 'structure' ? endLine(text) : text.split('\n').length - 1

/** The line of the first token after a line. */
function nextLine(text: string, line: number): number {
  const lines = text.split('\n')
  for (let next = line + 1; next < lines.length; next++) if (/^\s*[^\s#]/.test(lines[next]!)) return next
  return endLine(text)
}

function problemOf(place: Place, reason: string): Problem | undefined {
  const known = knownReason(place, reason)
  if (known !== undefined) return known
  const { text, at } = place
  const character = text.charAt(at)
  const following = text.slice(at, at + 200)
  if (/^ *\t\s*$/.test(lineBefore(place))) return tab(place)
  if (reason.startsWith('deficient indentation')) return unclosed(place)
  if (reason.startsWith('end of the stream or a document separator')) return afterRoot(place)
  if (character === ':') return mappingValues
  if (/^[&*]/.test(character)) return /^[&*][\w-]+(?:[\s?:,\]}%@`]|$)/.test(following) ? noKey : noName
  if (/^[@`]/.test(character)) return cannotStart
  if (character === '%') return isLineStart(place) ? directive(following) : cannotStart
  if (character === '\t') return tab(place)
  if (/^[>|]./.test(following) && !/^[>|][-+0-9]*\s*(?:#.*)?(?:\n|$)/.test(following))
    return token('did not find expected comment or line break')
  if (reason.includes('sequence entry')) return afterItem(place)
  if (/^["']/.test(character) && !closes(text, at)) return endOfStream
  if (/^-\s/.test(following) && !isLineStart(place, true))
    return token('block sequence entries are not allowed in this context')
  if (/^[}\],]/.test(character) && /[:-]\s*$/.test(lineBefore(place))) return noNode
  if (/^!\S*["'{}[\],]/.test(following)) return noSpaceAfterTag
  return standsInList(place) ? noItem : noKey
}

/** Whether the line begins at the column of list items, where the list has its own indentation level. */
function standsInList({ text, line }: Place): boolean {
  const lines = text.split('\n').slice(0, line + 1)
  const column = lines.pop()!.search(/\S/)
  const above = lines.reverse().filter((one) => /\S/.test(one))
  const end = above.findIndex((one) => one.search(/\S/) < column)
  const level = above.slice(0, end < 0 ? undefined : end).filter((one) => one.search(/\S/) === column)
  return level.some((one) => /^ *-(?: |$)/.test(one)) && level.every((one) => /^ *-(?: |$)/.test(one))
}

function knownReason(place: Place, reason: string): Problem | undefined {
  const { text, at } = place
  if (reason.startsWith('nesting exceeded')) return structure('exceeded max depth of 10000')
  if (reason.includes('non-printable') || reason.includes('null byte') || reason.includes('valid JSON character'))
    return token('control characters are not allowed', 'nowhere')
  if (reason.includes('YAML version') || reason.includes('YAML directive'))
    return structure('found incompatible YAML document')
  if (reason.startsWith('undeclared tag handle')) return structure('found undefined tag handle')
  if (reason.startsWith('unexpected end of the stream within a flow')) return endOfFlow(text)
  if (reason.startsWith('unexpected end of the stream')) return endOfStream
  if (reason.startsWith('unexpected end of the document')) return token('found unexpected document indicator')
  if (reason === 'unknown escape sequence') return token('found unknown escape character')
  if (reason === 'expected hexadecimal character') return token('did not find expected hexdecimal number')
  if (reason === 'a line break is expected') return token('did not find expected comment or line break')
  if (reason.includes('multiline key')) return token("could not find expected ':'")
  if (reason.startsWith("expected ':'")) return noColon
  if (reason.startsWith('tab characters')) return tab(place)
  if (reason.includes('alias node must') || reason.includes('anchor node must')) return noName
  if (reason.startsWith('missed comma')) return betweenElements(text, at)
  if (reason.startsWith('expected the node content')) return noNode
  return undefined
}

const lineBefore = ({ text, at }: Place) => text.slice(text.lastIndexOf('\n', at - 1) + 1, at)

/** Whether the place is at the start of its line. @param spaces spaces may precede it */
const isLineStart = (place: Place, spaces = false) => (spaces ? /^ *$/ : /^$/).test(lineBefore(place))

function directive(text: string): Problem {
  if (!/^%[\w-]/.test(text)) return token('could not find expected directive name')
  return token(/^%[\w-]+\s/.test(text) ? 'found unknown directive name' : 'found unexpected non-alphabetical character')
}

/** Patterns search at most this many characters of a line. */
const LONG = 400

/** The error for a tab in place of spaces. Its message depends on the node to which the line before belongs. */
function tab({ text, line }: Place): Problem {
  const before = text.split('\n').slice(0, line).reverse()
  const last = (before.find((one) => /\S/.test(one)) ?? '').slice(0, LONG)
  const header = before.find((one) => one.search(/\S/) < last.search(/\S/) && /\S/.test(one)) ?? ''
  if (/[|>][-+0-9]*\s*$/.test(last) || /: [|>][-+0-9]*\s*$/.test(header))
    return token('found a tab character where an indentation space is expected')
  // pattern: the line is cut (LONG)
  const isPlain = /(?:[:-] )?[^\s:"'\]}|>#-][^"'\]}#]*$/.test(last) && !/:\s*$/.test(last) && !/["'\]}]\s*$/.test(last)
  return isPlain ? token('found a tab character that violates indentation') : cannotStart
}

/**
 * The error within quotes or brackets, which may continue without indentation: one is unclosed, or has invalid content.
 */
function unclosed({ text, at }: Place): Problem {
  const before = text.slice(0, at)
  const quote = /(["'])[^"'\n]*\n[^\n]*$/.exec(before)?.[1] ?? /(["'])[^"'\n]*\n?$/.exec(before)?.[1]
  if (openBrackets(before).length === 0 && quote !== undefined && !text.slice(at).includes(quote)) return endOfStream
  const open = openBrackets(before)
  if (open.length === 0) return noColon
  const isBlock = /^-\s/.test(text.slice(at))
  return structure(`did not find expected ',' or '${open.at(-1)}'`, isBlock ? 'here' : 'end')
}

/**
 * The closing brackets that open ones need, innermost last. Quoted brackets do not count. A quote without an end is a
 * plain character, and so are later quotes of the same kind.
 * @param work counts characters
 */
export function openBrackets(text: string, work = new Budget()): string[] {
  const open: string[] = []
  const unended = new Set<string>()
  for (let at = 0; at < text.length; at++) {
    work.spend()
    const character = text[at]!
    if (character === '[') open.push(']')
    else if (character === '{') open.push('}')
    else if ((character === ']' || character === '}') && character === open.at(-1)) open.pop()
    else if ((character === '"' || character === "'") && !unended.has(character)) {
      const end = endOfQuoted(text, at, work)
      if (end < 0) unended.add(character)
      else at = end
    }
  }
  return open
}

/** The end of the quoted text that begins at `start`, or -1. It ignores that `''` is an escape within single quotes. */
function endOfQuoted(text: string, start: number, work: Budget): number {
  const quote = text[start]!
  for (let at = start + 1; at < text.length; at++) {
    work.spend()
    if (text[at] === quote) return at
    if (text[at] === '\\' && quote === '"') at++
  }
  return -1
}

const closing = (text: string) => openBrackets(text).at(-1) ?? ']'

function endOfFlow(text: string): Problem {
  // pattern: every line has an end, so the match cannot fail late
  const content = text.replace(/(^|\s)#.*$/gm, '').trimEnd()
  if (/[[{,:?]$/.test(content)) return structure(noNode.text, 'end')
  return structure(`did not find expected ',' or '${closing(text)}'`, 'end')
}

function betweenElements(text: string, at: number): Problem {
  const before = text.slice(0, at)
  const character = text.charAt(at)
  if (/^[@`%|>]/.test(character)) return cannotStart
  if (/^[&*]/.test(character) && !/^[&*][\w-]+(?:[\s?:,\]}%@`]|$)/.test(text.slice(at))) return noName
  if (/^!\S*["'{}[\]]/.test(text.slice(at))) return noSpaceAfterTag
  if (/^["']/.test(character) && !closes(text, at)) return endOfStream
  const previous = before.trimEnd().at(-1) ?? ''
  if (/^[@`%|>]/.test(previous)) return cannotStart
  if (previous === '-' || '[{,'.includes(previous)) return noNode
  return structure(`did not find expected ',' or '${closing(before)}'`)
}

/** Whether a quoted scalar that begins at a place ends. */
const closes = (text: string, at: number) => endOfQuoted(text, at, new Budget()) >= 0

/**
 * The error for a line that follows a list item and is none. Where the list is at the column of its name, it has no
 * indentation level of its own, so the parser expects a key of the mapping around it.
 */
function afterItem(place: Place): Problem {
  const lines = place.text.split('\n').slice(0, place.line).reverse()
  const column = lineBefore(place).length
  const item = lines.find((line) => /^ *-(?: |$)/.test(line) && line.search(/-/) < column)
  if (item === undefined) return noItem
  const itemColumn = item.search(/-/)
  const above = lines
    .slice(lines.indexOf(item))
    .find((line) => /\S/.test(line) && !(line.search(/\S/) > itemColumn || /^ *-/.test(line)))
  return above !== undefined && above.search(/\S/) === itemColumn ? noKey : noItem
}

/** The error for text behind the root node. At a column left of the root node, kube-apiserver ignores the text. */
function afterRoot(place: Place): Problem | undefined {
  const { text, at } = place
  const first = /^(?:---)?([ \t]*)([^\s#].*)$/m.exec(text)
  const content = first?.[2] ?? ''
  if (/^\t/.test(first?.[1] ?? '') || /^[@`]/.test(content)) return cannotStart
  if (/^[}\],]/.test(content)) return noNode
  const character = text.charAt(at)
  if (character === ':') return mappingValues
  const isCollection = /^(?:-(?: |$)|[^"'[{].*?:(?: |$)|"(?:[^"\\]|\\.)*" *:|'[^']*' *:)/.test(content)
  if (!isCollection) return undefined
  const column = lineBefore(place).length
  const rootColumn = (first?.[1] ?? '').length
  if (character === '%' && column === 0) return directive(text.slice(at))
  if (/^[@`]/.test(character)) return cannotStart
  if (column < rootColumn) return undefined
  if (/^["']/.test(character) && !closes(text, at)) return endOfStream
  if (/^!\S*["'{}[\],]/.test(text.slice(at))) return noSpaceAfterTag
  const isItem = /^-(?: |$)/.test(content)
  // the scanner looks for the colon of a name before the parser sees the name
  const rest = /^[^\n]*/.exec(text.slice(at))![0]
  if (isItem && column === rootColumn && !/:(?: |$)/.test(rest) && !/^[[{\]},]/.test(rest)) return noColon
  return isItem ? noItem : noKey
}
