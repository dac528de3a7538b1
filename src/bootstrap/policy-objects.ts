/** RBAC, flow control and priority classes of a fresh server, from the table. */
import type { FeatureGates } from '../api/feature-gates.ts'
import type { JsonObject, KubeObject } from '../api/object.ts'
import { ownValue } from '../base/own.ts'
import { unpackedTable } from '../base/unpacked-table.ts'
import { stringifySorted } from '../json/write-json.ts'
import type { BootstrapObject } from './bootstrap-object.ts'
import type { RoleRow } from './gated-roles.ts'
import { gatedClusterRoleBindings, gatedClusterRoles } from './gated-roles.ts'

interface Row extends RoleRow {
  namespace?: string
  /** The ClusterRole that aggregates the rules of this one. */
  aggregate?: string
  aggregationRule?: { clusterRoleSelectors: { matchLabels: Record<string, string> }[] }
  generation?: number
  status?: JsonObject
}

interface Table {
  readonly resource: string
  readonly kind: string
  readonly apiVersion: string
  readonly objects: readonly Row[]
}

/** @param time the transition time in the status of flow schemas */
export async function policyObjects(time: string, gates: FeatureGates): Promise<BootstrapObject[]> {
  // 70 KB that only the first request to a new control plane needs
  const tables = await unpackedTable((await import('./bootstrap-table.json')).default)
  return (tables as unknown as readonly Table[]).flatMap((table) =>
    rowsOf(table, gates).map((row) => objectOf(table, row, time)),
  )
}

function rowsOf({ kind, objects }: Table, gates: FeatureGates): readonly Row[] {
  if (kind === 'ClusterRole') return withAggregated(gatedClusterRoles(objects, gates))
  return kind === 'ClusterRoleBinding' ? gatedClusterRoleBindings(objects, gates) : objects
}

/** The rows, and in those of aggregated roles the rules of the roles that these select. */
const withAggregated = (rows: readonly Row[]): Row[] => rows.map((row) => ({ ...row, ...rulesOf(row, rows) }))

/** The rules of the selected roles by their names, without duplicates; of a role that selects none, its own. */
function rulesOf(row: Row, rows: readonly Row[]): Pick<Row, 'rules'> {
  if (row.aggregationRule === undefined) return row
  const selectors = row.aggregationRule.clusterRoleSelectors
  const labels = new Set(selectors.flatMap(({ matchLabels }) => Object.keys(matchLabels)))
  const selected = rows.filter(({ aggregate }) => aggregate !== undefined && labels.has(aggregateLabel(aggregate)))
  const rules = selected.flatMap((source) => rulesOf(source, rows).rules ?? [])
  return { rules: [...new Map(rules.map((rule) => [stringifySorted(rule), rule])).values()] }
}

const aggregateLabel = (role: string): string => `rbac.authorization.k8s.io/aggregate-to-${role}`

function objectOf(table: Table, row: Row, time: string): BootstrapObject {
  switch (table.apiVersion) {
    case 'rbac.authorization.k8s.io/v1':
      return roleObject(table, row)
    case 'flowcontrol.apiserver.k8s.io/v1':
      return flowObject(table, row, time)
    default: {
      const { name, generation, ...rest } = row
      return { resource: table.resource, manager: 'kube-apiserver', object: named(table, { name, generation }, rest) }
    }
  }
}

function roleObject(table: Table, { name, namespace, aggregate, ...rest }: Row): BootstrapObject {
  const { rules, ...others } = rest
  const metadata = {
    name,
    namespace,
    labels: {
      'kubernetes.io/bootstrapping': 'rbac-defaults',
      ...(aggregate === undefined ? {} : { [aggregateLabel(aggregate)]: 'true' }),
    },
    annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
  }
  const { resource } = table
  if (rest['aggregationRule'] === undefined)
    return { resource, manager: 'kube-apiserver', object: named(table, metadata, rest) }
  return {
    resource,
    manager: 'kube-apiserver',
    object: named(table, metadata, others),
    added: { rules },
    applied: { manager: 'clusterrole-aggregation-controller', fieldsV1: { 'f:rules': {} } },
  }
}

const PRODUCER = 'api-priority-and-fairness-config-producer-v1'
const CONSUMER = 'api-priority-and-fairness-config-consumer-v1'

function flowObject(table: Table, { name, generation, status, ...rest }: Row, time: string): BootstrapObject {
  const annotations = { 'apf.kubernetes.io/autoupdate-spec': 'true' }
  const object = named(table, { name, generation, annotations }, rest)
  const { resource } = table
  const [condition] = (status?.['conditions'] ?? []) as JsonObject[] // the table has this type
  if (condition === undefined) return { resource, manager: PRODUCER, object, added: { status: {} } }
  return {
    resource,
    manager: PRODUCER,
    object,
    added: { status: { conditions: [withTime(condition, time)] } },
    applied: { manager: CONSUMER, subresource: 'status', fieldsV1: conditionFields(condition) },
  }
}

/** The FieldsV1 of a status with one condition. */
export function conditionFields(condition: JsonObject): JsonObject {
  const members = ['lastTransitionTime', 'message', 'reason', 'status', 'type']
  const owned = members.filter((name) => name === 'lastTransitionTime' || ownValue(condition, name))
  const key = `k:${JSON.stringify({ type: condition['type'] })}`
  return {
    'f:status': {
      'f:conditions': { [key]: { '.': {}, ...Object.fromEntries(owned.map((name) => [`f:${name}`, {}])) } },
    },
  }
}

function withTime({ type, status, ...rest }: JsonObject, time: string): JsonObject {
  return { type, status, lastTransitionTime: time, ...rest }
}

function named({ kind, apiVersion }: Table, metadata: JsonObject, rest: JsonObject): KubeObject & JsonObject {
  const known = Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined))
  return { kind, apiVersion, metadata: known, ...rest }
}
