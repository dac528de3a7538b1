import { sentField } from '../schema/emptied.ts'
import type { JsonObject } from '../api/object.ts'
import { valuesEqualApart } from '../json/value-order.ts'
import { sameWritten } from '../codec/encode/same-written.ts'
import { builtInType } from '../schema/built-in.ts'

/**
 * Whether two values of a built-in type have the same JSON: an empty value that Go leaves out equals an absent one.
 * @param type OpenAPI model name, `io.k8s.api.core.v1.PodSpec`
 */
export function sameValue(type: string, a: object | undefined, b: object | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  // decoded values of the type are JSON objects
  return sameWritten(builtInType(type), a as JsonObject, b as JsonObject)
}

/** Whether two maps of texts are equal; an absent one equals an empty one. */
export const sameTexts = (
  a: Readonly<Record<string, string>> = {},
  b: Readonly<Record<string, string>> = {},
): boolean => valuesEqualApart(a, b)

/** Like sameTexts, for rules of kube-apiserver by which a map that the client sent empty differs from an absent one. */
export const sameSentTexts = <O extends object>(now: O, old: O, field: keyof O & string): boolean => {
  const [sent, before] = [sentField(now, field), sentField(old, field)] as readonly (
    Record<string, string> | undefined
  )[] // maps of texts
  return (sent === undefined) === (before === undefined) && sameTexts(sent, before)
}

const CORE = 'io.k8s.api.core.v1'
export const samePodSpec = (a: object | undefined, b: object | undefined): boolean => sameValue(`${CORE}.PodSpec`, a, b)
export const samePodTemplate = (a: object | undefined, b: object | undefined): boolean =>
  sameValue(`${CORE}.PodTemplateSpec`, a, b)
export const sameSelector = (a: object | undefined, b: object | undefined): boolean =>
  sameValue('io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector', a, b)
