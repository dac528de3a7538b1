/** Which writes of Services and their Endpoints are work for the controllers of workloads. */
import type { Service } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { ownValue } from '../../api/own.ts'
import type { Change, Work, WorkloadRule } from '../work.ts'
import { keyOf } from '../work.ts'

/** A Service that changes, and Endpoints that outlive theirs. */
function servicesWork({ object, old }: Change): readonly Work[] {
  if (object === undefined) return old === undefined ? [] : [{ topic: 'endpoints', payload: keyOf(old) }]
  return [
    { topic: 'endpoint-slice', payload: keyOf(object) },
    { topic: 'endpoints', payload: keyOf(object) },
  ]
}

const mirrored = (object: KubeObject): Work => ({ topic: 'endpoints-mirror', payload: keyOf(object) })

/** Services without a selector have their slices from Endpoints. */
function mirroredServiceWork({ object, old }: Change): readonly Work[] {
  const [now, before] = [object, old].map((service: Service | undefined) => service && (service.spec?.selector ?? null))
  const isNews = now === undefined || before === undefined || (now === null) !== (before === null)
  const service = object ?? old
  return isNews && (now === null || before === null) && service !== undefined ? [mirrored(service)] : []
}

/** One that is a load balancer, or was. */
function loadBalancerWork({ object, old }: Change): readonly Work[] {
  const isBalanced = [object, old].some((service: Service | undefined) => service?.spec?.type === 'LoadBalancer')
  return object !== undefined && isBalanced ? [{ topic: 'load-balancer', payload: keyOf(object) }] : []
}

/** Endpoints that the controller made are not mirrored. If a client deletes them, the controller writes them again. */
function mirrorWork({ object, old }: Change): readonly Work[] {
  const endpoints = object ?? old
  if (endpoints === undefined) return []
  const isMade = ownValue(endpoints.metadata.labels, 'endpoints.kubernetes.io/managed-by') !== undefined
  if (!isMade) return [mirrored(endpoints)]
  return object === undefined ? [{ topic: 'endpoints', payload: keyOf(endpoints) }] : []
}

export const serviceWork: readonly WorkloadRule[] = [servicesWork, mirroredServiceWork, loadBalancerWork]
export const endpointsWork: readonly WorkloadRule[] = [mirrorWork]
