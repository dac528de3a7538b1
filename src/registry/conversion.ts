/** Converts between the versions of a kind that share storage. The storage version is the hub. */
import { cloneJson } from '../json/clone-json.ts'
import type { GroupVersion } from '../api/group-version.ts'
import { apiVersionOf } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import { ownValue } from '../base/own.ts'

export interface Converter {
  toStorage(object: KubeObject): KubeObject
  fromStorage(object: KubeObject): KubeObject
}

type Convert = (object: KubeObject) => KubeObject

/**
 * Converts between a version of a kind and its storage version. Each function gets a copy of the object, which it may
 * change.
 */
export interface Conversion {
  readonly toStorage?: Convert
  readonly fromStorage?: Convert
}

/**
 * The definition registers the conversion under an apiVersion.
 * @param toStorage gets objects of that apiVersion
 * @param fromStorage gets objects of the storage version
 */
export const conversion = <O extends KubeObject, Stored extends KubeObject>(
  toStorage: (object: O) => Stored,
  fromStorage?: (object: Stored) => O,
): Conversion => ({
  // the caller picks the function by the apiVersion of the object
  toStorage: toStorage as unknown as Convert,
  ...(fromStorage && { fromStorage: fromStorage as unknown as Convert }),
})

const unchanged: Convert = (object) => object
const identity: Converter = { toStorage: unchanged, fromStorage: unchanged }

/** Whether conversion changes nothing, so that a round trip through storage returns the same object. */
export const isIdentity = ({ toStorage }: Pick<Converter, 'toStorage'>): boolean => toStorage === unchanged

/** @param conversions of the resource, by apiVersion */
export function converterBetween(
  requested: GroupVersion,
  stored: GroupVersion,
  conversions: Readonly<Record<string, Conversion>> = {},
): Converter {
  const [own, kept] = [apiVersionOf(requested), apiVersionOf(stored)]
  const fields = ownValue(conversions, own)
  if (own !== kept)
    return { toStorage: convert(kept, fields?.toStorage), fromStorage: convert(own, fields?.fromStorage) }
  return fields?.toStorage === undefined ? identity : { toStorage: fields.toStorage, fromStorage: unchanged }
}

const convert =
  (apiVersion: string, fields: Convert | undefined): Convert =>
  (object) => ({ ...(fields === undefined ? object : fields(cloneJson(object))), apiVersion })
