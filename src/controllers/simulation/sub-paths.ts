/**
 * Checks subPathExpr: the paths within volumes that a container makes from its variables. A wrong path keeps a kubelet
 * from creating the container.
 */
import type { Container, EnvVar, Pod } from '../../api/core/v1.ts'
import { ownValue } from '../../base/own.ts'

/** Characters of a path; file systems have longer ones nowhere. Longer values end here, and so do paths with them. */
const LONGEST = 4096
/** Characters of all values of a container. Further ones count as unknown. */
const MOST_OF_VALUES = 1024 * 1024

/** Why the container cannot be created, in a kubelet's words. Values from ConfigMaps and Secrets count as valid. */
export function subPathProblem({ name, volumeMounts = [], env = [] }: Container, pod: Pod): string | undefined {
  const mounts = volumeMounts.filter(({ subPathExpr }) => subPathExpr)
  if (mounts.length === 0) return undefined
  const values = valuesOf(env, pod)
  for (const { name: volume, subPathExpr: expression = '' } of mounts) {
    const problem = problemOf(expression, values)
    if (problem === TOO_LONG)
      return `failed to create subPath directory for volumeMount ${JSON.stringify(volume)} of container ${JSON.stringify(name)}`
    if (problem !== undefined) return problem
  }
  return undefined
}

const TOO_LONG = 'too long'

/** Values by variable. Undefined: this controller does not know the value. */
type Values = ReadonlyMap<string, string | undefined>

function problemOf(expression: string, values: Values): string | undefined {
  const missing = namesIn(expression).find((name) => !values.has(name))
  if (missing !== undefined) return `missing value for ${JSON.stringify(missing)}`
  const path = expanded(expression, values)
  if (path === undefined) return undefined
  if (path.length > LONGEST) return TOO_LONG
  if (path.startsWith('/')) return `error SubPath \`${path}\` must not be an absolute path`
  return path.split('/').includes('..') ? `unable to provision SubPath \`${path}\`: must not contain '..'` : undefined
}

const REFERENCE = /\$(?:(\$)|\(([^)]*)\))/g

const namesIn = (text: string): string[] =>
  [...text.matchAll(REFERENCE)].flatMap(([, , name]) => (name === undefined ? [] : [name]))

/**
 * Replaces `$(NAME)`, and `$$` by a dollar. An unset name stays as it is. Ends beyond LONGEST: variables that use each
 * other several times would double with each.
 */
function expanded(text: string, values: Values): string | undefined {
  if (namesIn(text).some((name) => values.has(name) && values.get(name) === undefined)) return undefined
  let [path, at] = ['', 0]
  for (const found of text.matchAll(REFERENCE)) {
    const [all, dollar, name = ''] = found
    path += text.slice(at, found.index) + (dollar === undefined ? (values.get(name) ?? all) : '$')
    at = found.index + all.length
    if (path.length > LONGEST) return path.slice(0, LONGEST + 1)
  }
  return (path + text.slice(at)).slice(0, LONGEST + 1)
}

/** Variables may use variables that come before them. */
function valuesOf(env: readonly EnvVar[], pod: Pod): Values {
  const values = new Map<string, string | undefined>()
  let left = MOST_OF_VALUES
  for (const { name = '', value, valueFrom } of env) {
    const path = valueFrom?.fieldRef?.fieldPath
    const isElsewhere = valueFrom !== undefined && path === undefined
    const isUnknown = isElsewhere || left <= 0
    const found = isUnknown ? undefined : path === undefined ? expanded(value ?? '', values) : fieldOf(pod, path)
    left -= found?.length ?? 0
    values.set(name, found)
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
