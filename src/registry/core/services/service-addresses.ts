/**
 * Cluster IPs. An IPAddress object, named after the address, reserves it for a Service. The create of that object is
 * the allocation, so two Services never get one address. The ranges are those of ready ServiceCIDRs.
 */
import { settingsOf } from '../../../settings.ts'
import type { Service } from '../../../api/core/v1.ts'
import type { IPAddress, ServiceCIDR } from '../../../api/networking/v1.ts'
import type { GroupResource } from '../../../api/group-version.ts'
import type { KubeObject } from '../../../api/object.ts'
import { linesOf } from '../../../storage/streams/lines.ts'
import type { IpAddress, IpFamily, IpRange } from '../../../api/ip-addresses.ts'
import { cidrText, contains, ipText, networkOf, parseCidr, parseIp, widthOf } from '../../../api/ip-addresses.ts'
import { everything } from '../../../storage/selectors/selection.ts'
import { StatusError } from '../../../api/status.ts'
import { collectionOf } from '../../../storage/collections.ts'
import { readLive } from '../../store.ts'
import { BY_SERVER } from '../../write/actor.ts'
import { create } from '../../write/create.ts'
import { deleteObject } from '../../write/delete.ts'
import { removeIfThere } from '../../write/remove-if-there.ts'
import { liveOf } from '../../../codec/stored-object.ts'
import type { StrategyContext, WriteContext } from '../../strategy.ts'
import { ORPHAN_AGE } from './orphan-age.ts'

const GROUP = 'networking.k8s.io'
/** The allocator tries this number of random addresses before it lists all allocated ones. */
const GUESSES = 8
/** Orphans that one write frees. */
const ORPHANS = 64

export const FAMILY_LABEL = 'ipaddress.kubernetes.io/ip-family'
export const MANAGED_BY_LABEL = 'ipaddress.kubernetes.io/managed-by'
const ALLOCATOR = 'ipallocator.k8s.io'
/** The ServiceCIDR of the server's own ranges. */
export const DEFAULT_RANGES = 'kubernetes'

/** The label selector of the addresses that Services have. */
export const managedAddresses = (family: IpFamily): string =>
  `${FAMILY_LABEL}=${family},${MANAGED_BY_LABEL}=${ALLOCATOR}`

const ipAddresses = { group: GROUP, version: 'v1', resource: 'ipaddresses' }
const serviceCidrs = { group: GROUP, resource: 'servicecidrs' }
const services = { group: '', version: 'v1', resource: 'services' }

/** A failed allocation. The message is that of kube-apiserver. */
export class AddressError extends Error {
  override readonly name = 'AddressError'
  constructor(
    message: string,
    readonly isFull = false,
  ) {
    super(message)
  }
}

/** The ranges of the server's settings. A Service without ipFamilies gets the family of the first range. */
export const ownRanges = (env: StrategyContext['env']): readonly IpRange[] => settingsOf(env).serviceRanges

export const ownFamilies = (env: StrategyContext['env']): IpFamily[] => [
  ...new Set(ownRanges(env).map(({ address }) => address.family)),
]

/** @throws AddressError */
export async function takeAddress(context: WriteContext, service: Service, text: string): Promise<void> {
  const address = parseIp(text)
  if (address === undefined) throw new AddressError(`failed to parse service IP ${JSON.stringify(text)}`)
  if (context.dryRun) {
    const range = await rangeOfDryRun(context, address.family)
    if (isUsable(range, address)) return
    throw new AddressError(
      `the provided IP (${ipText(address)}) is not in the valid range. The range of valid IPs is ${cidrText(range)}`,
    )
  }
  const ranges = await usableRanges(context)
  if (!ranges.some((range) => isUsable(range, address)))
    throw new AddressError('the provided network does not match the current range')
  const name = ipText(address)
  if (await claim(context, service, name, address.family)) return
  if ((await removeOrphan(context, name)) && (await claim(context, service, name, address.family))) return
  throw new AddressError('provided IP is already allocated')
}

/** @throws AddressError if every range is full */
export async function takeAnyAddress(context: WriteContext, service: Service, family: IpFamily): Promise<string> {
  if (context.dryRun) {
    // a dry run reserves nothing: it answers the address of the network in place of a free one
    return ipText({ family, bits: networkOf(await rangeOfDryRun(context, family)) })
  }
  const take = async (): Promise<string | undefined> => {
    for (const range of await usableRanges(context)) {
      const found = range.address.family === family ? await takeFrom(context, service, range) : undefined
      if (found !== undefined) return found
    }
    return undefined
  }
  const found = (await take()) ?? ((await removeOrphans(context)) ? await take() : undefined)
  if (found === undefined) throw new AddressError('range is full', true)
  return found
}

export const releaseAddress = (context: WriteContext, text: string): Promise<void> => {
  const address = parseIp(text)
  return address === undefined
    ? Promise.resolve()
    : removeIfThere(context.loopback('delete', ipAddresses), ipText(address), context.admission)
}

async function claim(context: WriteContext, service: Service, name: string, family: IpFamily): Promise<boolean> {
  const parentRef = { resource: 'services', namespace: context.namespace, name: service.metadata.name ?? '' }
  const labels = { [FAMILY_LABEL]: family, [MANAGED_BY_LABEL]: ALLOCATOR }
  const object: IPAddress & KubeObject = {
    kind: 'IPAddress',
    apiVersion: `${GROUP}/v1`,
    metadata: { name, labels },
    spec: { parentRef },
  }
  try {
    await create(context.loopback('create', ipAddresses), object, BY_SERVER, context.admission)
    return true
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    if (error.status.reason === 'AlreadyExists') return false
    // if storage is unavailable, the address may still be free
    throw error.code === 503 || error.code === 504 ? error : new AddressError(error.message)
  }
}

/** Tries the upper part of a range first. The lower part is for addresses that users choose. */
async function takeFrom(context: WriteContext, service: Service, range: IpRange): Promise<string | undefined> {
  const { family } = range.address
  const { first, last, reserved } = boundsOf(range)
  const upper = first + reserved
  for (let guess = 0; guess < GUESSES && upper <= last; guess++) {
    const name = ipText({ family, bits: upper + randomBelow(last - upper + 1n) })
    if (await claim(context, service, name, family)) return name
  }
  const taken = await takenAddresses(context)
  for (const [from, to] of [
    [upper, last],
    [first, upper - 1n],
  ] as const) {
    // a range too long for this loop is never full: a random guess has found a free address before
    for (let bits = from; bits <= to; bits++) {
      const name = ipText({ family, bits })
      if (!taken.has(name) && (await claim(context, service, name, family))) return name
    }
  }
  return undefined
}

/**
 * First and last address for Services, and the number of addresses for explicit requests: a sixteenth of the range, at
 * least 16, at most 256.
 */
function boundsOf(range: IpRange): { first: bigint; last: bigint; reserved: bigint } {
  const { family } = range.address
  const size = 1n << BigInt(widthOf(family) - range.length)
  const network = networkOf(range)
  const sixteenth = size / 16n
  const reserved = size <= 16n ? 0n : sixteenth < 16n ? 16n : sixteenth > 256n ? 256n : sixteenth
  return { first: network + 1n, last: network + size - (family === 'IPv4' ? 2n : 1n), reserved }
}

function isUsable(range: IpRange, address: IpAddress): boolean {
  const { first, last } = boundsOf(range)
  return contains(range, address) && address.bits >= first && address.bits <= last
}

/** A dry run looks at one range only, as in kube-apiserver. @throws AddressError if there is none */
async function rangeOfDryRun(context: StrategyContext, family: IpFamily): Promise<IpRange> {
  const range = (await usableRanges(context)).find(({ address }) => address.family === family)
  if (range === undefined) throw new AddressError('allocator not ready')
  return range
}

/**
 * The ranges of ready ServiceCIDRs. One of several for the same range is enough. The server's own ranges come first.
 * They count, too, while the server's ServiceCIDR is missing: it comes back with them. Where it is there with others,
 * because the settings have changed, they don't.
 */
async function usableRanges(context: StrategyContext): Promise<IpRange[]> {
  const ready = new Map<string, IpRange>()
  let isDefaultThere = false
  for await (const { metadata, spec, status } of listed<ServiceCIDR & KubeObject>(context, serviceCidrs)) {
    const isReady = (status?.conditions ?? []).every(({ type, status: state }) => type !== 'Ready' || state === 'True')
    isDefaultThere ||= metadata.name === DEFAULT_RANGES
    if (isReady && metadata.deletionTimestamp === undefined)
      for (const range of (spec?.cidrs ?? []).flatMap((text) => parseCidr(text) ?? []))
        ready.set(cidrText(range), range)
  }
  const own = ownRanges(context.env)
  if (!isDefaultThere) for (const range of own) ready.set(cidrText(range), range)
  const ownFirst = own.filter((range) => ready.delete(cidrText(range)))
  return [...ownFirst, ...ready.values()]
}

async function takenAddresses(context: StrategyContext): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  for await (const { metadata } of listed(context, ipAddresses)) names.add(metadata.name ?? '')
  return names
}

async function* listed<O extends KubeObject>(
  { tenant, storage }: StrategyContext,
  resource: GroupResource,
): AsyncGenerator<O> {
  const collection = collectionOf(tenant, resource)
  const { values, revision } = await storage.list(collection, { selection: everything, at: { kind: 'latest' } })
  // all objects under this prefix are of that kind
  for await (const text of linesOf(values)) yield liveOf({ revision, text }).object as O
}

/** Frees an old address whose Service was never stored, or was lost between two writes. */
async function removeOrphan(context: WriteContext, name: string): Promise<boolean> {
  const found: Reserved | undefined = (await readLive(context.beside(ipAddresses), name))?.object
  if (found === undefined || !mayBeOrphan(context, found)) return false
  const { name: owner = '', namespace = '' } = found.spec?.parentRef ?? {}
  const service: Service | undefined = (await readLive(context.beside(services, namespace), owner))?.object
  if (service?.spec?.clusterIPs?.some((ip) => ip === name)) return false
  return remove(context, found)
}

type Reserved = IPAddress & KubeObject

const mayBeOrphan = ({ now }: WriteContext, { metadata, spec }: Reserved): boolean =>
  spec?.parentRef !== undefined &&
  metadata.labels?.[MANAGED_BY_LABEL] === ALLOCATOR &&
  Date.parse(metadata.creationTimestamp ?? '') <= now.getTime() - ORPHAN_AGE

/**
 * Frees orphans where no address is left: nobody asks for them by name.
 * @returns whether there were any
 */
async function removeOrphans(context: WriteContext): Promise<boolean> {
  const old: Reserved[] = []
  for await (const one of listed<Reserved>(context, ipAddresses)) if (mayBeOrphan(context, one)) old.push(one)
  if (old.length === 0) return false
  // read later: a Service whose address is old was written before
  const used = new Set<string>()
  for await (const { spec } of listed<Service & KubeObject>(context, services))
    for (const ip of spec?.clusterIPs ?? []) used.add(ip)
  const orphans = old.filter(({ metadata }) => !used.has(metadata.name ?? '')).slice(0, ORPHANS)
  for (const orphan of orphans) await remove(context, orphan)
  return orphans.length > 0
}

/** @returns false if another Service has the address by now */
async function remove(context: WriteContext, { metadata: { name = '', uid } }: Reserved): Promise<boolean> {
  const preconditions = uid === undefined ? {} : { uid }
  try {
    await deleteObject(context.loopback('delete', ipAddresses), name, { preconditions }, context.admission)
  } catch (error) {
    if (!(error instanceof StatusError) || (error.code !== 404 && error.code !== 409)) throw error
    return error.code === 404
  }
  return true
}

/** 64 random bits make the choice uniform enough. */
function randomBelow(limit: bigint): bigint {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2))
  return ((BigInt(high) << 32n) | BigInt(low)) % limit
}
