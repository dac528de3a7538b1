/**
 * Checks subPathExpr: the paths within volumes that a container makes from its variables. A wrong path keeps a kubelet
 * from creating the container.
 */
import type { Container, EnvVar, Pod } from '../../api/core/v1.ts'
import { ownValue } from '../../base/own.ts'

/** Why the container cannot be created, in a kubelet's words. Values from ConfigMaps and Secrets count as valid. */
export function subPathProblem({ volumeMounts = [], env = [] }: Container, pod: Pod): string | undefined {
  const expressions = volumeMounts.flatMap(({ subPathExpr }) => (subPathExpr ? [subPathExpr] : []))
  if (expressions.length === 0) return undefined
  const values = valuesOf(env, pod)
  for (const expression of expressions) {
    const problem = problemOf(expression, values)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Values by variable. Undefined: this controller does not know the value. */
type Values = ReadonlyMap<string, string | undefined>

function problemOf(expression: string, values: Values): string | undefined {
  const missing = namesIn(expression).find((name) => !values.has(name))
  if (missing !== undefined) return `missing value for ${JSON.stringify(missing)}`
  const path = expanded(expression, values)
  if (path === undefined) return undefined
  if (path.startsWith('/')) return `error SubPath \`${path}\` must not be an absolute path`
  return path.split('/').includes('..') ? `unable to provision SubPath \`${path}\`: must not contain '..'` : undefined
}

const REFERENCE = /\$(?:(\$)|\(([^)]*)\))/g

const namesIn = (text: string): string[] =>
  [...text.matchAll(REFERENCE)].flatMap(([, , name]) => (name === undefined ? [] : [name]))

/** Replaces `$(NAME)`, and `$$` by a dollar. An unset name stays as it is. */
function expanded(text: string, values: Values): string | undefined {
  if (namesIn(text).some((name) => values.has(name) && values.get(name) === undefined)) return undefined
  return text.replace(REFERENCE, (all, dollar?: string, name = '') =>
    dollar === undefined ? (values.get(name) ?? all) : '$',
  )
}

/** Variables may use variables that come before them. */
function valuesOf(env: readonly EnvVar[], pod: Pod): Values {
  const values = new Map<string, string | undefined>()
  for (const { name = '', value, valueFrom } of env) {
    const path = valueFrom?.fieldRef?.fieldPath
    const isElsewhere = valueFrom !== undefined && path === undefined
    values.set(name, isElsewhere ? undefined : path === undefined ? expanded(value ?? '', values) : fieldOf(pod, path))
  }
  return values
}

const OF_MAP = /^metadata\.(labels|annotations)\['(.*)'\]$/

function fieldOf({ metadata, spec }: Pod, path: string): string | undefined {
  const [, map, key = ''] = OF_MAP.exec(path) ?? []
  if (map === 'labels' || map === 'annotations') return ownValue(metadata[map], key) ?? ''
  switch (path) {
    case 'metadata.name':
      return metadata.name
    case 'metadata.namespace':
      return metadata.namespace
    case 'metadata.uid':
      return metadata.uid
    case 'spec.nodeName':
      return spec?.nodeName
    case 'spec.serviceAccountName':
      return spec?.serviceAccountName
    default:
      return undefined
  }
}
