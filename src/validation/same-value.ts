import type { JsonObject } from '../api/object.ts'
import { encodeJson } from '../codec/encode.ts'
import { builtInType } from '../schema/built-in.ts'

/**
 * Whether two values of a built-in type are the same once they are written: what may be left out is as good as absent.
 * @param type OpenAPI model name, `io.k8s.api.core.v1.PodSpec`
 */
export function sameValue(type: string, a: object | undefined, b: object | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  const schema = builtInType(type)
  // decoded values of the type are JSON objects
  return encodeJson(schema, a as JsonObject) === encodeJson(schema, b as JsonObject)
}

const CORE = 'io.k8s.api.core.v1'
export const samePodSpec = (a: object | undefined, b: object | undefined): boolean => sameValue(`${CORE}.PodSpec`, a, b)
export const samePodTemplate = (a: object | undefined, b: object | undefined): boolean =>
  sameValue(`${CORE}.PodTemplateSpec`, a, b)
export const sameSelector = (a: object | undefined, b: object | undefined): boolean =>
  sameValue('io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector', a, b)
