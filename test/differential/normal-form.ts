/**
 * A namespace's state without what differs by chance: times, uids, addresses, random names, the order of events, and on
 * which of several equal nodes a pod runs. What is left has to be the same wherever the same controllers work.
 */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
type Fields = Readonly<Record<string, Json>>

export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly uid: string
    readonly namespace?: string
    readonly generation?: number
    readonly generateName?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly ownerReferences?: readonly { readonly kind: string; readonly name: string }[]
  }
  readonly [more: string]: unknown
}

/** Objects by kind and name, each as JSON with sorted keys, and what events said. */
export interface State {
  readonly objects: readonly Json[]
  readonly events: readonly string[]
}

/** Fields that say when or how often, or that count writes, wherever they stand. */
const DROPPED = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'managedFields',
  'generation',
  'selfLink',
  // kube-controller-manager leaves it out where it wrote for several pods within one second, or tried twice
  'endpoints.kubernetes.io/last-change-trigger-time',
])
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/
const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const ADDRESS = /\b\d{1,3}(?:\.\d{1,3}){3}\b/g
const NODE = /\bnode-\d+\b/g
/** The end of a name that was generated, quoted in a message. */
const GENERATED = /-[bcdfghjklmnpqrstvwxz2456789]{5}(?=\\?")/g
const RANDOM_END = /-[bcdfghjklmnpqrstvwxz2456789]{5}$/
const MINUTES = /-\d{8}(?=-|$|\b)/g
const ZONE = /\bzone-\d\b/g
const TOKEN_VOLUME = /^kube-api-access-[a-z0-9]{5}$/

export interface Comparison {
  readonly comparesNodes: boolean
  readonly namespace: string
  /** Reasons of Events that are left out. */
  readonly byChance: readonly string[]
}

export function stateOf(objects: readonly KubeObject[], events: readonly KubeObject[], how: Comparison): State {
  const names = randomNames(objects)
  const texts = objects.map((object) => JSON.stringify(sorted(simplified(progressed(object), names, how))))
  const certain = events.filter(({ reason }) => !how.byChance.includes(reason as string)) // an Event's is a string
  const said = new Set(certain.map((event) => saidBy(event, names, how)).filter((text) => text !== undefined))
  return { objects: texts.sort().map((text) => JSON.parse(text) as Json), events: [...said].sort() }
}

interface Progress {
  readonly updatedReplicas?: number
  readonly conditions?: readonly { readonly type: string; readonly reason?: string; readonly message?: string }[]
}

/**
 * The first pods of a rollout are progress for the deployment controller only if its status said before that there were
 * none. It may skip that status, which still counts the pods of the last rollout: then the condition goes on saying that
 * the ReplicaSet was created.
 */
function progressed(object: KubeObject): KubeObject {
  const status = object['status'] as Progress | undefined // that of a Deployment
  if (object.kind !== 'Deployment' || !status?.updatedReplicas) return object
  const conditions = status.conditions?.map((condition) =>
    condition.reason === 'NewReplicaSetCreated'
      ? {
          ...condition,
          reason: 'ReplicaSetUpdated',
          message: (condition.message ?? '').replace(/^Created new replica set (.*)$/, 'ReplicaSet $1 is progressing.'),
        }
      : condition,
  )
  return { ...object, status: { ...status, conditions } }
}

/** What a name is called instead: `web-5d9c-x7k2p` is `web-5d9c-*`. */
function randomNames(objects: readonly KubeObject[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const { metadata } of objects) {
    const { name, generateName } = metadata
    if (generateName !== undefined && name.startsWith(generateName)) names.set(name, `${generateName}*`)
  }
  // a claim is named after its pod, whose name was generated, too
  for (const [name, instead] of names)
    for (const [other, known] of names)
      if (other !== name && instead.startsWith(other)) names.set(name, known + instead.slice(other.length))
  return names
}

function simplified(object: KubeObject, names: ReadonlyMap<string, string>, how: Comparison): Json {
  const { generation } = object.metadata
  const text = (value: string): string => {
    if (TIME.test(value)) return 'TIME'
    if (TOKEN_VOLUME.test(value)) return 'kube-api-access-*'
    const whole = names.get(value)
    // before names: a uid may have the form of one within it
    let known = whole ?? value.replace(UID, 'UID')
    if (whole === undefined)
      // a name within a text
      for (const [name, instead] of names) if (known.includes(name)) known = known.replaceAll(name, instead)
    known = known
      .replace(GENERATED, '-*')
      .replace(ADDRESS, 'IP')
      .replace(MINUTES, '-MINUTES')
      .replaceAll(how.namespace, 'NS')
    return how.comparesNodes ? known : known.replace(NODE, 'NODE').replace(ZONE, 'ZONE')
  }
  const visit = (value: unknown, key: string): Json | undefined => {
    if (DROPPED.has(key)) return undefined
    if (key === 'observedGeneration') return value === generation ? 'CURRENT' : 'OLD'
    // of a claim that is gone, whose name nothing tells
    if (key === 'resourceClaimName' && typeof value === 'string') return text(value).replace(RANDOM_END, '-*')
    if (typeof value === 'string') return text(value)
    if (Array.isArray(value)) {
      const items = value.map((item) => visit(item, '') ?? null)
      return UNORDERED.has(key)
        ? items
            .map((item) => JSON.stringify(sorted(item)))
            .sort()
            .map((item) => JSON.parse(item) as Json)
        : items
    }
    if (typeof value === 'object' && value !== null) {
      const fields: Record<string, Json> = {}
      for (const [name, item] of Object.entries(value)) {
        const known = visit(item, name)
        const isNothing = name === 'annotations' && Object.keys(known ?? {}).length === 0
        if (known !== undefined && !isNothing) fields[text(name)] = known
      }
      return fields
    }
    return value as Json
  }
  return visit(object, '') as Json
}

/** Lists whose order is that of random names or of time. */
const UNORDERED = new Set([
  'endpoints',
  'subsets',
  'ports',
  'conditions',
  'addresses',
  'notReadyAddresses',
  'active',
  'podIPs',
])

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value as Fields).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]))
}

interface EventFields {
  readonly reason?: string
  readonly type?: string
  readonly source?: { readonly component?: string }
  readonly reportingComponent?: string
  readonly reportingController?: string
  readonly involvedObject?: { readonly kind?: string; readonly name?: string }
}

/** What kind of object was told what by whom; undefined for what kubelets say. */
function saidBy(event: KubeObject, names: ReadonlyMap<string, string>, how: Comparison): string | undefined {
  const { reason, type, source, reportingComponent, involvedObject } = event as KubeObject & EventFields
  const component = source?.component || reportingComponent || ''
  if (component.includes('kubelet')) return undefined
  const { kind = '', name = '' } = involvedObject ?? {}
  const known = names.get(name) ?? withoutRandomEnd(name, kind)
  const place = known.replace(MINUTES, '-MINUTES').replaceAll(how.namespace, 'NS')
  return `${kind}/${place}: ${type} ${reason} (${component})`
}

/** An event outlives its object, whose name is then known by its form alone. */
const withoutRandomEnd = (name: string, kind: string): string =>
  kind === 'Pod' ? name.replace(RANDOM_END, '-*') : name
