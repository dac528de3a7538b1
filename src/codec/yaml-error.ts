/**
 * Syntax errors of YAML in the words of the library that Kubernetes uses, as far as they follow from the kind of the
 * error and the character at its place.
 */
import type { YAMLException } from 'js-yaml'

/** Text that is no YAML, or YAML that is no JSON; `message` begins with `yaml: ` where the reference's does. */
export class YamlError extends Error {
  override readonly name = 'YamlError'
}

/** Found while cutting the text into tokens, or while putting tokens together: lines are counted differently. */
type Problem = readonly ['token' | 'structure', string]

const cannotStart: Problem = ['token', 'found character that cannot start any token']
const mappingValues: Problem = ['token', 'mapping values are not allowed in this context']
const noKey: Problem = ['structure', 'did not find expected key']
const noItem: Problem = ['structure', "did not find expected '-' indicator"]
const noNode: Problem = ['structure', 'did not find expected node content']

/** @param text what was read, up to the end of the first document */
export function yamlSyntaxError(text: string, error: YAMLException): YamlError {
  const { reason, mark } = error
  const line = mark?.line ?? 0
  const at = text.split('\n', line).reduce((sum, before) => sum + before.length + 1, 0) + (mark?.column ?? 0)
  const atEnd = reason.startsWith('unexpected end of the stream')
  const [found, problem] = problemOf(text, reason, at)
  if (atEnd && found === 'structure') {
    const lines = text.split('\n').length
    return yamlError(text.endsWith('\n') ? lines - 1 : lines, problem)
  }
  const place = atEnd ? text.split('\n').length - 1 : line
  if (place > 0) return yamlError(found === 'token' ? place + 1 : place, problem)
  return new YamlError(`yaml: ${problem}`)
}

const yamlError = (line: number, problem: string) => new YamlError(`yaml: line ${line}: ${problem}`)

function problemOf(text: string, reason: string, at: number): Problem {
  const character = text.charAt(at)
  if (reason.startsWith('nesting exceeded')) return ['token', 'exceeded max depth of 10000']
  if (reason.includes('non-printable') || reason.includes('null byte') || reason.includes('valid JSON character'))
    return ['token', 'control characters are not allowed']
  if (reason.includes('YAML version') || reason.includes('YAML directive'))
    return ['structure', 'found incompatible YAML document']
  if (reason.startsWith('undeclared tag handle')) return ['structure', 'found undefined tag handle']
  if (reason.startsWith('unexpected end of the stream within a flow')) return endOfFlow(text)
  if (reason.startsWith('unexpected end of the stream')) return ['token', 'found unexpected end of stream']
  if (reason.startsWith('unexpected end of the document')) return ['token', 'found unexpected document indicator']
  if (reason === 'unknown escape sequence') return ['token', 'found unknown escape character']
  if (reason === 'expected hexadecimal character') return ['token', 'did not find expected hexdecimal number']
  if (reason.includes('multiline key') || reason.startsWith("expected ':'"))
    return ['token', "could not find expected ':'"]
  if (reason.startsWith('tab characters')) return cannotStart
  if (reason.includes('alias node must') || reason.includes('anchor node must'))
    return ['token', 'did not find expected alphabetic or numeric character']
  if (reason.startsWith('missed comma'))
    return ['structure', `did not find expected ',' or '${closing(text.slice(0, at))}'`]
  if (reason.startsWith('expected the node content')) return noNode
  if (character === ':') return mappingValues
  if (character !== '' && '@`%\t'.includes(character)) return cannotStart
  if (character !== '' && '}],'.includes(character)) return noNode
  if (reason.includes('sequence entry')) return noItem
  if (character === '-' && reason.includes('mapping entry'))
    return ['token', 'block sequence entries are not allowed in this context']
  if (reason.startsWith('end of the stream or a document separator')) return afterRoot(text, at)
  return noKey
}

function endOfFlow(text: string): Problem {
  const last = text.trimEnd().at(-1) ?? ''
  return '[{,:?'.includes(last) ? noNode : ['structure', `did not find expected ',' or '${closing(text)}'`]
}

/** The bracket that the innermost open one waits for. */
function closing(text: string): string {
  const open: string[] = []
  for (const character of text) {
    if (character === '[') open.push(']')
    else if (character === '{') open.push('}')
    else if (character === open.at(-1)) open.pop()
  }
  return open.at(-1) ?? ']'
}

/** Something follows the root node: at its column it should have been part of it. */
function afterRoot(text: string, at: number): Problem {
  const first = /^(?:---)?[ \t]*([^\s#].*)$/m.exec(text)
  const column = at - (text.lastIndexOf('\n', at - 1) + 1)
  const rootColumn = first === null ? 0 : /^ */.exec(first[0])![0].length
  if (column !== rootColumn) return ['structure', 'did not find expected <document start>']
  return /^-(?:\s|$)/.test(first?.[1] ?? '') ? noItem : noKey
}
