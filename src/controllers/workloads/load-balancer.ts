/**
 * Gives Services of the type LoadBalancer an address that nothing listens on (cloud-provider's service controller). It
 * leaves Services with a loadBalancerClass to other controllers. Key: NAMESPACE/NAME.
 */
import type { Service } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Clientset } from '../client/clientset.ts'
import { clientsetFor } from '../client/clientset.ts'
import type { Controller } from '../controller.ts'
import { SERVICES } from './endpoints/endpoint-slice.ts'
import { EventRecorder } from './events/events.ts'
import { keyParts } from './key.ts'

const CLEANUP = 'service.kubernetes.io/load-balancer-cleanup'
/** The number of addresses in 198.18.0.0/15, the range that RFC 2544 reserves for tests. */
const ADDRESSES = 2 ** 17 - 2

export const loadBalancerController: Controller = {
  async reconcile(key, context) {
    const [namespace, name] = keyParts(key)
    const clients = clientsetFor(context, 'service-controller')
    const found = await clients.resource(SERVICES, namespace).get(name)
    if (found === undefined) return undefined
    const service = { ...found, kind: 'Service', apiVersion: 'v1' }
    const events = new EventRecorder(clients, 'service-controller', context.now)
    const isWanted = service.spec?.type === 'LoadBalancer' && service.metadata.deletionTimestamp === undefined
    if (isWanted && service.spec?.loadBalancerClass !== undefined) return undefined
    if (!isWanted) await cleanUp(clients, service, events)
    // one Service at a time, so that the second sees the address of the first
    else await context.alone('load-balancers', () => ensure(clients, service, events))
    return undefined
  },
}

async function ensure(clients: Clientset, service: Service & KubeObject, events: EventRecorder): Promise<void> {
  const services = clients.resource(SERVICES, service.metadata.namespace)
  const wanted = service.spec?.loadBalancerIP
  const known = service.status?.loadBalancer?.ingress?.[0]?.ip
  if (known !== undefined && (wanted === undefined || wanted === known)) return
  await events.normal(service, 'EnsuringLoadBalancer', 'Ensuring load balancer')
  if (!service.metadata.finalizers?.includes(CLEANUP))
    await services.updateWithRetries(service, ({ metadata }) => {
      metadata.finalizers = [...new Set([...(metadata.finalizers ?? []), CLEANUP])]
    })
  const address = wanted || (await freeAddress(clients))
  await services.updateStatusWithRetries(service, (live) => {
    live.status = { ...live.status, loadBalancer: { ingress: [{ ip: address, ipMode: 'VIP' }] } }
  })
  await events.normal(service, 'EnsuredLoadBalancer', 'Ensured load balancer')
}

async function freeAddress(clients: Clientset): Promise<string> {
  const taken = new Set<string>()
  for await (const { status } of clients.resource(SERVICES).each())
    for (const { ip } of status?.loadBalancer?.ingress ?? []) if (ip !== undefined) taken.add(ip)
  for (let at = 1; at <= ADDRESSES; at++) {
    const address = `198.${18 + (at >> 16)}.${(at >> 8) & 255}.${at & 255}`
    if (!taken.has(address)) return address
  }
  throw new Error('all simulated addresses of load balancers are taken')
}

async function cleanUp(clients: Clientset, service: Service & KubeObject, events: EventRecorder): Promise<void> {
  if (!service.metadata.finalizers?.includes(CLEANUP)) return
  const services = clients.resource(SERVICES, service.metadata.namespace)
  await events.normal(service, 'DeletingLoadBalancer', 'Deleting load balancer')
  if ((service.status?.loadBalancer?.ingress ?? []).length > 0)
    await services.updateStatusWithRetries(service, (live) => {
      live.status = { ...live.status, loadBalancer: {} }
    })
  await events.normal(service, 'DeletedLoadBalancer', 'Deleted load balancer')
  await services.updateWithRetries(service, ({ metadata }) => {
    const left = (metadata.finalizers ?? []).filter((finalizer) => finalizer !== CLEANUP)
    if (left.length > 0) metadata.finalizers = left
    else delete metadata.finalizers
  })
}
