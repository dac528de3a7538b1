/** Checks values against a type, with the messages of structured-merge-diff (pkg/typed). */
import { append } from '../base/append.ts'
import { isJsonObject } from '../api/object.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { eachPart, flatMapParts, kept } from '../base/parts.ts'
import type { Atom, ListAtom, MapAtom, ScalarKind } from '../schema/atom.ts'
import { NamelessElement, eachField, elementOf, walk } from '../schema/walk.ts'
import { elementText, fieldElement } from '../schema/path-element.ts'
import type { PathElement } from '../schema/path-element.ts'
import { goSyntax, goType, goValue } from '../go/value.ts'

export interface Problem {
  readonly path: string
  readonly message: string
}

/** A value does not fit its type. */
export class TypeMismatch extends Error {
  constructor(problems: readonly Problem[]) {
    const texts = problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
    super(texts.length === 1 ? texts[0]! : ['errors:', ...texts.map((text) => `  ${text}`)].join('\n'))
  }
}

export const at = (element: PathElement, problems: readonly Problem[]): Problem[] =>
  problems.length === 0 ? [] : problems.map(({ path, message }) => ({ path: elementText(element) + path, message }))

export const problem = (message: string): Problem[] => [{ path: '', message }]

/** @throws TypeMismatch with all problems */
export function checkType(atom: Atom, value: Json, duplicates: 'allowed' | 'refused'): void {
  const problems = problemsOf(atom, value, duplicates === 'allowed')
  if (problems.length > 0) throw new TypeMismatch(problems)
}

function problemsOf(atom: Atom, value: Json, duplicates: boolean): Problem[] {
  if (isScalarAt(atom, value)) return scalarProblems(atom.scalar, value, '')
  return walk(atom, value, {
    scalar: (kind) => scalarProblems(kind, value, ''),
    list: (list) => {
      if (value === null) return []
      if (!Array.isArray(value)) return problem(`expected list, got ${wrapperText(value)}`)
      return list.atomic ? indexedProblems(list, value, duplicates) : namedProblems(list, value, duplicates)
    },
    map: (map) => {
      if (value === null) return []
      if (!isJsonObject(value)) return problem(`expected map, got ${wrapperText(value)}`)
      return mapProblems(map, value, duplicates)
    },
  })
}

/** True of most values, for which `walk` need not choose a rule. */
export const isScalarAt = (atom: Atom, value: Json | undefined): atom is Atom & { scalar: ScalarKind } =>
  typeof value !== 'object' && value !== undefined && atom.scalar !== undefined

/** The text of Go's `%v` for kube-apiserver's wrapper around a value. */
const wrapperText = (value: Json) => `&{${goValue(value)}}`

const indexedProblems = (list: ListAtom, items: readonly Json[], duplicates: boolean): Problem[] =>
  flatMapParts(items, (item, index) => at(`i:${index}`, problemsOf(list.element, item, duplicates)))

function namedProblems(list: ListAtom, items: readonly Json[], duplicates: boolean): Problem[] {
  const { problems, seen } = kept(items, () => ({ problems: [] as Problem[], seen: new Set<PathElement>() }))
  eachPart(items, (item, index) => {
    const element = nameOf(list, item)
    if (element instanceof NamelessElement) {
      append(problems, problem(`element ${index}: ${element.message}`))
      return false // an element without its keys has no path; the check ends here, as in structured-merge-diff
    }
    const below = at(element, problemsOf(list.element, item, duplicates))
    if (seen.has(element) && !duplicates) append(problems, problem(`duplicate entries for key ${elementText(element)}`))
    seen.add(element)
    append(problems, below)
    return true
  })
  return problems
}

export function nameOf(list: ListAtom, item: Json): PathElement | NamelessElement {
  try {
    return elementOf(list, item)
  } catch (error) {
    if (error instanceof NamelessElement) return error
    throw error
  }
}

function mapProblems(map: MapAtom, value: JsonObject, duplicates: boolean): Problem[] {
  const problems = kept(value, (): Problem[] => [])
  eachField(map, value, (name, type, item) => {
    const found = type === undefined ? problem('field not declared in schema') : problemsOf(type, item, duplicates)
    if (found.length > 0) append(problems, at(fieldElement(name), found))
    // the check of a map ends at its first undeclared field
    return type !== undefined
  })
  return problems
}

function scalarProblems(kind: ScalarKind, value: Json | undefined, side: string): Problem[] {
  if (value === undefined || value === null) return []
  const isNumber = typeof value === 'number' || typeof value === 'bigint'
  switch (kind) {
    case 'numeric':
      return isNumber ? [] : problem(`${side}expected numeric (int or float), got ${goType(value)}`)
    case 'string':
      return typeof value === 'string'
        ? []
        : problem(`${side}expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`)
    case 'boolean':
      return typeof value === 'boolean' ? [] : problem(`${side}expected boolean, got ${wrapperText(value)}`)
    case 'untyped':
      return typeof value !== 'object' ? [] : problem(`${side}expected any scalar, got ${wrapperText(value)}`)
  }
}

export function scalarPairProblems(kind: ScalarKind, left: Json | undefined, right: Json | undefined): Problem[] {
  const ours = scalarProblems(kind, left, 'lhs: ')
  const theirs = scalarProblems(kind, right, 'rhs: ')
  return ours.length > 0 && theirs.length > 0 ? [...ours, ...theirs] : []
}
