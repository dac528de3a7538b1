/**
 * Keeps a ServiceCIDR until no address of a Service needs it, and says that it is ready (kube-controller-manager's
 * service-cidr-controller). Key: the name of the ServiceCIDR.
 */
import type { IpAddress, IpFamily, IpRange } from '../../api/ip-addresses.ts'
import { networkOf, parseCidr, parseIp } from '../../api/ip-addresses.ts'
import type { IPAddress, ServiceCIDR } from '../../api/networking/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { managedAddresses } from '../../registry/core/services/service-addresses.ts'
import { timeText } from '../../schema/time.ts'
import type { Clientset } from '../client/clientset.ts'
import { clientsetFor, typedResource } from '../client/clientset.ts'
import type { Controller } from '../controller.ts'
import type { ResourceClient } from '../client/resource-client.ts'
import { unlessGone } from '../work/unless-gone.ts'
import { untilNextLook } from '../work/waiting-time.ts'

type Cidr = ServiceCIDR & KubeObject

const SERVICE_CIDRS = typedResource<Cidr>('networking.k8s.io', 'servicecidrs')
const ADDRESSES = typedResource<IPAddress & KubeObject>('networking.k8s.io', 'ipaddresses')
const FINALIZER = 'networking.k8s.io/service-cidr-finalizer'
const MANAGER = 'service-cidr-controller'
/** Milliseconds in which writes that began before the deletion may still take an address. */
const GRACE_MS = 10_000
const MERGE = 'application/strategic-merge-patch+json'

export const serviceCidrController: Controller = {
  async reconcile(name, context) {
    const clients = clientsetFor(context, 'service-cidrs-controller')
    const client = clients.resource(SERVICE_CIDRS)
    const cidr = await client.get(name)
    if (cidr === undefined) return undefined
    const { deletionTimestamp } = cidr.metadata
    if (deletionTimestamp === undefined) {
      await keep(client, cidr, context.now())
      for await (const other of client.each())
        if (isKept(other) && other.metadata.deletionTimestamp !== undefined)
          context.later('service-cidr', other.metadata.name ?? '', 0)
      return undefined
    }
    if (!isKept(cidr)) return undefined
    if (await isNeeded(clients, cidr)) {
      await setReady(client, cidr, context.now(), {
        status: 'False',
        reason: 'Terminating',
        message:
          'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
      })
      return untilNextLook(deletionTimestamp, context.now(), GRACE_MS)
    }
    const left = Date.parse(deletionTimestamp) + GRACE_MS - context.now().getTime()
    if (left > 0) return left
    const body = { metadata: { '$deleteFromPrimitiveList/finalizers': [FINALIZER] } }
    await client.patch(cidr, MERGE, body).catch((error: unknown) => unlessGone(client, cidr, error))
    return undefined
  },
}

const isKept = ({ metadata }: Cidr): boolean => metadata.finalizers?.includes(FINALIZER) === true

async function keep(client: ResourceClient<Cidr>, cidr: Cidr, now: Date): Promise<void> {
  if (!isKept(cidr))
    await client
      .patch(cidr, MERGE, { metadata: { finalizers: [FINALIZER] } })
      .catch((error: unknown) => unlessGone(client, cidr, error))
  await setReady(client, cidr, now, { status: 'True', reason: '', message: 'Kubernetes Service CIDR is ready' })
}

interface Ready {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

async function setReady(client: ResourceClient<Cidr>, cidr: Cidr, now: Date, ready: Ready): Promise<void> {
  const known = cidr.status?.conditions?.find(({ type }) => type === 'Ready')
  if (known?.status === ready.status && known.reason === ready.reason && known.message === ready.message) return
  const conditions = [{ type: 'Ready', ...ready, lastTransitionTime: timeText(now) }]
  const config = { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', status: { conditions } }
  await client
    .apply(cidr, config, { fieldManager: MANAGER, subresource: 'status' })
    .catch((error: unknown) => unlessGone(client, cidr, error))
}

/** Whether there is an address of a Service that no other ServiceCIDR has. */
async function isNeeded(clients: Clientset, cidr: Cidr): Promise<boolean> {
  const own = new Networks(rangesOf(cidr))
  const others = new Networks()
  for await (const other of clients.resource(SERVICE_CIDRS).each())
    if (other.metadata.name !== cidr.metadata.name) others.add(rangesOf(other))
  if (rangesOf(cidr).every((range) => others.has(range.address, range.length))) return false
  for (const family of own.families)
    for await (const { metadata } of clients.resource(ADDRESSES).each({ labelSelector: managedAddresses(family) })) {
      const address = parseIp(metadata.name ?? '')
      if (address !== undefined && own.has(address) && !others.has(address)) return true
    }
  return false
}

const rangesOf = ({ spec }: Cidr): IpRange[] => (spec?.cidrs ?? []).flatMap((text) => parseCidr(text) ?? [])

/** Ranges, so that an address is looked up once for each length of a prefix. Bound: the ServiceCIDRs of one run. */
class Networks {
  private readonly byLength = new Map<IpFamily, Map<number, Set<bigint>>>()

  constructor(ranges: readonly IpRange[] = []) {
    this.add(ranges)
  }

  get families(): readonly IpFamily[] {
    return [...this.byLength.keys()]
  }

  add(ranges: readonly IpRange[]): void {
    for (const range of ranges) {
      const { family } = range.address
      const lengths = this.byLength.get(family) ?? new Map<number, Set<bigint>>()
      this.byLength.set(family, lengths)
      const networks = lengths.get(range.length) ?? new Set()
      lengths.set(range.length, networks.add(networkOf(range)))
    }
  }

  /** Whether one of the ranges has the address. @param longest of a range: one of them has all of it */
  has(address: IpAddress, longest = Infinity): boolean {
    for (const [length, networks] of this.byLength.get(address.family) ?? [])
      if (length <= longest && networks.has(networkOf({ address, length }))) return true
    return false
  }
}
