/** Whether a rule of a role allows a request (rbac/v1 PolicyRule). */
import { withoutTrailing } from '../base/trim.ts'
import type { PolicyRule } from '../api/rbac/v1.ts'
import type { AuthorizationAttributes } from './attributes.ts'

export const ALL = '*'

type Asked = Omit<AuthorizationAttributes, 'user'>

export function ruleAllows(rule: PolicyRule, asked: Asked): boolean {
  if (!matches(rule.verbs, asked.verb)) return false
  if (!asked.isResourceRequest) return (rule.nonResourceURLs ?? []).some((url) => pathMatches(url, asked.path))
  return (
    matches(rule.apiGroups, asked.apiGroup) &&
    resourceMatches(rule.resources ?? [], asked.resource, asked.subresource) &&
    nameMatches(rule.resourceNames ?? [], asked.name)
  )
}

const matches = (allowed: readonly string[] | undefined, value: string): boolean =>
  allowed !== undefined && (allowed.includes(ALL) || allowed.includes(value))

function resourceMatches(allowed: readonly string[], resource: string, subresource: string): boolean {
  if (allowed.includes(ALL)) return true
  if (subresource === '') return allowed.includes(resource)
  return allowed.includes(`${resource}/${subresource}`) || allowed.includes(`*/${subresource}`)
}

/** An empty list allows all names. A `*` among names is only a name. */
const nameMatches = (allowed: readonly string[], name: string): boolean =>
  allowed.length === 0 || allowed.includes(name)

/** A star is a wildcard only at the end. */
export function pathMatches(allowed: string, path: string): boolean {
  if (allowed === ALL || allowed === path) return true
  return allowed.endsWith(ALL) && path.startsWith(withoutTrailing(allowed, ALL))
}

export const countOfValues = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): number =>
  [verbs, apiGroups, resources, resourceNames, nonResourceURLs].reduce((sum, values) => sum + (values?.length ?? 0), 0)
