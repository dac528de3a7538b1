import { trimmedOf } from '../../base/trim.ts'
/** Parses the headers Accept and Content-Type like kube-apiserver (goautoneg, Go's mime). */

/** One alternative of an Accept header. */
export interface AcceptClause {
  readonly type: string
  readonly subtype: string
  readonly q: number
  readonly parameters: ReadonlyMap<string, string>
}

const trimSpaces = (text: string): string => trimmedOf(text, ' ')

/**
 * The alternatives, best first, without malformed ones. Like in kube-apiserver, q=0 is the last choice, not a refusal.
 */
export function parseAccept(header: string): AcceptClause[] {
  const clauses: AcceptClause[] = []
  for (const part of header.split(',')) {
    const clause = parseClause(trimSpaces(part))
    if (clause !== undefined) clauses.push(clause)
  }
  return sortClauses(clauses)
}

function parseClause(text: string): AcceptClause | undefined {
  const [range = '', ...assignments] = text.split(';')
  const [type = '', ...subtypes] = range.split('/').map(trimSpaces)
  let subtype = subtypes[0] ?? ''
  if (subtypes.length > 1 && subtypes.slice(1).join('/') !== '') return undefined
  if (range.slice(range.indexOf('/') + 1) === '' || subtypes.length === 0) {
    if (type !== '*') return undefined
    subtype = '*'
  }
  let q = 1
  const parameters = new Map<string, string>()
  for (const assignment of assignments) {
    const [name = '', value = '', ...more] = assignment.split('=')
    if (value === '' || more.join('=') !== '') {
      // kube-apiserver ignores parameters like `as=` and `a=b=c`
      continue
    }
    if (trimSpaces(name) === 'q') q = parseFloat64(value)
    else parameters.set(trimSpaces(name), trimSpaces(value))
  }
  return { type, subtype, q, parameters }
}

const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

/** Go's ParseFloat. It returns 0 for a text that is no number. */
function parseFloat64(text: string): number {
  if (decimal.test(text)) return Number(text)
  const infinite = /^([+-]?)inf(?:inity)?$/i.exec(text)
  if (infinite === null) return 0
  return infinite[1] === '-' ? -Infinity : Infinity
}

/**
 * kube-apiserver's comparison is no consistent order: a clause with a lower q and a wildcard with a higher q both come
 * before the other. So the result depends on the algorithm. Go sorts up to twelve elements by insertion.
 */
function sortClauses(clauses: AcceptClause[]): AcceptClause[] {
  for (let i = 1; i < clauses.length; i++)
    for (let j = i; j > 0 && comesBefore(clauses[j]!, clauses[j - 1]!); j--) {
      const clause = clauses[j]!
      clauses[j] = clauses[j - 1]!
      clauses[j - 1] = clause
    }
  return clauses
}

const comesBefore = (a: AcceptClause, b: AcceptClause): boolean =>
  a.q > b.q || (a.type !== '*' && b.type === '*') || (a.subtype !== '*' && b.subtype === '*')

/** Whether a clause names this type, `type/subtype`, itself or by a wildcard. */
export function covers({ type, subtype }: AcceptClause, mediaType: string): boolean {
  const slash = mediaType.indexOf('/')
  if (type === '*') return subtype === '*'
  return type === mediaType.slice(0, slash) && (subtype === '*' || subtype === mediaType.slice(slash + 1))
}

/** The media ranges of a header without parameters and surrounding spaces. */
export const bareRanges = (header: string): string[] =>
  header.split(',').map((range) => trimSpaces(range.split(';', 1)[0]!))

const token = "[!#$%&'*+\\-.0-9A-Z^_`a-z{|}~]+"
const typeForm = new RegExp(`^${token}(?:/${token})?$`)
const parameterForm = new RegExp(`^\\s*;\\s*(${token})\\s*=\\s*(?:${token}|"(?:[^"\\\\\\r\\n]|\\\\.)*")`)

/** The lower-case type of a Content-Type header; undefined when the header is malformed. */
export function contentTypeOf(header: string): string | undefined {
  const end = header.indexOf(';')
  const type = (end < 0 ? header : header.slice(0, end)).trim().toLowerCase()
  if (!typeForm.test(type)) return undefined
  const names = new Set<string>()
  let rest = end < 0 ? '' : header.slice(end)
  while (rest.trim() !== '') {
    const parameter = parameterForm.exec(rest)
    if (parameter === null) return rest.trim() === ';' ? type : undefined
    const name = parameter[1]!.toLowerCase()
    if (names.has(name)) return undefined
    names.add(name)
    rest = rest.slice(parameter[0].length)
  }
  return type
}
