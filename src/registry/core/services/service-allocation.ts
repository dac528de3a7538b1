/**
 * Allocates IP families, cluster IPs and node ports for a Service (kubernetes' pkg/registry/core/service/storage). It
 * runs before validation. A write that fails gives everything back.
 */
import type { Service, ServicePort, ServiceSpec } from '../../../api/core/v1.ts'
import { invalidValue, path } from '../../../api/field.ts'
import type { FieldError, FieldPath } from '../../../api/field.ts'
import { internalError, invalid, plainError } from '../../../api/status.ts'
import type { IpFamily } from '../../../api/ip-addresses.ts'
import { familyOf } from '../../../api/ip-addresses.ts'
import { AllocationLog } from '../../allocation.ts'
import type { Allocation } from '../../allocation.ts'
import type { WriteContext } from '../../strategy.ts'
import { walked } from '../../../request/turns.ts'
import { NodePortError, NodePorts } from './node-ports.ts'
import { AddressError, ownFamilies, releaseAddress, takeAddress, takeAnyAddress } from './service-addresses.ts'
import {
  clusterIpErrors,
  isBalanced,
  isExternalName,
  NO_CLUSTER_IP,
  needsHealthCheck,
  specOf,
} from './service-validation.ts'
import { errorsOf } from '../../../validation/errors-of.ts'

const spec = path('spec')
const KIND = { group: '', kind: 'Service' }

/** Changes `service` in place. @throws 422; 500 if no address or port is free */
export async function allocateForService(
  service: Service,
  old: Service | undefined,
  context: WriteContext,
): Promise<Allocation> {
  const before = old && specOf(old)
  if (before !== undefined) keepAllocated(specOf(service), before)
  normalizeClusterIps(specOf(service), before)
  await fillFamilies(service, before, context)
  const log = new AllocationLog()
  const ports = new NodePorts(context, `${context.namespace}/${service.metadata.name}`)
  const allocator = new ServiceAllocator(service, context, log, ports)
  try {
    await allocator.clusterIps(before)
    await (before === undefined ? allocator.nodePorts() : allocator.changedNodePorts(before))
    await allocator.healthPort(before)
  } catch (error) {
    await Promise.allSettled([log.revert(), ports.releaseUnused()])
    throw error
  }
  await ports.releaseUnused()
  return log
}

/** Gives back all addresses and ports of a deleted Service. */
export async function releaseService(service: Service, context: WriteContext): Promise<void> {
  const { clusterIPs = [], ports = [], healthCheckNodePort } = specOf(service)
  const nodePorts = new NodePorts(context, '')
  await Promise.allSettled([
    ...clusterIPs.filter((ip) => ip !== NO_CLUSTER_IP).map((ip) => releaseAddress(context, ip)),
    nodePorts.releaseAll([...ports.map(({ nodePort }) => nodePort ?? 0), healthCheckNodePort ?? 0].filter(Boolean)),
  ])
}

/** If an update leaves out allocated values, it keeps them. It finds node ports by the names of the ports. */
function keepAllocated(now: ServiceSpec, before: ServiceSpec): void {
  if (!isExternalName(now) && !isExternalName(before)) {
    now.clusterIP ||= before.clusterIP
    if ((now.clusterIPs ?? []).length === 0 && (before.clusterIPs ?? []).length > 0)
      now.clusterIPs = [...before.clusterIPs!]
  }
  if (hasNodePorts(now) && hasNodePorts(before)) keepNodePorts(now.ports ?? [], before.ports ?? [])
  if (needsHealthCheck(now) && needsHealthCheck(before)) now.healthCheckNodePort ||= before.healthCheckNodePort
}

function keepNodePorts(ports: readonly ServicePort[], before: readonly ServicePort[]): void {
  const given = new Set(ports.map(({ nodePort }) => nodePort ?? 0))
  const byName = new Map(before.map(({ name = '', nodePort = 0 }) => [name, nodePort]))
  for (const port of ports) {
    const known = byName.get(port.name ?? '') ?? 0
    if (!port.nodePort && known !== 0 && !given.has(known)) port.nodePort = known
  }
}

/** Whether the server allocates node ports for the ports of the Service. */
const hasNodePorts = ({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean =>
  type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts !== false)

/** Old clients write only `clusterIP`. The server then sets `clusterIPs` from it. */
function normalizeClusterIps(now: ServiceSpec, before: ServiceSpec | undefined): void {
  const ips = now.clusterIPs ?? []
  if (before === undefined) {
    if (now.clusterIP && ips.length === 0) now.clusterIPs = [now.clusterIP]
    return
  }
  const same = (now.clusterIP ?? '') === (before.clusterIP ?? '')
  if ((before.clusterIPs ?? []).length > 0 && ips.length === 0 && same) now.clusterIPs = [...before.clusterIPs!]
  if (same || !sameList(now.clusterIPs, before.clusterIPs)) return
  if (before.clusterIP && !now.clusterIP) delete now.clusterIPs
  else now.clusterIPs = [now.clusterIP ?? '']
}

const sameList = (a: readonly string[] = [], b: readonly string[] = []): boolean =>
  a.length === b.length && a.every((value, index) => value === b[index])

/** Both prefer dual stack, and type, addresses and families are the same. */
const staysAsPreferred = (now: ServiceSpec, before: ServiceSpec | undefined): boolean =>
  before !== undefined &&
  before.type === now.type &&
  ['ClusterIP', 'NodePort', 'LoadBalancer'].includes(now.type ?? '') &&
  now.ipFamilyPolicy === 'PreferDualStack' &&
  (before.ipFamilyPolicy ?? 'PreferDualStack') === 'PreferDualStack' &&
  sameList(now.clusterIPs, before.clusterIPs) &&
  sameList(now.ipFamilies, before.ipFamilies)

/** Sets the policy and the families that the client did not choose. @throws 422 */
async function fillFamilies(service: Service, before: ServiceSpec | undefined, context: WriteContext): Promise<void> {
  const now = specOf(service)
  if (isExternalName(now) || staysAsPreferred(now, before)) return
  const selectorless = now.clusterIP === NO_CLUSTER_IP && Object.keys(now.selector ?? {}).length === 0
  now.ipFamilyPolicy ??= before?.ipFamilyPolicy ?? (selectorless ? 'RequireDualStack' : 'SingleStack')
  const families = ownFamilies(context.env)
  refuse(service, await walked(context, () => clusterIpErrors(now, before)))
  refuse(service, [
    ...(before === undefined ? [] : reductionErrors(now, before)),
    ...singleStackErrors(now),
    ...addFamiliesOfIps(now, families),
  ])
  const list = (now.ipFamilies ??= [])
  if (selectorless) {
    if (list.length === 0) list.push(families[0]!)
    if (list.length < 2 && now.ipFamilyPolicy !== 'SingleStack') list.push(otherFamily(list[0]!))
    return
  }
  refuse(service, unservedFamilyErrors(now, families))
  if (list.length === 0) list.push(families[0]!)
  if (now.ipFamilyPolicy !== 'SingleStack' && list.length === 1 && families.length === 2)
    list.push(otherFamily(list[0]!))
}

const otherFamily = (family: string): IpFamily => (family === 'IPv4' ? 'IPv6' : 'IPv4')

function refuse(service: Service, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid(KIND, service.metadata.name ?? '', errors)
}

const policyError = (now: ServiceSpec, text: string): FieldError =>
  invalidValue(spec.child('ipFamilyPolicy'), now.ipFamilyPolicy, text)

/**
 * With SingleStack the server removes the second address and family itself. With other policies a client may not remove
 * them.
 */
function reductionErrors(now: ServiceSpec, before: ServiceSpec): FieldError[] {
  const { clusterIPs = [], ipFamilies = [] } = now
  if (now.ipFamilyPolicy === 'SingleStack') {
    if (sameList(clusterIPs, before.clusterIPs) && clusterIPs.length > 1) now.clusterIPs = clusterIPs.slice(0, 1)
    if (sameList(ipFamilies, before.ipFamilies) && ipFamilies.length > 1) now.ipFamilies = ipFamilies.slice(0, 1)
    return []
  }
  const isReduced = (list: readonly string[], old: readonly string[] = []) =>
    list.length > 0 && list.length < old.length
  return [
    ...(isReduced(clusterIPs, before.clusterIPs)
      ? [policyError(now, "must be 'SingleStack' to release the secondary cluster IP")]
      : []),
    ...(isReduced(ipFamilies, before.ipFamilies)
      ? [policyError(now, "must be 'SingleStack' to release the secondary IP family")]
      : []),
  ]
}

function singleStackErrors(now: ServiceSpec): FieldError[] {
  if (now.ipFamilyPolicy !== 'SingleStack') return []
  const text = (what: string) => `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`
  return [
    ...((now.clusterIPs ?? []).length === 2 ? [policyError(now, text('cluster IPs'))] : []),
    ...((now.ipFamilies ?? []).length === 2 ? [policyError(now, text('IP families'))] : []),
  ]
}

/** The addresses that the client chose decide the families. */
function addFamiliesOfIps(now: ServiceSpec, served: readonly string[]): FieldError[] {
  const ips = now.clusterIPs ?? []
  const list = (now.ipFamilies ??= [])
  if (ips[0] === NO_CLUSTER_IP) return []
  return errorsOf(ips, (ip, index) => {
    if (index < list.length) return []
    const family = familyOf(ip) ?? 'unknown'
    // few: two families
    if (!served.includes(family))
      return [invalidValue(spec.child('clusterIPs').index(index), ips, `${family} is not configured on this cluster`)]
    list.push(family)
    return []
  })
}

function unservedFamilyErrors(now: ServiceSpec, served: readonly string[]): FieldError[] {
  const isDual = now.ipFamilyPolicy === 'RequireDualStack' && served.length < 2
  return [
    ...(isDual ? [policyError(now, 'this cluster is not configured for dual-stack services')] : []),
    ...errorsOf(now.ipFamilies ?? [], (family, index) =>
      // few: two families
      served.includes(family)
        ? []
        : [invalidValue(spec.child('ipFamilies').index(index), family, 'not configured on this cluster')],
    ),
  ]
}

/** Allocates and releases addresses and ports for one Service, and logs both. */
class ServiceAllocator {
  private readonly now: ServiceSpec

  constructor(
    private readonly service: Service,
    private readonly context: WriteContext,
    private readonly log: AllocationLog,
    private readonly ports: NodePorts,
  ) {
    this.now = specOf(service)
  }

  async clusterIps(before: ServiceSpec | undefined): Promise<void> {
    const { now } = this
    if (before === undefined || (isExternalName(before) && !isExternalName(now))) return this.allIps()
    if (staysAsPreferred(now, before) || before.clusterIPs?.[0] === NO_CLUSTER_IP || isExternalName(before)) return
    const { ipFamilies = [], clusterIPs = [] } = before
    if (isExternalName(now)) return ipFamilies.forEach((_, index) => this.dropIp(clusterIPs[index] ?? ''))
    if (ipFamilies.length === 1 && now.ipFamilies?.length === 2) await this.ip(1, this.marked())
    else if (ipFamilies.length === 2 && now.ipFamilies?.length === 1) this.dropIp(clusterIPs[1] ?? '')
  }

  private async allIps(): Promise<void> {
    const { now } = this
    if (isExternalName(now) || now.clusterIPs?.[0] === NO_CLUSTER_IP) return
    const marked = this.marked()
    for (const index of (now.ipFamilies ?? []).keys()) await this.ip(index, marked)
    now.clusterIP = now.clusterIPs?.[0]
  }

  /** The addresses as errors show them: an empty text for each that is still to be found. */
  private marked(): string[] {
    const { ipFamilies = [], clusterIPs = [] } = this.now
    return [...clusterIPs, ...ipFamilies.slice(clusterIPs.length).map(() => '')]
  }

  /** Allocates an address of the family at `index`: the one that the client chose, or any. */
  private async ip(index: number, marked: readonly string[]): Promise<void> {
    const { now, service, context } = this
    const family = now.ipFamilies![index] as IpFamily // validation has checked it
    const ips = (now.clusterIPs ??= [])
    const chosen = ips[index] ?? ''
    try {
      if (chosen === '') ips[index] = await takeAnyAddress(context, service, family)
      else await takeAddress(context, service, chosen)
    } catch (error) {
      if (!(error instanceof AddressError)) throw error
      if (error.isFull)
        throw internalError(`failed to allocate a serviceIP for Service "${service.metadata.name}": ${error.message}`)
      const text = `failed to allocate IP${chosen === '' ? '' : ` ${chosen}`}: ${error.message}`
      throw invalid(KIND, service.metadata.name ?? '', [invalidValue(spec.child('clusterIPs'), marked, text)])
    }
    const taken = ips[index]!
    if (!context.dryRun) this.log.took(() => releaseAddress(context, taken))
  }

  private dropIp(ip: string): void {
    if (!this.context.dryRun) this.log.drops(() => releaseAddress(this.context, ip))
  }

  /** Ports that share a number and differ in protocol get one node port. */
  async nodePorts(): Promise<void> {
    const { now } = this
    if (now.type !== 'NodePort' && !isBalanced(now)) return
    const wanted = new Map<number, number>()
    for (const { port = 0, nodePort = 0 } of now.ports ?? []) if (!wanted.get(port)) wanted.set(port, nodePort)
    await this.prepare([...nodePortsIn(now), ...[...wanted.values()].filter((port) => port === 0)])
    const byPort = new Map<number, number>()
    for (const [index, port] of (now.ports ?? []).entries()) {
      if (!port.nodePort && !hasNodePorts(now)) continue
      const known = byPort.get(port.port ?? 0)
      if (known === undefined) {
        port.nodePort = await this.takePort(wanted.get(port.port ?? 0) ?? 0, index)
        byPort.set(port.port ?? 0, port.nodePort)
      } else if (!port.nodePort) port.nodePort = known
      else if (port.nodePort !== known) await this.takePort(port.nodePort, index)
    }
  }

  /** @param wanted ports that are about to be taken; 0: any */
  private prepare(wanted: readonly number[]): Promise<void> {
    const named = wanted.filter((port) => port !== 0)
    return this.ports.prepare(named, hasNodePorts(this.now) ? wanted.length - named.length : 0)
  }

  async changedNodePorts(before: ServiceSpec): Promise<void> {
    const { now } = this
    const old = nodePortsIn(before)
    if (now.type === 'NodePort' || isBalanced(now)) {
      await this.updatePorts(old)
      const kept = new Set(nodePortsIn(now))
      for (const port of old) if (!kept.has(port)) this.dropPort(port)
    } else if (before.type === 'NodePort' || isBalanced(before)) for (const port of old) this.dropPort(port)
  }

  private async updatePorts(old: readonly number[]): Promise<void> {
    const { now } = this
    const taken = new Set<number>(old)
    await this.prepare((now.ports ?? []).map(({ nodePort = 0 }) => nodePort).filter((port) => !taken.has(port)))
    const seen = new Set<string>()
    for (const [index, port] of (now.ports ?? []).entries()) {
      if (!port.nodePort && !hasNodePorts(now)) continue
      if (!port.nodePort) port.nodePort = await this.takePort(0, index)
      else if (!taken.has(port.nodePort)) {
        await this.takePort(port.nodePort, index)
        taken.add(port.nodePort)
      }
      const key = `{${port.protocol} ${port.nodePort}}`
      if (seen.has(key)) throw plainError(`duplicate nodePort: ${key}`)
      seen.add(key)
    }
  }

  async healthPort(before: ServiceSpec | undefined): Promise<void> {
    const { now } = this
    const needed = before !== undefined && needsHealthCheck(before)
    if (needed && !needsHealthCheck(now)) return this.dropPort(before.healthCheckNodePort ?? 0)
    if (needed || !needsHealthCheck(now)) return
    const wanted = now.healthCheckNodePort ?? 0
    try {
      if (wanted === 0) now.healthCheckNodePort = await this.ports.takeAny()
      else await this.ports.take(wanted)
      this.tookPort(now.healthCheckNodePort!)
    } catch (error) {
      if (!(error instanceof NodePortError)) throw error
      throw internalError(
        `failed to allocate ${wanted === 0 ? 'a' : 'requested'} HealthCheck NodePort ${wanted}: ${error.message}`,
      )
    }
  }

  /** @param wanted 0: any port */
  private async takePort(wanted: number, index: number): Promise<number> {
    try {
      if (wanted !== 0) await this.ports.take(wanted)
      const port = wanted === 0 ? await this.ports.takeAny() : wanted
      this.tookPort(port)
      return port
    } catch (error) {
      if (!(error instanceof NodePortError)) throw error
      if (wanted === 0) throw internalError(`failed to allocate a nodePort: ${error.message}`)
      throw invalid(KIND, this.service.metadata.name ?? '', [invalidValue(portAt(index), wanted, error.message)])
    }
  }

  private tookPort(port: number): void {
    this.log.took(() => this.ports.release(port))
  }

  private dropPort(port: number): void {
    this.log.drops(() => this.ports.release(port))
  }
}

const nodePortsIn = ({ ports = [] }: ServiceSpec): number[] =>
  ports.flatMap(({ nodePort }) => (nodePort ? [nodePort] : []))

const portAt = (index: number): FieldPath => spec.child('ports').index(index).child('nodePort')
