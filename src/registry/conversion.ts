/** Between the versions of a kind that share storage (hub and spokes are the same two here). */
import type { GroupVersionKind } from '../api/group-version.ts'
import { apiVersionOf } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import { fromV1, toV1 } from './autoscaling/conversion.ts'
import { fromCore, toCore } from './events/conversion.ts'

export interface Converter {
  toStorage(object: KubeObject): KubeObject
  fromStorage(object: KubeObject): KubeObject
}

type Convert = (object: KubeObject) => KubeObject

const identity: Converter = { toStorage: (object) => object, fromStorage: (object) => object }

/** Pairs whose fields differ, by `KIND from apiVersion to apiVersion`; all others differ in apiVersion alone. */
const conversions: Readonly<Record<string, Convert>> = {
  'HorizontalPodAutoscaler from autoscaling/v1 to autoscaling/v2': typed(fromV1),
  'HorizontalPodAutoscaler from autoscaling/v2 to autoscaling/v1': typed(toV1),
  'Event from events.k8s.io/v1 to v1': typed(toCore),
  'Event from v1 to events.k8s.io/v1': typed(fromCore),
}

/** The table's key says what kind and version the object is of. */
function typed<From extends KubeObject, To extends KubeObject>(convert: (object: From) => To): Convert {
  return convert as unknown as Convert
}

export function converterBetween(requested: GroupVersionKind, stored: GroupVersionKind): Converter {
  if (requested.group === stored.group && requested.version === stored.version) return identity
  return { toStorage: convert(requested, stored), fromStorage: convert(stored, requested) }
}

function convert(from: GroupVersionKind, to: GroupVersionKind): Convert {
  const apiVersion = apiVersionOf(to)
  const fields = conversions[`${from.kind} from ${apiVersionOf(from)} to ${apiVersion}`]
  return (object) => ({ ...(fields === undefined ? object : fields(structuredClone(object))), apiVersion })
}
