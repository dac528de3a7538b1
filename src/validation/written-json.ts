import type { Json, JsonObject } from '../api/object.ts'
import { encodeJson } from '../codec/encode.ts'
import { builtInType } from '../schema/built-in.ts'

/**
 * A value as it is written, which is how errors show types that are the same inside and outside of kube-apiserver.
 * @param type OpenAPI model name
 */
export const writtenJson = (type: string, value: object): Json =>
  // a value of the type is JSON
  JSON.parse(encodeJson(builtInType(type), value as JsonObject)) as Json
