/**
 * Which FlowSchema a request belongs to (kubernetes.io/docs/concepts/cluster-administration/flow-control), and with it
 * which priority level; clients are told both.
 */
import type { FlowSchema, PolicyRulesWithSubjects, PriorityLevelConfiguration, Subject } from '../api/flowcontrol/v1.ts'
import type { KubeObject } from '../api/object.ts'
import { parseServiceAccountUser } from '../authentication/service-account-name.ts'
import type { UserInfo } from '../request/user-info.ts'
import type { AuthorizationAttributes } from '../authorization/attributes.ts'
import { mandatoryFlowSchemas } from '../registry/flowcontrol/mandatory-objects.ts'
import type { ControlSnapshot } from '../tenancy/control-snapshot.ts'

const GROUP = 'flowcontrol.apiserver.k8s.io'
const ALL = '*'

type Stored<O> = O & KubeObject

/** `X-Kubernetes-Pf-*` headers of every answer to somebody who was authenticated. */
export function flowControlHeaders({ schema, level }: Classification): Record<string, string> {
  return {
    'X-Kubernetes-Pf-Flowschema-Uid': schema.metadata.uid ?? '',
    'X-Kubernetes-Pf-Prioritylevel-Uid': level?.metadata.uid ?? '',
  }
}

export interface Classification {
  /** Without a uid where a mandatory one had to be supplied. */
  readonly schema: Stored<FlowSchema>
  readonly level?: Stored<PriorityLevelConfiguration>
}

/**
 * The first schema that fits, by precedence and then by name. One whose level is not there does not count, and the
 * mandatory ones always do.
 */
export function classify(snapshot: ControlSnapshot, asked: AuthorizationAttributes): Classification {
  const schemas = { group: GROUP, resource: 'flowschemas' }
  const levels = { group: GROUP, resource: 'prioritylevelconfigurations' }
  const levelOf = ({ spec }: FlowSchema) =>
    snapshot.get<Stored<PriorityLevelConfiguration>>(levels, spec?.priorityLevelConfiguration?.name ?? '')
  const supplied = mandatorySchemas.filter(({ metadata: { name = '' } }) => {
    const stored = snapshot.get<Stored<FlowSchema>>(schemas, name)
    return stored === undefined || levelOf(stored) === undefined
  })
  const fits = ({ spec }: FlowSchema) => spec?.rules?.some((rule) => ruleMatches(rule, asked)) === true
  const found =
    supplied.find((schema) => schema !== CATCH_ALL && fits(schema)) ??
    byPrecedence(snapshot.list<Stored<FlowSchema>>(schemas)).find(
      (schema) => fits(schema) && levelOf(schema) !== undefined,
    ) ??
    // also of those who are in no group at all
    snapshot.get<Stored<FlowSchema>>(schemas, CATCH_ALL.metadata.name ?? '') ??
    CATCH_ALL
  const level = levelOf(found)
  return { schema: found, ...(level === undefined ? {} : { level }) }
}

const mandatorySchemas = [...mandatoryFlowSchemas].map(([name, spec]): Stored<FlowSchema> => ({
  metadata: { name },
  spec,
}))
const CATCH_ALL = mandatorySchemas.at(-1)!

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
