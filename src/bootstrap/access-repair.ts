/**
 * How a default role or binding that users changed becomes right again, as at a start of kube-apiserver. Labels,
 * annotations, rules, selectors of an aggregation and subjects that it lacks come back, and those that users added stay.
 * An annotation keeps an object as it is.
 */
import type { ClusterRole, ClusterRoleBinding, PolicyRule } from '../api/rbac/v1.ts'
import type { Json, KubeObject } from '../api/object.ts'
import { StatusError } from '../api/status.ts'
import { missingParts } from '../authorization/rule-coverage.ts'
import type { Steps } from '../base/slices.ts'
import { stringifySorted } from '../json/write-json.ts'
import { logError } from '../log/log.ts'

/** A role or a binding. */
export type AccessObject = KubeObject & Omit<ClusterRole & ClusterRoleBinding, keyof KubeObject>

const AUTOUPDATE = 'rbac.authorization.kubernetes.io/autoupdate'

const isKept = ({ metadata }: AccessObject): boolean => metadata.annotations?.[AUTOUPDATE] === 'false'

/** Whether a binding refers to another role. That never changes, so kube-apiserver makes the binding anew. */
export const bindsOtherRole = (live: AccessObject, { roleRef }: AccessObject): boolean =>
  !isKept(live) && !isSame(live.roleRef, roleRef)

/** Replaces members of `live`. @returns whether it differs now */
export function* putAccessRight(live: AccessObject, wanted: AccessObject): Steps<boolean> {
  if (isKept(live)) return false
  let differs = false
  const replace = (members: Partial<AccessObject>): void => {
    differs = true
    Object.assign(live, members) // own key: the names are written below
  }
  for (const member of ['labels', 'annotations'] as const) {
    const [there = {}, all] = [live.metadata[member], { ...wanted.metadata[member], ...live.metadata[member] }]
    if (Object.keys(all).length > Object.keys(there).length) replace({ metadata: { ...live.metadata, [member]: all } })
  }
  const { rules = [], subjects = [], aggregationRule } = live
  const missingRules = yield* rulesMissing(live, wanted.rules ?? [])
  if (missingRules.length > 0) replace({ rules: [...rules, ...missingRules] })
  const missingSubjects = lacking(subjects, wanted.subjects)
  if (missingSubjects.length > 0) replace({ subjects: [...subjects, ...missingSubjects] })
  const selectors = aggregationRule?.clusterRoleSelectors ?? []
  const missingSelectors = lacking(selectors, wanted.aggregationRule?.clusterRoleSelectors)
  if (missingSelectors.length > 0)
    replace({ aggregationRule: { clusterRoleSelectors: [...selectors, ...missingSelectors] } })
  if (wanted.aggregationRule === undefined && aggregationRule !== undefined) {
    differs = true
    delete live.aggregationRule
  }
  return differs
}

function* rulesMissing({ metadata, rules = [] }: AccessObject, wanted: readonly PolicyRule[]): Steps<PolicyRule[]> {
  if (wanted.length === 0 || isSame(rules, wanted)) return []
  try {
    return yield* missingParts(rules, wanted)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    logError('a default role has too many rules to compare, and stays as it is', { role: metadata.name, error })
    return []
  }
}

function lacking<Value extends object>(there: readonly Value[], wanted: readonly Value[] = []): Value[] {
  const texts = new Set(there.map(sortedText))
  return wanted.filter((value) => !texts.has(sortedText(value)))
}

const isSame = (one: object | undefined, other: object | undefined): boolean => sortedText(one) === sortedText(other)

// members of stored objects are JSON
const sortedText = (value: object | undefined): string =>
  value === undefined ? '' : stringifySorted(value as unknown as Json)

/**
 * Objects that an earlier Kubernetes did not have, by the older ones that had their part. Where the newer one is absent,
 * kube-apiserver makes it of the older one before anything else, so that what users changed there stays in force.
 */
const SUCCESSORS: readonly { readonly resource: string; readonly of: string; readonly name: string }[] = [
  { resource: 'clusterroles', of: 'admin', name: 'system:aggregate-to-admin' },
  { resource: 'clusterroles', of: 'edit', name: 'system:aggregate-to-edit' },
  { resource: 'clusterroles', of: 'view', name: 'system:aggregate-to-view' },
  { resource: 'clusterrolebindings', of: 'system:discovery', name: 'system:public-info-viewer' },
]

export interface Successor {
  readonly resource: string
  readonly object: AccessObject
}

/** The successors to make. */
export function missingSuccessors(
  stored: (resource: string, name: string) => AccessObject | undefined,
  wanted: (resource: string, name: string) => AccessObject | undefined,
): Successor[] {
  return SUCCESSORS.flatMap(({ resource, of, name }) => {
    const [old, fresh] = [stored(resource, of), wanted(resource, name)]
    // an aggregated role has no rules of its own
    if (old === undefined || fresh === undefined || old.aggregationRule !== undefined || stored(resource, name))
      return []
    const { kind, apiVersion, metadata, rules, subjects, roleRef: _, ...others } = old
    const { labels, annotations } = metadata
    const object = {
      kind,
      apiVersion,
      metadata: { name, ...(labels && { labels }), ...(annotations && { annotations }) },
      ...others,
      ...(rules && { rules }),
      ...(fresh.roleRef && { roleRef: fresh.roleRef }),
      ...(subjects && { subjects }),
    }
    return [{ resource, object: structuredClone(object) as AccessObject }]
  })
}
