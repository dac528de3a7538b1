// The definition and its objects; each case of wide-cases.ts makes one part of them wide.
import type { Json, JsonObject } from '../../src/api/object.ts'
import type { Call } from './load.ts'
import type { Definition } from './memory-target.ts'

export const GROUP = 'wide.example.com'
export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
export const WIDES = `/apis/${GROUP}/v1/wides`

export const many = <T>(n: number, one: (at: number) => T): T[] => Array.from({ length: n }, (_, at) => one(at))
export const post = (path: string, body: unknown): Call => ({ method: 'POST', path, body: JSON.stringify(body) })
export const get = (path: string, accept?: string): Call => ({
  method: 'GET',
  path,
  ...(accept === undefined ? {} : { accept }),
})
export const schemaOf = (spec: JsonObject, rest: JsonObject = {}): JsonObject => ({
  type: 'object',
  ...rest,
  properties: { spec },
})

export interface Version {
  readonly name?: string
  readonly schema: JsonObject
  readonly more?: JsonObject
}

export const definitionOf = (versions: readonly Version[], plural = 'wides', kind = 'Wide'): Definition => ({
  metadata: { name: `${plural}.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Cluster',
    names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
    versions: versions.map(({ name = 'v1', schema, more = {} }, at) => ({
      name,
      served: true,
      storage: at === 0,
      schema: { openAPIV3Schema: schema },
      ...more,
    })),
  },
})
export const created = (definition: Definition): Call =>
  post(DEFINITIONS, { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', ...definition })
export const wide = (spec: Json, name = 'w'): JsonObject => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'Wide',
  metadata: { name },
  spec,
})
