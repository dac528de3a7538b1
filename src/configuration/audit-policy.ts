/** An audit policy as its operator writes it (audit.k8s.io/v1 Policy; kubernetes.io/docs/tasks/debug/debug-cluster/audit). */
import * as z from 'zod/mini'

/** audit.k8s.io Level, ascending. */
export const levels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const
export type AuditLevel = (typeof levels)[number]

const stages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const
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
export type Rule = z.infer<typeof rule>

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
