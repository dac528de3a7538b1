/** Decides which requests are audited, and how much of them (kubernetes.io/docs/tasks/debug/debug-cluster/audit). */
import { withoutTrailing } from '../base/trim.ts'
import type { AuthorizationAttributes } from '../authorization/attributes.ts'
import type { AuditLevel, AuditStage, Policy, Rule } from '../configuration/audit-policy.ts'
import type { UserInfo } from '../request/user-info.ts'

/** How one request is audited. */
export interface Decision {
  readonly level: AuditLevel
  readonly omitStages: readonly AuditStage[]
  readonly omitManagedFields: boolean
}

/** The policy's input: there is no user where authentication failed. */
export type AuditedAttributes = Omit<AuthorizationAttributes, 'user' | 'fields'> & {
  readonly user: UserInfo | undefined
}

/** The first rule that matches decides. Without a match the request is not audited. */
export function decide(policy: Policy, asked: AuditedAttributes): Decision {
  const { omitStages = [], omitManagedFields = false } = policy
  const found = policy.rules.find((one) => matches(one, asked))
  if (found === undefined) return { level: 'None', omitStages, omitManagedFields }
  return {
    level: capped(found.level, asked),
    omitStages: [...omitStages, ...(found.omitStages ?? [])],
    omitManagedFields: found.omitManagedFields ?? omitManagedFields,
  }
}

/** Resources whose bodies are never logged, because they contain credentials. No policy can change that. */
const credentials: ReadonlySet<string> = new Set([
  '/secrets',
  '/serviceaccounts/token',
  'authentication.k8s.io/tokenreviews',
])

export function carriesCredentials({ isResourceRequest, apiGroup, resource, subresource }: AuditedAttributes): boolean {
  if (!isResourceRequest) return false
  const place = `${apiGroup}/${resource}`
  return credentials.has(place) || credentials.has(`${place}/${subresource}`)
}

const capped = (level: AuditLevel, asked: AuditedAttributes): AuditLevel =>
  level !== 'None' && carriesCredentials(asked) ? 'Metadata' : level

const names = (list: readonly string[] | undefined, value: string): boolean =>
  list === undefined || list.length === 0 || list.includes(value)

function matches(rule: Rule, asked: AuditedAttributes): boolean {
  const { users = [], userGroups = [], namespaces = [], resources = [], nonResourceURLs = [] } = rule
  const { user } = asked
  if (users.length > 0 && !(user !== undefined && users.includes(user.name))) return false
  // few: the operator writes the rules
  if (userGroups.length > 0 && !user?.groups.some((group) => userGroups.includes(group))) return false
  if (!names(rule.verbs, asked.verb)) return false
  if (namespaces.length + resources.length > 0) return asked.isResourceRequest && matchesResource(rule, asked)
  if (nonResourceURLs.length > 0)
    return !asked.isResourceRequest && nonResourceURLs.some((url) => matchesPath(url, asked.path))
  return true
}

const matchesPath = (url: string, path: string): boolean =>
  url === path || (url.endsWith('*') && path.startsWith(withoutTrailing(url, '*')))

function matchesResource({ namespaces, resources = [] }: Rule, asked: AuditedAttributes): boolean {
  if (!names(namespaces, asked.namespace)) return false
  if (resources.length === 0) return true
  const { resource, subresource } = asked
  const whole = subresource === '' ? resource : `${resource}/${subresource}`
  const isNamed = (one: string): boolean =>
    one === '*' || one === whole || one === `${resource}/*` || (subresource !== '' && one === `*/${subresource}`)
  return resources.some(
    ({ group, resources: listed = [], resourceNames }) =>
      (group === '*' || group === asked.apiGroup) &&
      (listed.length === 0 || (names(resourceNames, asked.name) && listed.some(isNamed))),
  )
}
