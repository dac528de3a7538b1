/**
 * Syntax errors of YAML in the words of the library that Kubernetes uses. They are derived from the kind of the error
 * and the text at its place.
 */
import type { YAMLException } from 'js-yaml'
import { Budget } from '../api/budget.ts'

/** Text that is no YAML, or YAML that is no JSON; `message` begins with `yaml: ` where kube-apiserver's does. */
export class YamlError extends Error {
  override readonly name = 'YamlError'
}

/**
 * Found while cutting the text into tokens, or while putting tokens together: kube-apiserver counts lines from 1 for
 * the former and from 0 for the latter, and names no line that it counts as 0. `end`: noticed at the end of the text.
 */
interface Problem {
  readonly found: 'token' | 'structure'
  readonly text: string
  readonly at: 'here' | 'next' | 'end'
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

/** Where an error stands. */
interface Place {
  readonly text: string
  readonly at: number
  readonly line: number
}

/**
 * @param text what was read, up to the end of the first document
 * @returns undefined when the text is right up to the place of the error, beyond which kube-apiserver does not look
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
  if (counted === 0) return new YamlError(`yaml: ${what}`)
  return yamlErrorAt(found === 'token' ? counted + 1 : counted, what)
}

export const yamlErrorAt = (line: number, what: string) =>
  new YamlError(`yaml: ${line > 0 ? `line ${line}: ` : ''}${what}`)

/** kube-apiserver counts a last line without a line break as finished. */
const endLine = (text: string) => text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
const lastLine = (text: string, found: Problem['found']) =>
  found === 'structure' ? endLine(text) : text.split('\n').length - 1

/** The line of the next token after those of a line. */
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

/** Whether the line begins at the column of the items of a list that is a level of its own. */
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
    return token('control characters are not allowed')
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

/** Whether nothing, or nothing but spaces, stands before the place in its line. */
const isLineStart = (place: Place, spaces = false) => (spaces ? /^ *$/ : /^$/).test(lineBefore(place))

function directive(text: string): Problem {
  if (!/^%[\w-]/.test(text)) return token('could not find expected directive name')
  return token(/^%[\w-]+\s/.test(text) ? 'found unknown directive name' : 'found unexpected non-alphabetical character')
}

/** Patterns look at so many characters of a line. */
const LONG = 400

/** A tab where spaces should be. The message depends on what the line before it is part of. */
function tab({ text, line }: Place): Problem {
  const before = text.split('\n').slice(0, line).reverse()
  const last = (before.find((one) => /\S/.test(one)) ?? '').slice(0, LONG)
  const header = before.find((one) => one.search(/\S/) < last.search(/\S/) && /\S/.test(one)) ?? ''
  if (/[|>][-+0-9]*\s*$/.test(last) || /: [|>][-+0-9]*\s*$/.test(header))
    return token('found a tab character where an indentation space is expected')
  // pattern: of a line that is cut (LONG)
  const isPlain = /(?:[:-] )?[^\s:"'\]}|>#-][^"'\]}#]*$/.test(last) && !/:\s*$/.test(last) && !/["'\]}]\s*$/.test(last)
  return isPlain ? token('found a tab character that violates indentation') : cannotStart
}

/** Quotes and brackets may go on without indentation there: they are not closed, or something stands in them. */
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
 * The brackets that open ones wait for, innermost last. What is in quotes does not count; a quote that does not end is
 * a character like others, and then none behind it ends either.
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

/** Where the quote ends that begins at a place; -1 where it does not. Quotes in single quotes are not doubled here. */
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
  // pattern: the end of a line is always there
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
 * Something that is no item follows an item. A list that stands at the column of its name is no level of its own, and
 * it is the mapping around it that goes on.
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

/** Something follows the root node: at its column it should have been part of it; elsewhere it is not looked at. */
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
  // a name needs its colon before anything else can be said of it
  const rest = /^[^\n]*/.exec(text.slice(at))![0]
  if (isItem && column === rootColumn && !/:(?: |$)/.test(rest) && !/^[[{\]},]/.test(rest)) return noColon
  return isItem ? noItem : noKey
}
