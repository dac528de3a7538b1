/**
 * Which FlowSchema a request belongs to (kubernetes.io/docs/concepts/cluster-administration/flow-control). Requests are
 * told their schema and level, as clients and operators expect; the platform, not this server, queues them.
 */
import type { FlowSchema, PolicyRulesWithSubjects, PriorityLevelConfiguration, Subject } from '../api/flowcontrol/v1.ts'
import type { KubeObject } from '../api/object.ts'
import { parseServiceAccountUser } from '../authentication/service-account-name.ts'
import type { UserInfo } from '../authentication/user-info.ts'
import type { AuthorizationAttributes } from '../authorization/attributes.ts'
import { attributesOf } from '../authorization/attributes.ts'
import type { ApiRequest } from '../request/context.ts'
import type { ControlSnapshot } from '../tenancy/control-snapshot.ts'
import { controlSnapshot } from '../tenancy/control-snapshot.ts'

const GROUP = 'flowcontrol.apiserver.k8s.io'
const ALL = '*'

type Stored<O> = O & KubeObject

/** `X-Kubernetes-Pf-*` headers of every answer to somebody who was authenticated. */
export async function flowControlHeaders(request: ApiRequest): Promise<Record<string, string>> {
  const snapshot = await controlSnapshot(request)
  const found = classify(snapshot, attributesOf(request.user, request.info, request.query))
  if (found === undefined) return {}
  return {
    'X-Kubernetes-Pf-Flowschema-Uid': found.schema.metadata.uid ?? '',
    'X-Kubernetes-Pf-Prioritylevel-Uid': found.level?.metadata.uid ?? '',
  }
}

export interface Classification {
  readonly schema: Stored<FlowSchema>
  readonly level?: Stored<PriorityLevelConfiguration>
}

/** The first schema that fits, by precedence and then by name. A schema without its level counts as catch-all's. */
export function classify(snapshot: ControlSnapshot, asked: AuthorizationAttributes): Classification | undefined {
  const schemas = byPrecedence(snapshot.list<Stored<FlowSchema>>({ group: GROUP, resource: 'flowschemas' }))
  const schema = schemas.find(({ spec }) => spec?.rules?.some((rule) => ruleMatches(rule, asked)))
  if (schema === undefined) return undefined
  const level = (name: string | undefined) =>
    snapshot.get<Stored<PriorityLevelConfiguration>>(
      { group: GROUP, resource: 'prioritylevelconfigurations' },
      name ?? '',
    )
  const found = level(schema.spec?.priorityLevelConfiguration?.name)
  return { schema, ...(found === undefined ? {} : { level: found }) }
}

const sorted = new WeakMap<readonly Stored<FlowSchema>[], readonly Stored<FlowSchema>[]>()

/** Kept for as long as no schema changes; lists come in the order of names. */
function byPrecedence(schemas: readonly Stored<FlowSchema>[]): readonly Stored<FlowSchema>[] {
  let ordered = sorted.get(schemas)
  if (ordered === undefined) {
    const precedence = ({ spec }: FlowSchema): number => spec?.matchingPrecedence ?? 1000
    ordered = [...schemas].sort((a, b) => precedence(a) - precedence(b))
    sorted.set(schemas, ordered)
  }
  return ordered
}

function ruleMatches(rule: PolicyRulesWithSubjects, asked: AuthorizationAttributes): boolean {
  if (!rule.subjects?.some((subject) => subjectMatches(subject, asked.user))) return false
  if (!asked.isResourceRequest)
    return (rule.nonResourceRules ?? []).some(
      ({ verbs = [], nonResourceURLs = [] }) =>
        contains(verbs, asked.verb) && nonResourceURLs.some((url) => pathMatches(url, asked.path)),
    )
  const resource = asked.subresource === '' ? asked.resource : `${asked.resource}/${asked.subresource}`
  return (rule.resourceRules ?? []).some(
    ({ verbs = [], apiGroups = [], resources = [], namespaces = [], clusterScope }) =>
      contains(verbs, asked.verb) &&
      contains(apiGroups, asked.apiGroup) &&
      contains(resources, resource) &&
      (asked.namespace === '' ? clusterScope === true : contains(namespaces, asked.namespace)),
  )
}

function subjectMatches({ kind, user, group, serviceAccount }: Subject, { name, groups }: UserInfo): boolean {
  switch (kind) {
    case 'User':
      return user?.name === ALL || user?.name === name
    case 'Group':
      return group?.name === ALL || groups.includes(group?.name ?? '')
    case 'ServiceAccount': {
      const account = parseServiceAccountUser(name)
      if (account === undefined || account.namespace !== serviceAccount?.namespace) return false
      return serviceAccount.name === ALL || serviceAccount.name === account.name
    }
    default:
      return false
  }
}

const contains = (list: readonly string[], value: string): boolean => list.includes(ALL) || list.includes(value)

/** A star stands for everything behind a slash: `/healthz/*`. */
const pathMatches = (url: string, path: string): boolean =>
  url === ALL || url === path || (url.endsWith('/*') && path.startsWith(url.slice(0, -1)))
