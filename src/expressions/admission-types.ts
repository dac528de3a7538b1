/** The types of `request` and `namespaceObject` in admission expressions. */
import type { Type, TypeProvider } from '../cel/checker/type.ts'
import { BOOL, DYN, INT, listOf, mapOf, STRING, structNamed, TIMESTAMP } from '../cel/checker/type.ts'

const named = (name: string): Type => structNamed(`kubernetes.${name}`)
export const ADMISSION_REQUEST = named('AdmissionRequest')
export const NAMESPACE = named('Namespace')

const STRINGS = listOf(STRING)
const TEXTS = mapOf(STRING, STRING)

const fields: Readonly<Record<string, Readonly<Record<string, Type>>>> = {
  'kubernetes.GroupVersionKind': { group: STRING, version: STRING, kind: STRING },
  'kubernetes.GroupVersionResource': { group: STRING, version: STRING, resource: STRING },
  'kubernetes.UserInfo': { username: STRING, uid: STRING, groups: STRINGS, extra: mapOf(STRING, STRINGS) },
  'kubernetes.AdmissionRequest': {
    kind: named('GroupVersionKind'),
    resource: named('GroupVersionResource'),
    subResource: STRING,
    requestKind: named('GroupVersionKind'),
    requestResource: named('GroupVersionResource'),
    requestSubResource: STRING,
    name: STRING,
    namespace: STRING,
    operation: STRING,
    userInfo: named('UserInfo'),
    dryRun: BOOL,
    options: DYN,
  },
  'kubernetes.NamespaceSpec': { finalizers: STRINGS },
  'kubernetes.NamespaceCondition': {
    status: STRING,
    type: STRING,
    lastTransitionTime: TIMESTAMP,
    message: STRING,
    reason: STRING,
  },
  'kubernetes.NamespaceStatus': { conditions: listOf(named('NamespaceCondition')), phase: STRING },
  'kubernetes.NamespaceMetadata': {
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    labels: TEXTS,
    annotations: TEXTS,
    UID: STRING,
    creationTimestamp: TIMESTAMP,
    deletionGracePeriodSeconds: INT,
    deletionTimestamp: TIMESTAMP,
    generation: INT,
    resourceVersion: STRING,
    finalizers: STRINGS,
  },
  'kubernetes.Namespace': {
    metadata: named('NamespaceMetadata'),
    spec: named('NamespaceSpec'),
    status: named('NamespaceStatus'),
  },
}

export const admissionTypes = recordTypes(fields)

/** Provides types whose fields are listed in a record. */
export function recordTypes(records: Readonly<Record<string, Readonly<Record<string, Type>>>>): TypeProvider {
  const types = new Map(Object.entries(records).map(([name, members]) => [name, new Map(Object.entries(members))]))
  return {
    findStruct: (name) => (types.has(name) ? structNamed(name) : undefined),
    findField: (struct, field) => types.get(struct)?.get(field),
    fieldNames: (struct) => [...(types.get(struct)?.keys() ?? [])],
  }
}
