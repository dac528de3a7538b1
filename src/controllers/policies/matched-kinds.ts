/** The served kinds that the rules of an admission policy name, found by the rules of a RESTMapper. */
import type { NamedRuleWithOperations } from '../../api/admissionregistration/v1.ts'
import type { GroupVersionKind } from '../../api/group-version.ts'
import type { ServedResources } from '../../registry/served/resources.ts'

/** The most kinds of one rule. After a rule with more kinds the controller checks no further rules of the policy. */
const MAX_KINDS = 10

/** The kinds, sorted by group, version and kind. Rules with wildcards and subresources name no kinds. */
export function matchedKinds(rules: readonly NamedRuleWithOperations[], served: ServedResources): GroupVersionKind[] {
  const found = new Map<string, GroupVersionKind>()
  for (const rule of rules) {
    const ofRule = kindsOf(rule, served).slice(0, MAX_KINDS)
    for (const gvk of ofRule) found.set(`${gvk.group}/${gvk.version}/${gvk.kind}`, gvk)
    if (ofRule.length === MAX_KINDS) break
  }
  return [...found.values()].sort(
    (a, b) => compare(a.group, b.group) || compare(a.version, b.version) || compare(a.kind, b.kind),
  )
}

/** The kinds of a rule, sorted by the names in it. */
function kindsOf(rule: NamedRuleWithOperations, served: ServedResources): GroupVersionKind[] {
  const groups = new Set(rule.apiGroups)
  const versions = new Set(rule.apiVersions)
  const names = new Set(rule.resources?.filter((name) => !/[*/]/.test(name)).map((name) => name.toLowerCase()))
  if ([...groups, ...versions].some((name) => name.includes('*'))) return []
  // a RESTMapper takes the empty group name of the core group for any group
  const entries = groups.has('') ? served.resources : [...groups].flatMap((group) => served.inGroup(group))
  return entries
    .filter(({ version }) => versions.has(version))
    .flatMap(({ group, version, kind, resource, singular }) => {
      const named = names.has(resource) ? resource : names.has(singular) ? singular : undefined
      const asked = groups.has('') ? '' : group
      return named === undefined ? [] : [{ gvk: { group, version, kind }, order: [asked, version, named] }]
    })
    .sort((a, b) => a.order.reduce((known, text, index) => known || compare(text, b.order[index]!), 0))
    .map(({ gvk }) => gvk)
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
