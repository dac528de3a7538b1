/** Converts between the versions of a kind that share storage. The storage version is the hub. */
import { cloneJson } from '../api/clone-json.ts'
import type { GroupVersion } from '../api/group-version.ts'
import { apiVersionOf } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import { ownValue } from '../api/own.ts'

export interface Converter {
  toStorage(object: KubeObject): KubeObject
  fromStorage(object: KubeObject): KubeObject
}

type Convert = (object: KubeObject) => KubeObject

/** Converts between a version of a kind and its storage version. Each function gets a copy, which it may change. */
export interface Conversion {
  readonly toStorage?: Convert
  readonly fromStorage?: Convert
}

/** @param toStorage of an object in the one version, `fromStorage` of one in the other: a definition says which */
export const conversion = <O extends KubeObject, Stored extends KubeObject>(
  toStorage: (object: O) => Stored,
  fromStorage?: (object: Stored) => O,
): Conversion => ({
  // objects are given by their version
  toStorage: toStorage as unknown as Convert,
  ...(fromStorage && { fromStorage: fromStorage as unknown as Convert }),
})

const unchanged: Convert = (object) => object
const identity: Converter = { toStorage: unchanged, fromStorage: unchanged }

/** Whether conversion changes nothing, so that an object is the same after its way into storage and back. */
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
