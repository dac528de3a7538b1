import type { Json, JsonObject } from '../api/object.ts'
import { encodeJson } from '../codec/encode/encode.ts'
import { builtInType } from '../schema/built-in.ts'

/**
 * The JSON of a value. Error texts contain it for types that are the same in kube-apiserver's internal version and in
 * v1.
 * @param type OpenAPI model name
 */
export const writtenJson = (type: string, value: object): Json =>
  // a value of the type is JSON
  JSON.parse(encodeJson(builtInType(type), value as JsonObject)) as Json
