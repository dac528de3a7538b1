/** Which requests the rules of a webhook match (apiserver's webhook/predicates/rules). */
import type { RuleWithOperations } from '../../api/admissionregistration/v1.ts'
import type { GroupVersionResource } from '../../api/group-version.ts'
import type { Attributes } from '../attributes.ts'

export type RuleAttributes = Pick<Attributes, 'operation' | 'subresource' | 'namespace'> & {
  readonly resource: GroupVersionResource
}

const ALL = '*'

export function ruleMatches(rule: RuleWithOperations, attributes: RuleAttributes): boolean {
  const { apiGroups, apiVersions, operations, resources = [] } = rule
  const { resource, subresource, operation } = attributes
  return (
    scopeMatches(rule, attributes) &&
    hasOrAll(operations, operation) &&
    hasOrAll(apiGroups, resource.group) &&
    hasOrAll(apiVersions, resource.version) &&
    resources.some((name) => {
      const slash = name.indexOf('/')
      const [main, sub] = slash < 0 ? [name, ''] : [name.slice(0, slash), name.slice(slash + 1)]
      return (main === ALL || main === resource.resource) && (sub === ALL || sub === subresource)
    })
  )
}

const hasOrAll = (values: readonly string[] = [], value: string): boolean =>
  values.includes(ALL) || values.includes(value)

/** A Namespace is cluster-scoped, although admission gives it its own name as namespace. */
function scopeMatches({ scope = ALL }: RuleWithOperations, { resource, namespace }: RuleAttributes): boolean {
  if (scope === ALL) return true
  const isNamespaced = namespace !== '' && !isNamespaces(resource)
  return scope === 'Namespaced' ? isNamespaced : scope === 'Cluster' && !isNamespaced
}

export const isNamespaces = ({ group, resource }: GroupVersionResource): boolean =>
  group === '' && resource === 'namespaces'
