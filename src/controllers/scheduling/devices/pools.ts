/**
 * Which devices a node reaches: the pools of its ResourceSlices in their latest generation (kube-scheduler's
 * allocator).
 */
import { addTo } from '../../../base/lookup.ts'
import type { Node, NodeSelector } from '../../../api/core/v1.ts'
import type { CounterSet, Device, ResourceSlice } from '../../../api/resource/v1.ts'
import { matchesSelector } from '../node-selector.ts'
import { CounterSets } from './counters.ts'

/** `DRIVER/POOL/DEVICE`. */
export const deviceId = ({
  driver = '',
  pool = '',
  device = '',
}: Readonly<Record<'driver' | 'pool' | 'device', string | undefined>>) => `${driver}/${pool}/${device}`

export class PoolDevice {
  readonly id: string

  constructor(
    readonly slice: ResourceSlice,
    readonly device: Device,
  ) {
    this.id = deviceId({ driver: this.driver, pool: slice.spec?.pool?.name, device: device.name })
  }

  get driver(): string {
    return this.slice.spec?.driver ?? ''
  }

  /** Whether the device is for the node, if its slice selects nodes for each device. */
  isOn(node: Node): boolean {
    const { spec = {} } = this.slice
    return spec.perDeviceNodeSelection !== true || isFor(this.device, node)
  }
}

export interface Pool {
  readonly id: string
  readonly driver: string
  readonly name: string
  readonly state: 'usable' | 'incomplete' | 'invalid'
  /** The devices of slices that are for the node. */
  readonly devices: readonly PoolDevice[]
  readonly counters: CounterSets | undefined
}

/** Pools with devices that drivers must prepare first come last. */
const inOrder = (a: Pool, b: Pool): number =>
  Number(mustPrepare(a)) - Number(mustPrepare(b)) || order(a.driver, b.driver) || order(a.name, b.name)

const order = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

const mustPrepare = ({ devices }: Pool): boolean =>
  devices.some(({ device: { bindingConditions = [] } }) => bindingConditions.length > 0)

interface Place {
  readonly nodeName?: string
  readonly allNodes?: boolean
  readonly nodeSelector?: NodeSelector
}

function isFor({ nodeName, allNodes, nodeSelector }: Place, node: Node): boolean {
  if (nodeName) return nodeName === node.metadata.name
  return allNodes === true || (nodeSelector !== undefined && matchesSelector(nodeSelector, node))
}

function isSliceFor({ slice: { spec = {} }, devices }: KnownSlice, node: Node): boolean {
  // the counters matter on every node with devices of the pool
  if ((spec.sharedCounters ?? []).length > 0) return true
  return spec.perDeviceNodeSelection === true ? devices.some(({ device }) => isFor(device, node)) : isFor(spec, node)
}

interface KnownSlice {
  readonly slice: ResourceSlice
  readonly devices: readonly PoolDevice[]
}

/** All ResourceSlices of one run. */
export class Pools {
  private readonly ofNode = new Map<string, KnownSlice[]>()
  private readonly shared: KnownSlice[] = []
  private readonly ofPool = new Map<string, KnownSlice[]>()
  /** Bound: the nodes of the run. */
  private readonly known = new Map<Node, readonly Pool[]>()

  constructor(slices: readonly ResourceSlice[]) {
    for (const slice of slices) {
      const { nodeName, sharedCounters = [], devices = [] } = slice.spec ?? {}
      const known = { slice, devices: devices.map((device) => new PoolDevice(slice, device)) }
      addTo(this.ofPool, poolId(slice), known)
      if (!nodeName || sharedCounters.length > 0) this.shared.push(known)
      else addTo(this.ofNode, nodeName, known)
    }
  }

  /** The pools of a node, in the order in which the search tries them. */
  on(node: Node): readonly Pool[] {
    const known = this.known.get(node)
    if (known !== undefined) return known
    const pools = this.gather(node)
    this.known.set(node, pools)
    return pools
  }

  private gather(node: Node): readonly Pool[] {
    const latest = new Map<string, KnownSlice[]>()
    for (const slice of [...(this.ofNode.get(node.metadata.name ?? '') ?? []), ...this.shared]) {
      if (!isSliceFor(slice, node)) continue
      const id = poolId(slice.slice)
      const [first] = latest.get(id) ?? []
      if (first === undefined || generation(slice) > generation(first)) latest.set(id, [slice])
      else if (generation(slice) === generation(first)) addTo(latest, id, slice)
    }
    return [...latest].flatMap(([id, slices]) => this.poolOf(id, slices) ?? []).sort(inOrder)
  }

  /** Undefined: the pool has a newer generation that is not for this node. */
  private poolOf(id: string, slices: readonly KnownSlice[]): Pool | undefined {
    const [first] = slices
    const { driver = '', pool = {} } = first?.slice.spec ?? {}
    const { name = '', resourceSliceCount } = pool
    let elsewhere: readonly KnownSlice[] = []
    if (first !== undefined && slices.length !== Number(resourceSliceCount)) {
      const all = this.ofPool.get(id) ?? []
      if (all.some((slice) => generation(slice) > generation(first))) return undefined
      const current = all.filter((slice) => generation(slice) === generation(first))
      if (current.length !== Number(resourceSliceCount))
        return { id, driver, name, state: 'incomplete', devices: [], counters: undefined }
      elsewhere = current.filter((slice) => !slices.includes(slice)) // few: the slices of one pool
    }
    return poolFrom({ id, driver, name }, slices, elsewhere)
  }
}

function poolFrom(
  named: Pick<Pool, 'id' | 'driver' | 'name'>,
  here: readonly KnownSlice[],
  elsewhere: readonly KnownSlice[],
): Pool {
  const byName = [...here].sort((a, b) => ((a.slice.metadata.name ?? '') < (b.slice.metadata.name ?? '') ? -1 : 1))
  const devices = byName.flatMap((slice) => slice.devices)
  const sets = byName.flatMap(({ slice }): CounterSet[] => slice.spec?.sharedCounters ?? [])
  const all = [...devices, ...elsewhere.flatMap((slice) => slice.devices)]
  const counters = CounterSets.of(sets, all)
  const isUnique = new Set(devices.map((device) => device.id)).size === devices.length
  return isUnique && counters !== 'invalid'
    ? { ...named, state: 'usable', devices, counters }
    : { ...named, state: 'invalid', devices: [], counters: undefined }
}

const poolId = ({ spec }: ResourceSlice): string => `${spec?.driver}/${spec?.pool?.name}`
const generation = ({ slice }: KnownSlice): number => Number(slice.spec?.pool?.generation ?? 0)
