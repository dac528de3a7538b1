/** RBAC, flow control and priority classes of a fresh server, from the table. */
import type { JsonObject, KubeObject } from '../api/object.ts'
import { ownValue } from '../base/own.ts'
import { unpackedTable } from '../base/unpacked-table.ts'
import type { BootstrapObject } from './bootstrap-object.ts'

interface Row extends JsonObject {
  name: string
  namespace?: string
  /** The ClusterRole that aggregates the rules of this one. */
  aggregate?: string
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
export async function policyObjects(time: string): Promise<BootstrapObject[]> {
  // 70 KB that only the first request to a new control plane needs
  const tables = await unpackedTable((await import('./bootstrap-table.json')).default)
  return (tables as unknown as readonly Table[]).flatMap((table) =>
    table.objects.map((row) => objectOf(table, row, time)),
  )
}

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
      ...(aggregate === undefined ? {} : { [`rbac.authorization.k8s.io/aggregate-to-${aggregate}`]: 'true' }),
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
