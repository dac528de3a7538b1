/** Parses each version of an object once, because several controllers read the same objects often, mainly pods. */
import { BoundedMap } from '../../base/bounded-map.ts'
import { frozen } from '../../base/frozen.ts'
import type { KubeObject } from '../../api/object.ts'
import { ownText } from '../../base/own-text.ts'
import { parseStoredObject } from '../../codec/stored-object.ts'
import type { Tenant } from '../../storage/tenant.ts'
import { perTenant } from '../../tenancy/tenant-state.ts'

/** UTF-16 units of the texts. The parsed objects take about twice as much memory. */
const MOST_TEXT = 6 * 1024 * 1024

interface Parsed {
  readonly text: string
  readonly object: KubeObject
}

/** The parsed objects by kind, name and uid, without the version. */
const parsedOf = perTenant(
  'forgotten',
  () => new BoundedMap<string, Parsed>({ entries: 10_000, size: MOST_TEXT, sizeOf: (_, { text }) => text.length }),
)

/** @returns a shared object, which no caller may change */
export function parsedOnce(tenant: Tenant, text: string, parse: () => KubeObject): KubeObject {
  const parsed = parsedOf(tenant)
  const key = text.slice(0, text.indexOf('"resourceVersion"'))
  const known = parsed.get(key)
  if (known?.text === text) return known.object
  const own = ownText(text)
  const object = fieldsLater(parse(), own)
  parsed.set(own.slice(0, key.length), { text: own, object })
  return object
}

const TEXT = Symbol('text')

const parsedFields: PropertyDescriptor & ThisType<{ readonly [TEXT]: string }> = {
  enumerable: true,
  get() {
    return parseStoredObject(this[TEXT]).metadata.managedFields
  },
}

/**
 * Freezes the object. Two thirds of the values of a Pod are its managedFields, which no controller reads but which the
 * garbage collector visits. They are parsed when a write asks for them.
 */
function fieldsLater(object: KubeObject, text: string): KubeObject {
  const { managedFields, ...metadata } = object.metadata
  if (managedFields === undefined) return frozen(object)
  for (const part of Object.values(metadata)) frozen(part)
  Object.defineProperty(metadata, TEXT, { value: text })
  Object.defineProperty(metadata, 'managedFields', parsedFields)
  return frozen({ ...object, metadata: Object.freeze(metadata) })
}
