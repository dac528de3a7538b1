/**
 * The condition Available of APIServices (kube-aggregator's controllers/status). Key: the name. The controller keeps
 * checking a remote APIService, because the extension server may change at any time.
 */
import type { APIService, APIServiceCondition } from '../api/apiregistration/v1.ts'
import type { Service } from '../api/core/v1.ts'
import type { EndpointSlice } from '../api/discovery/v1.ts'
import { goQuote } from '../go/quote.ts'
import type { KubeObject } from '../api/object.ts'
import { AGGREGATOR, askApiService, placeOfApiService, serviceOf } from '../outgoing/api-service.ts'
import { wholeAnswer } from '../outgoing/bounded-answer.ts'
import { isPlaced, slicesOfService } from '../outgoing/service-place.ts'
import { API_SERVICES, isRemote } from '../registry/served/remote-groups.ts'
import { timeText } from '../schema/time.ts'
import { CallFailed } from '../webhooks/outgoing-call.ts'
import { managerClients, serverClients } from './client/clientset.ts'
import type { Controller, ControllerContext } from './controller.ts'
import type { Judged } from './client/resource-client.ts'
import { unlessGone } from './work/unless-gone.ts'

/** Milliseconds between two checks of a remote service: SOON if it is unavailable and changed less than JUST ago. */
const AGAIN = 30_000
const SOON = 3_000
const JUST = 120_000

interface Finding {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

export const apiServiceAvailability: Controller = {
  neverGivesUp: true,
  queue: 'other-servers',
  async reconcile(name, context) {
    const service = (await managerClients(context).resource(API_SERVICES).get(name)) as APIService | undefined
    if (service === undefined) return undefined
    const finding = isRemote(service) ? await remoteFinding(service, context) : LOCAL
    if (!isSame(service, finding)) await write(service, finding, context)
    if (!isRemote(service)) return undefined
    return finding.status === 'False' && isRecent(service, context.now()) ? SOON : AGAIN
  },
}

const LOCAL: Finding = { status: 'True', reason: 'Local', message: 'Local APIServices are always available' }
const PASSED: Finding = { status: 'True', reason: 'Passed', message: 'all checks passed' }

/** Whether the service was created, or its condition changed, less than JUST ago. */
function isRecent(service: APIService, now: Date): boolean {
  const times = [service.metadata.creationTimestamp, availableOf(service)?.lastTransitionTime]
  return times.some((time) => typeof time === 'string' && now.getTime() - Date.parse(time) < JUST)
}

async function remoteFinding(apiService: APIService, context: ControllerContext): Promise<Finding> {
  const reference = serviceOf(apiService)
  const { name, namespace, port } = reference
  const where = `service/${name} in ${goQuote(namespace)}`
  const no = (reason: string, message: string): Finding => ({ status: 'False', reason, message })
  const problem = async (): Promise<Finding> => {
    const why = await discoveryProblem(context, apiService)
    return why === undefined ? PASSED : no('FailedDiscoveryCheck', why)
  }
  // a setting gives its URL, so its Service does not matter
  if (isPlaced(context, reference)) return problem()
  const services = managerClients(context).resource({ group: '', resource: 'services' }, namespace)
  const service = (await services.get(name)) as Service | undefined
  if (service === undefined) return no('ServiceNotFound', `${where} is not present`)
  if (service.spec?.type === 'ClusterIP') {
    const found = service.spec.ports?.find((one) => one.port === port)
    if (found === undefined) return no('ServicePortError', `${where} is not listening on port ${port}`)
    const slices = await slicesOfService(context, namespace, name)
    if (slices.length === 0) return no('EndpointsNotFound', `cannot find endpointslices for ${where}`)
    const portName = found.name ?? ''
    if (!slices.some((slice) => hasAddress(slice, portName)))
      return no('MissingEndpoints', `endpointslices for ${where} have no addresses with port name ${goQuote(portName)}`)
  }
  return problem()
}

const hasAddress = ({ ports, endpoints }: EndpointSlice, portName: string): boolean =>
  (ports ?? []).some((port) => (port.name ?? '') === portName && port.port !== undefined) &&
  (endpoints ?? []).some(({ conditions }) => conditions?.ready !== false)

const ANSWER_MS = 5_000
/** After a failed first try, these go in parallel: other endpoints of the Service may answer. */
const MORE_TRIES = 4
const MAX_BYTES = 3 << 20

/** Why the extension server does not list the resources of its version; undefined where it does. */
async function discoveryProblem(context: ControllerContext, service: APIService): Promise<string | undefined> {
  if ((await tried(context, service)) === undefined) return undefined
  const others = await Promise.all(Array.from({ length: MORE_TRIES }, () => tried(context, service)))
  return others.includes(undefined) ? undefined : others.at(-1)
}

async function tried(context: ControllerContext, service: APIService): Promise<string | undefined> {
  const { group = '', version = '' } = service.spec ?? {}
  const target = `/apis/${group}/${version}`
  let url: string | undefined
  try {
    const place = await placeOfApiService(context, service)
    url = `${place.base}${target}`
    const asked = { method: 'GET', target, headers: [], user: AGGREGATOR, timeoutMs: ANSWER_MS }
    const { status } = await wholeAnswer(await askApiService(context, service, place, asked), MAX_BYTES)
    if (status >= 200 && status <= 299) return undefined
    return `failing or missing response from ${url}: bad status from ${url}: ${status}`
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error
    if (url === undefined) return error.message
    return `failing or missing response from ${url}: Get ${goQuote(url)}: ${error.message}`
  }
}

function availableOf(service: APIService): APIServiceCondition | undefined {
  return service.status?.conditions?.find(({ type }) => type === 'Available')
}

function isSame(service: APIService, { status, reason, message }: Finding): boolean {
  const condition = availableOf(service)
  return condition?.status === status && condition.reason === reason && condition.message === message
}

async function write(judged: Judged, { status, reason, message }: Finding, context: ControllerContext): Promise<void> {
  const change = (object: KubeObject): void => {
    const service: KubeObject & APIService = object
    const known = availableOf(service)
    // the transition time changes only with the status
    const lastTransitionTime = known?.status === status ? known.lastTransitionTime : timeText(context.now())
    const others = (service.status?.conditions ?? []).filter(({ type }) => type !== 'Available')
    service.status = { conditions: [...others, { type: 'Available', status, lastTransitionTime, reason, message }] }
  }
  const services = serverClients(context).resource(API_SERVICES)
  await services.updateStatusWithRetries(judged, change).catch((error: unknown) => unlessGone(services, judged, error))
}
