/**
 * The bindings that may apply to a user, found by the names of their subjects: of a thousand bindings a user has a
 * few. An index belongs to a list of bindings, which stays the same value as long as nothing in it changes.
 */
import type { ClusterRoleBinding, RoleBinding, Subject } from '../api/rbac/v1.ts'
import { serviceAccountUser } from '../authentication/service-account-name.ts'
import type { UserInfo } from '../request/user-info.ts'

/** A shorter list is searched without an index. */
const WORTHWHILE = 16

type Binding = RoleBinding | ClusterRoleBinding

interface Index {
  /** Indexes into the list by name, ascending. */
  readonly users: ReadonlyMap<string, readonly number[]>
  readonly groups: ReadonlyMap<string, readonly number[]>
}

/** Bound: an index lives as long as its list, and is as large. */
const indexes = new WeakMap<readonly Binding[], Index>()

/** The bindings with a subject that may be this user, in their order. All others apply to other users. */
export function bindingsFor<B extends Binding>(
  bindings: readonly B[],
  { name, groups }: UserInfo,
  namespace: string,
): readonly B[] {
  if (bindings.length < WORTHWHILE) return bindings
  let index = indexes.get(bindings)
  if (index === undefined) indexes.set(bindings, (index = indexOf(bindings, namespace)))
  const places = new Set(index.users.get(name))
  for (const group of groups) for (const place of index.groups.get(group) ?? []) places.add(place)
  return [...places].sort((a, b) => a - b).map((place) => bindings[place]!)
}

/** @param namespace of the bindings; '' at the cluster scope */
function indexOf(bindings: readonly Binding[], namespace: string): Index {
  const [users, groups] = [new Map<string, number[]>(), new Map<string, number[]>()]
  const add = (names: Map<string, number[]>, name: string, place: number): void => {
    const places = names.get(name)
    if (places === undefined) names.set(name, [place])
    else if (places.at(-1) !== place) places.push(place)
  }
  for (const [place, { subjects = [] }] of bindings.entries())
    for (const subject of subjects)
      if (subject.kind === 'Group') add(groups, subject.name ?? '', place)
      else if (subject.kind === 'User') add(users, subject.name ?? '', place)
      else if (subject.kind === 'ServiceAccount') add(users, accountOf(subject, namespace), place)
  return { users, groups }
}

const accountOf = ({ name = '', namespace }: Subject, bindingNamespace: string): string =>
  serviceAccountUser({ namespace: namespace || bindingNamespace, name })
