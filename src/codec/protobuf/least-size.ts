/**
 * Refuses an object that is too large for storage before field ownership, admission and validation. Defaults can turn a
 * small body of empty elements into an object of many megabytes.
 */
import type { Json } from '../../api/object.ts'
import { eachName, eachPart, kept } from '../../base/parts.ts'
import { requestEntityTooLarge } from '../../api/status.ts'
import { MAX_VALUE_BYTES } from '../../storage/streams/value-text.ts'

/**
 * A strategy may drop fields later, so this exceeds the limit of storage. With those fields, an object that a client
 * has read from this server is no larger than this.
 */
const MAX_LEAST_SIZE = 2 * MAX_VALUE_BYTES

/** @throws StatusError 413 with the message for objects that exceed the limit of storage */
export function checkLeastSize(object: object): void {
  const size = kept(object, () => ({ left: MAX_LEAST_SIZE }))
  spend(object as Json, size)
  if (size.left < 0) throw requestEntityTooLarge(`limit is ${MAX_VALUE_BYTES}`)
}

/** Subtracts a lower bound of the characters in the JSON of a value: encoding may leave out absent members. */
function spend(value: Json | undefined, size: { left: number }): void {
  if (value === undefined || value === null) return
  if (typeof value !== 'object') size.left -= typeof value === 'string' ? value.length : 1
  else {
    if (size.left < 0) throw requestEntityTooLarge(`limit is ${MAX_VALUE_BYTES}`)
    if (Array.isArray(value))
      eachPart(value, (item) => {
        spend(item, size)
        size.left -= 2
      })
    else
      eachName(value, Object.keys, (name) => {
        spend(value[name], size)
        size.left -= name.length + 4
      })
  }
}
