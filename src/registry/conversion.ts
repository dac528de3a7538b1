/** Between the versions of a kind that share storage (hub and spokes are the same two here). */
import { cloneJson } from '../api/clone-json.ts'
import type { GroupVersionKind } from '../api/group-version.ts'
import { apiVersionOf } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import { ownValue } from '../api/own.ts'
import { fromV1, toV1, withoutV1Annotations } from './autoscaling/conversion.ts'
import { fromCore, toCore } from './events/conversion.ts'
import {
  claimFromV1beta1,
  claimTemplateFromV1beta1,
  claimTemplateToV1beta1,
  claimToV1beta1,
  sliceFromV1beta1,
  sliceToV1beta1,
} from './resource/conversion.ts'

export interface Converter {
  toStorage(object: KubeObject): KubeObject
  fromStorage(object: KubeObject): KubeObject
}

type Convert = (object: KubeObject) => KubeObject

const unchanged: Convert = (object) => object
const identity: Converter = { toStorage: unchanged, fromStorage: unchanged }

/** Whether an object passes as it is, so that there is nothing to be seen of its way into storage and back. */
export const isIdentity = ({ toStorage }: Pick<Converter, 'toStorage'>): boolean => toStorage === unchanged

/**
 * Pairs whose fields differ, by `KIND from apiVersion to apiVersion`; all others differ in apiVersion alone. From a
 * version to itself: what its own objects lose on the way in.
 */
const conversions: Readonly<Record<string, Convert>> = {
  'HorizontalPodAutoscaler from autoscaling/v1 to autoscaling/v2': typed(fromV1),
  'HorizontalPodAutoscaler from autoscaling/v2 to autoscaling/v1': typed(toV1),
  'HorizontalPodAutoscaler from autoscaling/v2 to autoscaling/v2': typed(withoutV1Annotations),
  'Event from events.k8s.io/v1 to v1': typed(toCore),
  'Event from v1 to events.k8s.io/v1': typed(fromCore),
  'ResourceClaim from resource.k8s.io/v1beta1 to resource.k8s.io/v1': typed(claimFromV1beta1),
  'ResourceClaim from resource.k8s.io/v1 to resource.k8s.io/v1beta1': typed(claimToV1beta1),
  'ResourceClaimTemplate from resource.k8s.io/v1beta1 to resource.k8s.io/v1': typed(claimTemplateFromV1beta1),
  'ResourceClaimTemplate from resource.k8s.io/v1 to resource.k8s.io/v1beta1': typed(claimTemplateToV1beta1),
  'ResourceSlice from resource.k8s.io/v1beta1 to resource.k8s.io/v1': typed(sliceFromV1beta1),
  'ResourceSlice from resource.k8s.io/v1 to resource.k8s.io/v1beta1': typed(sliceToV1beta1),
}

/** The table's key says what kind and version the object is of. */
function typed<From extends KubeObject, To extends KubeObject>(convert: (object: From) => To): Convert {
  return convert as unknown as Convert
}

export function converterBetween(requested: GroupVersionKind, stored: GroupVersionKind): Converter {
  if (requested.group !== stored.group || requested.version !== stored.version)
    return { toStorage: convert(requested, stored), fromStorage: convert(stored, requested) }
  const lessen = fieldsBetween(stored, stored)
  return lessen === undefined ? identity : { toStorage: lessen, fromStorage: unchanged }
}

const fieldsBetween = (from: GroupVersionKind, to: GroupVersionKind): Convert | undefined =>
  ownValue(conversions, `${from.kind} from ${apiVersionOf(from)} to ${apiVersionOf(to)}`)

function convert(from: GroupVersionKind, to: GroupVersionKind): Convert {
  const apiVersion = apiVersionOf(to)
  const fields = fieldsBetween(from, to)
  return (object) => ({ ...(fields === undefined ? object : fields(cloneJson(object))), apiVersion })
}
