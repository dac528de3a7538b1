/**
 * Role based access control: the rights that bindings grant through their roles
 * (kubernetes.io/docs/reference/access-authn-authz/rbac).
 */
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
  RoleRef,
  Subject,
} from '../api/rbac/v1.ts'
import { goQuote } from '../go/quote.ts'
import { notFound } from '../api/status.ts'
import type { KubeObject } from '../api/object.ts'
import { serviceAccountUser } from '../authentication/service-account-name.ts'
import type { UserInfo } from '../request/user-info.ts'
import type { ControlSnapshot } from '../tenancy/control-snapshot.ts'
import type { AuthorizationAttributes } from './attributes.ts'
import { Budget } from '../base/budget.ts'
import { countOfValues, ruleAllows } from './policy-rule.ts'
import { bindingsFor } from './subject-index.ts'
import type { Verdict } from './verdict.ts'
import { aggregate, noOpinion } from './verdict.ts'

export const RBAC_GROUP = 'rbac.authorization.k8s.io'
const of = (resource: string) => ({ group: RBAC_GROUP, resource })

type Stored<O> = O & KubeObject
type Binding = Stored<RoleBinding> | Stored<ClusterRoleBinding>

/** A rule of a user, or the error of a role to which one of the user's bindings refers. */
type Grant = { readonly rule: PolicyRule; readonly by: () => string } | { readonly error: string }

/** The error of a role that is not there. */
type Missing = (kind: 'Role' | 'ClusterRole', name: string) => string

/** As kube-apiserver's listers say it. */
const listedMissing: Missing = (kind, name) => notFound(of(kind.toLowerCase()), name).message

export function rbac(snapshot: ControlSnapshot, asked: AuthorizationAttributes): Verdict {
  const errors: string[] = []
  for (const grant of grantsOf(snapshot, asked.user, asked.namespace)) {
    if ('error' in grant) errors.push(grant.error)
    else if (ruleAllows(grant.rule, asked)) return { allowed: true, reason: `RBAC: allowed by ${grant.by()}` }
  }
  return errors.length === 0 ? noOpinion('') : noOpinion(`RBAC: ${aggregate(errors)}`)
}

/** What a caller wants of the rules of a user. */
interface Wanted {
  /** The text for a role that is not there. */
  readonly missing?: Missing
  /** The most values of rules that come again, because another binding has the same role. Default: none come again. */
  readonly repeated?: number
}

/** All rules of a user in a namespace; '' means the cluster scope. */
export function rulesFor(snapshot: ControlSnapshot, user: UserInfo, namespace: string, wanted: Wanted = {}) {
  const rules: PolicyRule[] = []
  const errors: string[] = []
  for (const grant of grantsOf(snapshot, user, namespace, wanted)) {
    if ('error' in grant) errors.push(grant.error)
    else rules.push(grant.rule)
  }
  return { rules, errors }
}

function* grantsOf(
  snapshot: ControlSnapshot,
  user: UserInfo,
  namespace: string,
  { missing = listedMissing, repeated = 0 }: Wanted = {},
): Generator<Grant> {
  const given = new Given(repeated)
  const everywhere = snapshot.list<Stored<ClusterRoleBinding>>(of('clusterrolebindings'))
  yield* grantsOfBindings(snapshot, everywhere, user, '', missing, given)
  if (namespace === '') return
  const bindings = snapshot.inNamespace<Stored<RoleBinding>>(of('rolebindings'), namespace)
  yield* grantsOfBindings(snapshot, bindings, user, namespace, missing, given)
}

/**
 * The roles whose rules have come. A thousand bindings of a role with a thousand rules are a million rules, and who
 * administers a namespace may write both.
 */
class Given {
  /** Bound: the roles of one user. */
  private readonly roles = new Set<readonly PolicyRule[]>()
  private readonly values: Budget

  constructor(repeated: number) {
    this.values = new Budget(repeated)
  }

  /** Whether the rules of a role come now. */
  adds(rules: readonly PolicyRule[]): boolean {
    if (!this.roles.has(rules)) return (this.roles.add(rules), true)
    return this.values.limit > 0 && rules.every((rule) => this.values.spend(countOfValues(rule)))
  }
}

function* grantsOfBindings(
  snapshot: ControlSnapshot,
  bindings: readonly Binding[],
  user: UserInfo,
  namespace: string,
  missing: Missing,
  given: Given,
): Generator<Grant> {
  for (const binding of bindingsFor(bindings, user, namespace)) {
    const subject = binding.subjects?.find((one) => appliesTo(one, user, namespace))
    if (subject === undefined) continue
    const role = rulesOfRole(snapshot, binding.roleRef ?? {}, namespace, missing)
    if ('error' in role) yield role
    else if (given.adds(role.rules))
      for (const rule of role.rules) yield { rule, by: () => describe(binding, subject, namespace) }
  }
}

/** @param namespace of the binding */
export function rulesOfRole(
  snapshot: ControlSnapshot,
  { kind = '', name = '' }: RoleRef,
  namespace: string,
  missing = listedMissing,
): { readonly rules: readonly PolicyRule[] } | { readonly error: string } {
  switch (kind) {
    case 'Role': {
      const role = snapshot.get<Stored<Role>>(of('roles'), `${namespace}/${name}`)
      return role === undefined ? { error: missing(kind, name) } : { rules: role.rules ?? [] }
    }
    case 'ClusterRole': {
      const role = snapshot.get<Stored<ClusterRole>>(of('clusterroles'), name)
      return role === undefined ? { error: missing(kind, name) } : { rules: role.rules ?? [] }
    }
    default:
      return { error: `unsupported role reference kind: ${goQuote(kind)}` }
  }
}

function appliesTo({ kind, name = '', namespace }: Subject, user: UserInfo, bindingNamespace: string): boolean {
  switch (kind) {
    case 'User':
      return user.name === name
    case 'Group':
      return user.groups.includes(name)
    case 'ServiceAccount': {
      const of = namespace === undefined || namespace === '' ? bindingNamespace : namespace
      return of !== '' && user.name === serviceAccountUser({ namespace: of, name })
    }
    default:
      return false
  }
}

function describe(
  { metadata, roleRef = {} }: Binding,
  { kind, name = '', namespace }: Subject,
  bindingNamespace: string,
): string {
  const binding =
    bindingNamespace === ''
      ? `ClusterRoleBinding ${goQuote(metadata.name ?? '')}`
      : `RoleBinding ${goQuote(`${metadata.name}/${bindingNamespace}`)}`
  const subject = kind === 'ServiceAccount' ? `${name}/${namespace || bindingNamespace}` : name
  return `${binding} of ${roleRef.kind} ${goQuote(roleRef.name ?? '')} to ${kind} ${goQuote(subject)}`
}
