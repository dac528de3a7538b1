/**
 * The number of endpoints for each zone, by the cores of its nodes (kube-controller-manager's topology cache,
 * KEP-2433).
 */
import type { Node } from '../../../api/core/v1.ts'
import { ownValue } from '../../../base/own.ts'
import { Quantity } from '../../../schema/quantity.ts'

/** How much more than its proportional load an endpoint may get. */
const OVERLOAD = 0.2
const EXCLUDED = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master']

/** Each zone's share of all cores; undefined where a node does not report its cores, or all nodes are in one zone. */
export type ZoneParts = ReadonlyMap<string, number>

const isReady = ({ status }: Node): boolean =>
  status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True'
const isExcluded = ({ metadata }: Node): boolean =>
  EXCLUDED.some((label) => ownValue(metadata.labels, label) !== undefined)

/** The zone and the cores of a node; undefined for nodes that do not count. */
export function zoneAndCores(node: Node): { readonly zone: string; readonly milli: number } | undefined {
  if (isExcluded(node) || !isReady(node)) return undefined
  const milli = Quantity.tryParse(node.status?.allocatable?.['cpu'] ?? '0')?.milliValue() ?? 0
  return { zone: ownValue(node.metadata.labels, 'topology.kubernetes.io/zone') ?? '', milli }
}

export function zoneParts(nodes: readonly Node[]): ZoneParts | undefined {
  const cores = new Map<string, number>()
  for (const node of nodes) {
    const known = zoneAndCores(node)
    if (known === undefined) continue
    if (known.zone === '' || known.milli === 0) return undefined
    cores.set(known.zone, (cores.get(known.zone) ?? 0) + known.milli)
  }
  if (cores.size < 2) return undefined
  const all = [...cores.values()].reduce((sum, milli) => sum + milli, 0)
  return new Map([...cores].sort(([a], [b]) => (a < b ? -1 : 1)).map(([zone, milli]) => [zone, milli / all]))
}

/** The share of endpoints of a zone. */
export interface Share {
  readonly most: number
  /** A fraction, where several zones share the remaining endpoint. */
  readonly wanted: number
}

/** @returns the shares; or a text that tells why there are none */
export function sharesOf(parts: ZoneParts | undefined, endpoints: number): ReadonlyMap<string, Share> | string {
  if (parts === undefined)
    return 'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes'
  const counts = `(${endpoints} endpoints, ${parts.size} zones)`
  if (parts.size > endpoints) return `Insufficient number of endpoints ${counts}`
  const least = [...parts].map(([zone, part]) => ({
    zone,
    wanted: part * endpoints,
    least: Math.ceil(part * endpoints * (1 / (1 + OVERLOAD))),
  }))
  const left = endpoints - least.reduce((sum, one) => sum + one.least, 0)
  if (left < 0)
    return `Unable to allocate minimum required endpoints to each zone without exceeding overload threshold ${counts}`
  return new Map(
    least.map((one) => [one.zone, { most: one.least + left, wanted: Math.max(one.wanted, one.least) }] as const),
  )
}

/** How many endpoints each zone gives to other zones, and gets from them. */
export function transfers(
  shares: ReadonlyMap<string, Share>,
  counts: ReadonlyMap<string, number>,
): { readonly giving: Map<string, number>; readonly receiving: Map<string, number> } {
  const over = new Map<string, number>()
  const under = new Map<string, number>()
  for (const [zone, { wanted }] of shares) {
    const more = (counts.get(zone) ?? 0) - wanted
    if (more > 0) over.set(zone, more)
    else if (more < 0) under.set(zone, -more)
  }
  const giving = new Map<string, number>()
  const receiving = new Map<string, number>()
  for (;;) {
    // few: zones
    const [from, give] = largest(over)
    const [to, take] = largest(under)
    if (give < 0.5 || take < 0.5 || (give < 1 && take < 1)) return { giving, receiving }
    giving.set(from, (giving.get(from) ?? 0) + 1)
    receiving.set(to, (receiving.get(to) ?? 0) + 1)
    over.set(from, give - 1)
    under.set(to, take - 1)
  }
}

function largest(counts: ReadonlyMap<string, number>): readonly [zone: string, count: number] {
  let found: readonly [string, number] = ['', 0]
  for (const entry of counts) if (entry[1] > found[1]) found = entry
  return found
}
