/** Which writes of Services and their Endpoints are work for workload controllers. */
import type { Service } from '../../../api/core/v1.ts'
import type { KubeObject } from '../../../api/object.ts'
import { ownValue } from '../../../base/own.ts'
import type { Change, Work, WorkloadRule } from '../../work/work.ts'
import { keyOf } from '../../work/work.ts'

/** Work after every write of a Service. After its deletion the controller removes the Endpoints. */
function servicesWork({ object, old }: Change): readonly Work[] {
  if (object === undefined) return old === undefined ? [] : [{ topic: 'endpoints', payload: keyOf(old) }]
  return [
    { topic: 'endpoint-slice', payload: keyOf(object) },
    { topic: 'endpoints', payload: keyOf(object) },
  ]
}

const mirrored = (object: KubeObject): Work => ({ topic: 'endpoints-mirror', payload: keyOf(object) })

/** The mirroring controller makes EndpointSlices from Endpoints for a Service without a selector. */
function mirroredServiceWork({ object, old }: Change): readonly Work[] {
  const [now, before] = [object, old].map((service: Service | undefined) => service && (service.spec?.selector ?? null))
  const isNews = now === undefined || before === undefined || (now === null) !== (before === null)
  const service = object ?? old
  return isNews && (now === null || before === null) && service !== undefined ? [mirrored(service)] : []
}

/** Work for a Service of type LoadBalancer, also after its type changes. */
function loadBalancerWork({ object, old }: Change): readonly Work[] {
  const isBalanced = [object, old].some((service: Service | undefined) => service?.spec?.type === 'LoadBalancer')
  return object !== undefined && isBalanced ? [{ topic: 'load-balancer', payload: keyOf(object) }] : []
}

/**
 * The mirroring controller skips Endpoints that the endpoints controller made. If a client deletes these, the endpoints
 * controller writes them again.
 */
function mirrorWork({ object, old }: Change): readonly Work[] {
  const endpoints = object ?? old
  if (endpoints === undefined) return []
  const isMade = ownValue(endpoints.metadata.labels, 'endpoints.kubernetes.io/managed-by') !== undefined
  if (!isMade) return [mirrored(endpoints)]
  return object === undefined ? [{ topic: 'endpoints', payload: keyOf(endpoints) }] : []
}

export const serviceWork: readonly WorkloadRule[] = [servicesWork, mirroredServiceWork, loadBalancerWork]
export const endpointsWork: readonly WorkloadRule[] = [mirrorWork]
