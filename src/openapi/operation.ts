/**
 * What a method does at a path, described once. render-v2.ts and render-v3.ts write the description in their version.
 */
import type { GroupVersion, GroupVersionKind } from '../api/group-version.ts'
import { isDigit, isLetter } from '../base/unicode.ts'

export type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch'

/** The order in which kube-apiserver writes the operations of a path. */
export const methods: readonly Method[] = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch']

export interface Parameter {
  readonly name: string
  readonly in: 'query' | 'path'
  readonly type: 'string' | 'integer' | 'boolean'
  readonly description: string | undefined
}

export interface Operation {
  readonly method: Method
  readonly tag: string
  readonly operationId: string
  readonly description: string
  /** Media types; v3 has them only for bodies. */
  readonly consumes?: readonly string[]
  readonly produces: readonly string[]
  readonly parameters: readonly Parameter[]
  readonly body?: { readonly model: string; readonly required: boolean }
  /** A response without a model is a text. */
  readonly responses: readonly { readonly code: 200 | 201 | 202 | 401; readonly model?: string }[]
  readonly action?: string
  readonly kind?: GroupVersionKind
}

export interface PathItem {
  readonly path: string
  readonly operations: readonly Operation[]
}

/** The server's settings that change its documents. */
export interface OpenApiSettings {
  /** The feature gate CBORServingAndStorage is on. */
  readonly cbor: boolean
  /** The feature gate OpenAPIEnums is off. */
  readonly hidesEnums?: boolean
}

/** As apiserver's ToValidOperationID: keeps letters and digits, and writes a capital after any other character. */
export function operationName(text: string, capitalize: boolean): string {
  let name = ''
  let capital = capitalize
  for (const [at, character] of [...text].entries()) {
    if (character !== '_' && !isLetter(character) && !(at !== 0 && isDigit(character))) capital = true
    else {
      name += capital ? character.toUpperCase() : character
      capital = false
    }
  }
  return name
}

const groupText = (group: string): string => (group === '' ? 'core' : group.replace(/\.k8s\.io$/, ''))

export const tagOf = (group: string, version?: string): string =>
  operationName(groupText(group), false) + (version === undefined ? '' : `_${operationName(version, false)}`)

/** For example `read` + `CoreV1` + `NamespacedPod`. `rest` may be a kind that begins with a small letter or has a dash. */
export const operationIdOf = ({ group, version }: { group: string; version?: string }, verb: string, rest: string) =>
  verb + operationName(groupText(group), true) + operationName(version ?? '', true) + operationName(rest, true)

export const rootOf = ({ group, version }: GroupVersion): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`

/** Splits the parameters of a path's operations into those that all operations share and the others. */
export function sharedParameters(operations: readonly Operation[]): {
  readonly shared: readonly Parameter[]
  readonly own: (operation: Operation) => readonly Parameter[]
} {
  const key = (parameter: Parameter) => `${parameter.in} ${parameter.name}`
  const counts = new Map<string, number>()
  for (const { parameters } of operations)
    for (const parameter of parameters) counts.set(key(parameter), (counts.get(key(parameter)) ?? 0) + 1)
  const isShared = (parameter: Parameter) => counts.get(key(parameter)) === operations.length
  return {
    shared: sortedParameters(operations[0]!.parameters.filter(isShared)),
    own: ({ parameters }) => sortedParameters(parameters.filter((parameter) => !isShared(parameter))),
  }
}

const sortedParameters = (parameters: readonly Parameter[]): Parameter[] =>
  [...new Map(parameters.map((parameter) => [`${parameter.name} ${parameter.in}`, parameter]))]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, parameter]) => parameter)
