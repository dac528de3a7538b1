/**
 * Finds the FlowSchema of a request and its priority level
 * (kubernetes.io/docs/concepts/cluster-administration/flow-control). Clients get the uids of both.
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

/** The `X-Kubernetes-Pf-*` headers of an answer to an authenticated user. */
export function flowControlHeaders({ schema, level }: Classification): Record<string, string> {
  return {
    'X-Kubernetes-Pf-Flowschema-Uid': schema.metadata.uid ?? '',
    'X-Kubernetes-Pf-Prioritylevel-Uid': level?.metadata.uid ?? '',
  }
}

export interface Classification {
  /** It has no uid where it is missing in storage and mandatory, so that the server supplies it. */
  readonly schema: Stored<FlowSchema>
  readonly level?: Stored<PriorityLevelConfiguration>
}

const SCHEMAS = { group: GROUP, resource: 'flowschemas' }
const LEVELS = { group: GROUP, resource: 'prioritylevelconfigurations' }

/**
 * The first matching schema, by precedence and then by name. Schemas without their priority level are left out. The
 * mandatory ones are always there.
 */
export function classify(snapshot: ControlSnapshot, asked: AuthorizationAttributes): Classification {
  const { candidates, otherwise } = choicesOf(snapshot)
  return candidates.find(({ schema: { spec } }) => spec?.rules?.some((rule) => ruleMatches(rule, asked))) ?? otherwise
}

const mandatorySchemas = [...mandatoryFlowSchemas].map(([name, spec]): Stored<FlowSchema> => ({
  metadata: { name },
  spec,
}))
const CATCH_ALL = mandatorySchemas.at(-1)!

interface Choices {
  readonly levels: readonly Stored<PriorityLevelConfiguration>[]
  readonly candidates: readonly Classification[]
  /** The mandatory schema catch-all, which also matches users without any group. */
  readonly otherwise: Classification
}

const known = new WeakMap<readonly Stored<FlowSchema>[], Choices>()

/**
 * Computed once for each state of schemas and levels: the snapshot's lists stay the same values as long as none
 * changes.
 */
function choicesOf(snapshot: ControlSnapshot): Choices {
  const schemas = snapshot.list<Stored<FlowSchema>>(SCHEMAS)
  const levels = snapshot.list<Stored<PriorityLevelConfiguration>>(LEVELS)
  let choices = known.get(schemas)
  if (choices?.levels !== levels) known.set(schemas, (choices = makeChoices(schemas, levels)))
  return choices
}

function makeChoices(
  schemas: readonly Stored<FlowSchema>[],
  levels: readonly Stored<PriorityLevelConfiguration>[],
): Choices {
  const byName = new Map(levels.map((level) => [level.metadata.name ?? '', level]))
  const withLevel = (schema: Stored<FlowSchema>): Classification => {
    const level = byName.get(schema.spec?.priorityLevelConfiguration?.name ?? '')
    return { schema, ...(level === undefined ? {} : { level }) }
  }
  const stored = byPrecedence(schemas).map(withLevel)
  const inForce = stored.filter(({ level }) => level !== undefined)
  const names = new Set(inForce.map(({ schema }) => schema.metadata.name))
  const supplied = mandatorySchemas.filter((schema) => schema !== CATCH_ALL && !names.has(schema.metadata.name))
  const catchAll = stored.find(({ schema }) => schema.metadata.name === CATCH_ALL.metadata.name)
  return {
    levels,
    candidates: [...supplied.map(withLevel), ...inForce],
    otherwise: catchAll ?? withLevel(CATCH_ALL),
  }
}

/** The lists are sorted by name. */
function byPrecedence(schemas: readonly Stored<FlowSchema>[]): readonly Stored<FlowSchema>[] {
  const precedence = ({ spec }: FlowSchema): number => spec?.matchingPrecedence ?? 1000
  return [...schemas].sort((a, b) => precedence(a) - precedence(b))
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

/** A path covers all below it, with or without a star at its end: `/healthz` and `/healthz/*` cover `/healthz/etcd`. */
function pathMatches(url: string, path: string): boolean {
  if (url === ALL || url === path) return true
  const above = url.endsWith(ALL) ? url.slice(0, -1) : url
  return path.startsWith(above.endsWith('/') ? above : `${above}/`)
}
