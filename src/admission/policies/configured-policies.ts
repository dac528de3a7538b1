/** The policies of a control plane that have bindings, indexed once for each state of them. */
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../api/admissionregistration/v1.ts'
import type { GroupResource } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ControlSnapshot } from '../../tenancy/control-snapshot.ts'

export interface Policies {
  validating: { policy: ValidatingAdmissionPolicy & KubeObject; binding: ValidatingAdmissionPolicyBinding & KubeObject }
  mutating: { policy: MutatingAdmissionPolicy & KubeObject; binding: MutatingAdmissionPolicyBinding & KubeObject }
}

export type PolicyType = keyof Policies

export interface BoundPolicy<Type extends PolicyType = PolicyType> {
  readonly policy: Policies[Type]['policy']
  readonly bindings: readonly Policies[Type]['binding'][]
}

const group = 'admissionregistration.k8s.io'
const resources = {
  validating: {
    policies: { group, resource: 'validatingadmissionpolicies' },
    bindings: { group, resource: 'validatingadmissionpolicybindings' },
  },
  mutating: {
    policies: { group, resource: 'mutatingadmissionpolicies' },
    bindings: { group, resource: 'mutatingadmissionpolicybindings' },
  },
} satisfies Record<PolicyType, Record<'policies' | 'bindings', GroupResource>>

/** Policies and their bindings, sorted by name. In kube-apiserver the order is random. */
class BoundPolicies<Type extends PolicyType> {
  /**
   * The policies whose rules name a resource. Only its name counts, because another group may have the same objects.
   */
  private readonly byResource: ReadonlyMap<string, ReadonlySet<BoundPolicy<Type>>>
  private readonly anywhere: ReadonlySet<BoundPolicy<Type>>

  constructor(
    readonly bindings: readonly Policies[Type]['binding'][],
    private readonly all: readonly BoundPolicy<Type>[],
  ) {
    const named = all.map((bound) => ({ bound, names: resourceNames(bound.policy) }))
    this.anywhere = new Set(named.filter(({ names }) => names === undefined).map(({ bound }) => bound))
    const pairs = named.flatMap(({ bound, names = [] }) => names.map((name) => ({ name, bound })))
    const grouped = [...Map.groupBy(pairs, ({ name }) => name)]
    this.byResource = new Map(grouped.map(([name, of]) => [name, new Set(of.map(({ bound }) => bound))]))
  }

  /** The policies whose rules may match a resource; a few of them do not. */
  about(resource: string): readonly BoundPolicy<Type>[] {
    const named = this.byResource.get(resource)
    if (named === undefined && this.anywhere.size === 0) return []
    return this.all.filter((bound) => this.anywhere.has(bound) || named?.has(bound) === true)
  }
}

/** Undefined where the rules match any resource. */
function resourceNames({ spec }: Policies[PolicyType]['policy']): string[] | undefined {
  const rules = spec?.matchConstraints?.resourceRules ?? []
  const names = rules.flatMap(({ resources: named = [] }) => named.map((name) => name.split('/')[0]!))
  return rules.length === 0 || names.includes('*') ? undefined : [...new Set(names)]
}

/** The snapshot returns the same list value as long as no object in it changes. */
const byPolicies = new WeakMap<object, BoundPolicies<PolicyType>>()

/** The policies that may match a resource. */
export function policiesAbout<Type extends PolicyType>(
  snapshot: ControlSnapshot,
  type: Type,
  resource: string,
): readonly BoundPolicy<Type>[] {
  const policies = snapshot.list<Policies[Type]['policy']>(resources[type].policies)
  if (policies.length === 0) return []
  const bindings = snapshot.list<Policies[Type]['binding']>(resources[type].bindings)
  // each type of policy has its own list, so the index under a list has that type
  let known = byPolicies.get(policies) as BoundPolicies<Type> | undefined
  if (known?.bindings !== bindings) {
    known = new BoundPolicies<Type>(bindings, bound(policies, bindings))
    byPolicies.set(policies, known)
  }
  return known.about(resource)
}

function bound<Type extends PolicyType>(
  policies: readonly Policies[Type]['policy'][],
  bindings: readonly Policies[Type]['binding'][],
): BoundPolicy<Type>[] {
  const byName = Map.groupBy(bindings, ({ spec }) => spec?.policyName ?? '')
  return policies.flatMap((policy) => {
    const ofPolicy = byName.get(policy.metadata.name ?? '')
    return ofPolicy === undefined ? [] : [{ policy, bindings: ofPolicy }]
  })
}
