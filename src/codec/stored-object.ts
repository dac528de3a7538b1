import { parseApiVersion } from '../api/group-version.ts'
import { isJsonObject } from '../api/object.ts'
import type { KubeObject } from '../api/object.ts'
import { typeOfKind } from '../schema/built-in.ts'
import { removeNulls } from '../schema/without-nulls.ts'
import { parseStored } from '../api/json.ts'

/** An object from the text that storage keeps. Custom objects keep their nulls, which their schemas may allow. */
export function parseStoredObject(text: string): KubeObject {
  const object = parseStored(text)
  if (text.includes(':null') && isJsonObject(object)) {
    const { apiVersion, kind } = object
    const version = typeof apiVersion === 'string' ? parseApiVersion(apiVersion) : undefined
    const type = version && typeof kind === 'string' ? typeOfKind({ ...version, kind }) : undefined
    if (type !== undefined) removeNulls(type, object)
  }
  // what storage holds was encoded from a KubeObject
  return object as unknown as KubeObject
}
