/**
 * Parses the field paths of validation rules and selectable fields: `.spec.a`, `.spec['a-b']` (cel's ValidFieldPath).
 */
import type { JSONSchemaProps } from '../../api/apiextensions/v1.ts'
import { FieldPath } from '../../api/field.ts'
import { isJsonObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'

export interface SchemaField {
  /** The names of the path. */
  readonly names: readonly string[]
  /** The path relative to the root schema. */
  readonly path: FieldPath
  readonly schema: JSONSchemaProps
}

/** @returns the field, or an error text */
export function pathProblem(root: JSONSchemaProps, path: string, allowsBrackets: boolean): SchemaField | string {
  const tokens = tokensOf(path)
  const names: string[] = []
  let schema = root
  let found = FieldPath.root
  let at = 0
  while (at < tokens.length) {
    const token = tokens[at++]!
    let name: string
    if (token === '.') {
      if (at >= tokens.length) return 'unexpected end of JSON path'
      name = tokens[at++]!
    } else if (token === '[') {
      if (!allowsBrackets) return 'array notation is not allowed'
      if (at >= tokens.length) return 'unexpected end of JSON path'
      const quoted = tokens[at++]!
      if (!/^'.*'$/s.test(quoted) || quoted.length < 2) return `expected single quoted string but got ${quoted}`
      name = quoted.slice(1, -1).replace(/\\(.)/gs, '$1')
    } else return `expected [ or . but got: ${token}`
    const below = memberOf(schema, name)
    if (below === undefined) return 'does not refer to a valid field'
    found = schema.properties === undefined ? found.key(name) : found.child(name)
    schema = below
    names.push(name)
    if (token === '[') {
      if (at >= tokens.length) return 'unexpected end of JSON path'
      const close = tokens[at++]!
      if (close !== ']') return `expected ] but got ${close}`
    }
  }
  return { names, path: found, schema }
}

function memberOf({ properties, additionalProperties }: JSONSchemaProps, name: string): JSONSchemaProps | undefined {
  if (properties !== undefined) return ownValue(properties, name)
  // with `true` a member has no schema
  if (typeof additionalProperties === 'boolean') return {}
  return isJsonObject(additionalProperties) ? (additionalProperties as JSONSchemaProps) : undefined
}

/** Splits a path into delimiters, quoted texts and the texts between them. */
const tokensOf = (path: string): string[] => path.match(/[.[\]]|'(?:[^'\\]|\\.)*'|[^.[\]]+/gs) ?? []
