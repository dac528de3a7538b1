/**
 * Field selectors in a query: `a=b,c==d,e!=f`, with `\,`, `\=` and `\\` in values (apimachinery's pkg/fields). The
 * strategy of a kind decides which fields it supports. Requirements come in the order in which kube-apiserver checks
 * them.
 */
import { badRequest } from '../../api/status.ts'
import type { FieldRequirement } from './selection.ts'

/** @throws StatusError 400 with the parser's text alone */
export function parseFieldSelector(text: string): FieldRequirement[] {
  return (
    splitTerms(text)
      .sort()
      .filter((term) => term !== '')
      .map((term) => parseTerm(text, term))
      // as in Go, a term without field and value matches everything
      .filter(({ field, value }) => field !== '' || value !== '')
  )
}

/** Splits at commas without a backslash before them. */
function splitTerms(text: string): string[] {
  return text.match(/(?<=^|,)(?:[^\\,]|\\[\s\S]?)*(?=,|$)/g) ?? []
}

function parseTerm(selector: string, term: string): FieldRequirement {
  const operator = /!=|==?/.exec(term)
  if (operator === null) throw badRequest(`invalid selector: '${selector}'; can't understand '${term}'`)
  return {
    field: term.slice(0, operator.index),
    operator: operator[0] === '!=' ? '!=' : '=',
    value: unescapeValue(term.slice(operator.index + operator[0].length)),
  }
}

function unescapeValue(value: string): string {
  return value.replace(/\\([\s\S]?)|[,=]/gu, (found, escaped?: string) => {
    if (escaped === undefined)
      throw badRequest(`invalid field selector: unescaped character in value: ${found.charCodeAt(0)}`)
    if (escaped !== '\\' && escaped !== ',' && escaped !== '=')
      throw badRequest(`invalid field selector: invalid escape sequence: ${found}`)
    return escaped
  })
}
