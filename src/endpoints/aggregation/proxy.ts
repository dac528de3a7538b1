/**
 * Forwards requests for another server's group version (kube-aggregator's handler_proxy). This server authenticates
 * and authorizes them, and passes on the user. The other server authorizes again.
 */
import type { APIService } from '../../api/apiregistration/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { notInTime } from '../../api/status.ts'
import { askApiService, isAvailable, placeOfApiService } from '../../outgoing/api-service.ts'
import type { HeaderPairs } from '../../outgoing/proxied-headers.ts'
import { proxiedHeaders } from '../../outgoing/proxied-headers.ts'
import type { ServicePlace } from '../../outgoing/service-place.ts'
import { API_SERVICES } from '../../registry/served/remote-groups.ts'
import type { ApiRequest } from '../../request/context.ts'
import { targetOf } from '../../request/target.ts'
import { timeLeft } from '../../request/time-left.ts'
import { isLongRunning } from '../../request/timeout.ts'
import { wantsUpgrade } from '../../request/upgrade.ts'
import { controlSnapshot } from '../../tenancy/control-snapshot.ts'
import { CallFailed } from '../../webhooks/outgoing-call.ts'
import { textResponse } from '../documents/text-response.ts'
import { failed, remoteAnswer } from './remote-answer.ts'

/** kube-apiserver's limit for discovery, which must not wait for one slow server. */
const DISCOVERY_MS = 5_000

/** Serves a request for a group version of another server. */
export async function serveRemote(request: ApiRequest, group: string, version: string): Promise<Response> {
  const snapshot = await controlSnapshot(request)
  const service = snapshot.get<KubeObject & APIService>(API_SERVICES, `${version}.${group}`)
  if (service === undefined || !isAvailable(service)) return unavailable()
  let place: ServicePlace
  try {
    place = await placeOfApiService(request, service)
  } catch (error) {
    if (error instanceof CallFailed) return unavailable()
    throw error
  }
  try {
    return await passOn(request, service, place)
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error
    if (error.message === DEADLINE_TEXT && !isDiscovery(request)) throw notInTime()
    return failed(error.message)
  }
}

const DEADLINE_TEXT = 'context deadline exceeded'

async function passOn(request: ApiRequest, service: APIService, place: ServicePlace): Promise<Response> {
  const { method, user, request: incoming } = request
  const upgrades = wantsUpgrade(request.headers)
  const passed = proxiedHeaders(incoming, upgrades).filter(([name]) => name !== 'audit-id')
  const answer = await askApiService(request, service, place, {
    method,
    target: encodedTarget(request),
    headers: [...passed, ['Audit-Id', request.auditId], ...forwarded(request, place)],
    user,
    body: incoming.body,
    upgrades,
    ...(upgrades || isLongRunning(request.info)
      ? {}
      : { timeoutMs: timeLeft(request, isDiscovery(request) ? DISCOVERY_MS : Infinity) }),
  })
  return remoteAnswer(answer, method === 'HEAD')
}

/** As kube-apiserver states them: the host is that of the other server. */
const forwarded = ({ info }: ApiRequest, { base }: ServicePlace): HeaderPairs => [
  ['X-Forwarded-Host', new URL(base).host],
  ['X-Forwarded-Proto', 'https'],
  ['X-Forwarded-Uri', new URL(`https://localhost${encodedPath(info.path).replace(/\/{2,}/g, '/')}`).pathname],
]

/** The authorized path, encoded anew so that every reader sees the same path. The query is passed on unchanged. */
export function encodedTarget({ info, request }: Pick<ApiRequest, 'info' | 'request'>): string {
  const target = targetOf(request)
  const mark = target.indexOf('?')
  return `${encodedPath(info.path)}${mark < 0 ? '' : target.slice(mark)}`
}

export const encodedPath = (path: string): string => encodeURI(path).replaceAll('?', '%3F').replaceAll('#', '%23')

const isDiscovery = ({ info }: ApiRequest): boolean =>
  !info.isResourceRequest && info.path.split('/').filter((part) => part !== '').length === 3

const unavailable = (): Response => textResponse('service unavailable\n', { status: 503, nosniff: true })
