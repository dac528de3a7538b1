/** Which requests are audited, and how much of them (audit.k8s.io/v1 Policy; kubernetes.io/docs/tasks/debug/debug-cluster/audit). */
import { withoutTrailing } from '../api/trim.ts'
import * as z from 'zod/mini'
import type { AuthorizationAttributes } from '../authorization/attributes.ts'
import type { UserInfo } from '../request/user-info.ts'
import { levels } from '../request/record.ts'
import type { AuditLevel } from '../request/record.ts'

export const stages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const
export type AuditStage = (typeof stages)[number]

const texts = z.optional(z.array(z.string()))
const omitted = z.optional(z.array(z.enum(stages)))

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

const groupResources = z
  .strictObject({
    group: z._default(
      z.string().check(z.refine((group) => group === '' || group === '*' || SUBDOMAIN.test(group), 'must be a group')),
      '',
    ),
    resources: texts,
    resourceNames: texts,
  })
  .check(
    z.refine(
      ({ resources = [], resourceNames = [] }) => resourceNames.length === 0 || resources.length > 0,
      'using resourceNames requires at least one resource',
    ),
  )

const url = z.string().check(
  z.refine((text) => text === '*' || text.startsWith('/'), "non-resource URL rules must begin with a '/' character"),
  z.refine(
    (text) => !text.slice(0, -1).includes('*'),
    "non-resource URL wildcards '*' must be the final character of the rule",
  ),
)

const rule = z
  .strictObject({
    level: z.enum(levels),
    users: texts,
    userGroups: texts,
    verbs: texts,
    resources: z.optional(z.array(groupResources)),
    namespaces: texts,
    nonResourceURLs: z.optional(z.array(url)),
    omitStages: omitted,
    omitManagedFields: z.optional(z.boolean()),
  })
  .check(
    z.refine(
      ({ nonResourceURLs = [], resources = [], namespaces = [] }) =>
        nonResourceURLs.length === 0 || resources.length + namespaces.length === 0,
      'rules cannot apply to both regular resources and non-resource URLs',
    ),
  )

const policySchema = z.strictObject({
  apiVersion: z.literal('audit.k8s.io/v1'),
  kind: z.literal('Policy'),
  metadata: z.optional(z.unknown()),
  rules: z.array(rule).check(z.minLength(1)),
  omitStages: omitted,
  omitManagedFields: z.optional(z.boolean()),
})

export type Policy = z.infer<typeof policySchema>
type Rule = z.infer<typeof rule>

/** @param text JSON @throws Error that says what is wrong */
export function parsePolicy(text: string): Policy {
  const result = policySchema.safeParse(JSON.parse(text))
  if (result.success) return result.data
  throw new Error(result.error.issues.map(wordsOf).join('; '))
}

/** The library has words only for what is said above. */
function wordsOf(issue: z.core.$ZodIssue): string {
  const at = issue.path.join('.') || 'policy'
  if (issue.code === 'unrecognized_keys') return `${at}: unknown field ${issue.keys.join(', ')}`
  if (issue.code === 'invalid_value') return `${at}: must be one of ${issue.values.join(', ')}`
  return `${at}: ${issue.message}`
}

/** How one request is audited. */
export interface Decision {
  readonly level: AuditLevel
  readonly omitStages: readonly AuditStage[]
  readonly omitManagedFields: boolean
}

/** What a policy is asked: nobody is known where authentication failed. */
export type AuditedAttributes = Omit<AuthorizationAttributes, 'user' | 'fields'> & {
  readonly user: UserInfo | undefined
}

/** The first rule that matches decides; without any the request is not audited. */
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

/** Whatever the policy says, what goes in and comes out of these is never written down: it lets in who reads it. */
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
