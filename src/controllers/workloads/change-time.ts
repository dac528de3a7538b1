/**
 * When that happened for which Endpoints and EndpointSlices are written, as an annotation of theirs says it
 * (kube-controller-manager's TriggerTimeTracker): from it people measure how long news take to arrive.
 */
import { BoundedMap } from '../../api/bounded-map.ts'
import type { Pod, Service } from '../../api/core/v1.ts'
import { eachPart, kept } from '../../api/parts.ts'
import type { Tenant } from '../../storage/tenant.ts'
import { perTenant } from '../../tenancy/tenant-state.ts'
import { PLANNED } from '../in-turns.ts'
import { isReady, podCondition } from './pod-state.ts'
import { hasEndpoint } from './service-endpoints.ts'

export const CHANGE_TIME = 'endpoints.kubernetes.io/last-change-trigger-time'

/** Services whose endpoints were written. If the endpoints are gone, somebody deleted them. */
const seen = perTenant(() => new BoundedMap<string, true>({ entries: 4096 }))

/** The pods that are already in the endpoints, by uid, and whether as ready; undefined where that is not stated. */
export type Named = ReadonlyMap<string, boolean | undefined>

export interface Asked {
  readonly tenant: Tenant
  readonly component: string
  readonly service: Service
  /** All that it selects. */
  readonly pods: readonly Pod[]
}

/**
 * @param asked the same value in each part of a plan
 * @param named before; undefined: there is nothing yet
 * @returns the first of the times at which pods changed; undefined: no pod did, but what is said of them
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

/** Of the component at the Service. */
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

/** The annotations with the time, or without one. */
export function withChangeTime(
  annotations: Readonly<Record<string, string>> | undefined,
  time: string | undefined,
): Record<string, string> {
  const { [CHANGE_TIME]: _, ...others } = annotations ?? {}
  return { ...others, ...(time === undefined ? {} : { [CHANGE_TIME]: time }) }
}
