/** The policies of a control plane that have bindings, read once for each state of them. */
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

/** Policies and bindings by name: kube-apiserver's order is by chance. */
class BoundPolicies<Type extends PolicyType> {
  /** Policies whose rules name a resource, by its name alone, because another group may show the same objects. */
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

  /** The policies whose rules may match a resource, and few others. */
  about(resource: string): readonly BoundPolicy<Type>[] {
    const named = this.byResource.get(resource)
    if (named === undefined && this.anywhere.size === 0) return []
    return this.all.filter((bound) => this.anywhere.has(bound) || named?.has(bound) === true)
  }
}

/** Undefined: of any resource. */
function resourceNames({ spec }: Policies[PolicyType]['policy']): string[] | undefined {
  const rules = spec?.matchConstraints?.resourceRules ?? []
  const names = rules.flatMap(({ resources: named = [] }) => named.map((name) => name.split('/')[0]!))
  return rules.length === 0 || names.includes('*') ? undefined : [...new Set(names)]
}

/** The snapshot's lists are the same values while none of their objects changes. */
const byPolicies = new WeakMap<object, BoundPolicies<PolicyType>>()

/** Those that may be about a resource. */
export function policiesAbout<Type extends PolicyType>(
  snapshot: ControlSnapshot,
  type: Type,
  resource: string,
): readonly BoundPolicy<Type>[] {
  const policies = snapshot.list<Policies[Type]['policy']>(resources[type].policies)
  if (policies.length === 0) return []
  const bindings = snapshot.list<Policies[Type]['binding']>(resources[type].bindings)
  // the list of one type's policies is the key of that type's index
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
