/**
 * The condition Available of APIServices (kube-aggregator's controllers/status). Key: the name. A remote one is looked
 * at again and again while it exists, since what it depends on may change at any time.
 */
import type { APIService, APIServiceCondition } from '../api/apiregistration/v1.ts'
import type { Service } from '../api/core/v1.ts'
import type { EndpointSlice } from '../api/discovery/v1.ts'
import { goQuote } from '../go/quote.ts'
import type { KubeObject } from '../api/object.ts'
import { StatusError } from '../api/status.ts'
import { API_SERVICES, isRemote } from '../registry/remote-groups.ts'
import { timeText } from '../registry/store.ts'
import { ApiClient } from './api-client.ts'
import type { Controller, ControllerContext } from './controller.ts'
import { SERVER } from './crd-names.ts'

/** Milliseconds between two looks at a remote service. */
const AGAIN = 30_000

interface Finding {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

export const apiServiceAvailability: Controller = {
  async reconcile(name, context) {
    const service = (await new ApiClient(context, API_SERVICES, '').get(name)) as APIService | undefined
    if (service === undefined) return undefined
    const finding = isRemote(service) ? await remoteFinding(service, context) : LOCAL
    if (!isSame(service, finding)) await write(name, finding, context)
    return isRemote(service) ? AGAIN : undefined
  },
}

const LOCAL: Finding = { status: 'True', reason: 'Local', message: 'Local APIServices are always available' }

async function remoteFinding({ spec }: APIService, context: ControllerContext): Promise<Finding> {
  const { name = '', namespace = '', port = 443 } = spec?.service ?? {}
  const where = `service/${name} in ${goQuote(namespace)}`
  const no = (reason: string, message: string): Finding => ({ status: 'False', reason, message })
  const services = new ApiClient(context, { group: '', resource: 'services' }, namespace)
  const service = (await services.get(name)) as Service | undefined
  if (service === undefined) return no('ServiceNotFound', `${where} is not present`)
  if (service.spec?.type === 'ClusterIP') {
    const found = service.spec.ports?.find((one) => one.port === port)
    if (found === undefined) return no('ServicePortError', `${where} is not listening on port ${port}`)
    const slices = await slicesOf(context, namespace, name)
    if (slices.length === 0) return no('EndpointsNotFound', `cannot find endpointslices for ${where}`)
    const portName = found.name ?? ''
    if (!slices.some((slice) => hasAddress(slice, portName)))
      return no('MissingEndpoints', `endpointslices for ${where} have no addresses with port name ${goQuote(portName)}`)
  }
  // a Worker has no way to a service's address, and could not check the certificate of what is there
  const path = `/apis/${spec?.group}/${spec?.version}`
  return no(
    'FailedDiscoveryCheck',
    `failing or missing response from https://${name}.${namespace}.svc:${port}${path}: services within the cluster cannot be reached`,
  )
}

async function slicesOf(context: ControllerContext, namespace: string, service: string): Promise<EndpointSlice[]> {
  const slices = new ApiClient(context, { group: 'discovery.k8s.io', resource: 'endpointslices' }, namespace)
  return (await slices.list({
    labels: [{ key: 'kubernetes.io/service-name', operator: 'In', values: [service] }],
    fields: [],
  })) as EndpointSlice[]
}

const hasAddress = ({ ports, endpoints }: EndpointSlice, portName: string): boolean =>
  (ports ?? []).some(({ name }) => (name ?? '') === portName) &&
  (endpoints ?? []).some(({ addresses, conditions }) => (addresses ?? []).length > 0 && conditions?.ready !== false)

function availableOf(service: APIService): APIServiceCondition | undefined {
  return service.status?.conditions?.find(({ type }) => type === 'Available')
}

function isSame(service: APIService, { status, reason, message }: Finding): boolean {
  const condition = availableOf(service)
  return condition?.status === status && condition.reason === reason && condition.message === message
}

async function write(name: string, { status, reason, message }: Finding, context: ControllerContext): Promise<void> {
  const change = (object: KubeObject): void => {
    const service: KubeObject & APIService = object
    const known = availableOf(service)
    // the time is that of the last change of the status alone
    const lastTransitionTime = known?.status === status ? known.lastTransitionTime : timeText(context.now())
    const others = (service.status?.conditions ?? []).filter(({ type }) => type !== 'Available')
    service.status = { conditions: [...others, { type: 'Available', status, lastTransitionTime, reason, message }] }
  }
  await new ApiClient(context, API_SERVICES, '', 'status', SERVER).update(name, change).catch((error: unknown) => {
    if (!(error instanceof StatusError) || error.code !== 404) throw error
  })
}
