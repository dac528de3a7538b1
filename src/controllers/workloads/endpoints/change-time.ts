/**
 * The annotation of Endpoints and EndpointSlices with the time of the change that caused their write
 * (kube-controller-manager's TriggerTimeTracker). It serves to measure how long changes take to reach clients.
 */
import { BoundedMap } from '../../../base/bounded-map.ts'
import type { Pod, Service } from '../../../api/core/v1.ts'
import { eachPart, kept } from '../../../base/parts.ts'
import type { Tenant } from '../../../storage/tenant.ts'
import { perTenant } from '../../../tenancy/tenant-state.ts'
import { PLANNED } from '../../work/in-turns.ts'
import { isReady, podCondition } from '../pods/pod-state.ts'
import { hasEndpoint } from './service-endpoints.ts'

export const CHANGE_TIME = 'endpoints.kubernetes.io/last-change-trigger-time'

/** Services whose endpoints were written. If such endpoints are missing, a user deleted them. */
const seen = perTenant('forgotten', () => new BoundedMap<string, true>({ entries: 4096 }))

/** The pods in the existing endpoints, by uid, and whether they are ready there; undefined where that is unknown. */
export type Named = ReadonlyMap<string, boolean | undefined>

export interface Asked {
  readonly tenant: Tenant
  readonly component: string
  readonly service: Service
  /** All pods that the Service selects. */
  readonly pods: readonly Pod[]
}

/**
 * @param asked must be the same value in each part of a plan
 * @param named the pods before; undefined: there are no endpoints yet
 * @returns the first time at which a pod changed; undefined: no pod changed, only other data of the endpoints
 */
export function changeTime(asked: Asked, named: Named | undefined): string | undefined {
  const { service, pods } = asked
  const isFirst = kept(asked, () => isFirstLook(asked) && named === undefined)
  if (isFirst) return service.metadata.creationTimestamp
  if (named === undefined) return undefined
  const first = kept(asked, () => ({ time: undefined as string | undefined }))
  const look = (pod: Pod): void => {
    const time = isNews(pod, named) ? podCondition(pod, 'Ready')?.lastTransitionTime : undefined
    if (time !== undefined && (first.time === undefined || time < first.time)) first.time = time
  }
  eachPart(pods, look, PLANNED)
  return first.time
}

/** Whether the component sees the Service for the first time. */
function isFirstLook({ tenant, component, service }: Asked): boolean {
  const known = seen(tenant)
  const key = `${component} ${service.metadata.uid}`
  const isFirst = known.get(key) === undefined
  known.set(key, true)
  return isFirst
}

function isNews(pod: Pod, named: Named): boolean {
  const { uid = '' } = pod.metadata
  return named.has(uid) ? (named.get(uid) ?? isReady(pod)) !== isReady(pod) : hasEndpoint(pod, true)
}

/** The annotations with this time; without a time for undefined. */
export function withChangeTime(
  annotations: Readonly<Record<string, string>> | undefined,
  time: string | undefined,
): Record<string, string> {
  const { [CHANGE_TIME]: _, ...others } = annotations ?? {}
  return { ...others, ...(time === undefined ? {} : { [CHANGE_TIME]: time }) }
}
