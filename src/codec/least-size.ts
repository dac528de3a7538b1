/**
 * Refuses an object that is too large for storage before its field ownership, admission and validation: a small body of
 * empty elements can become an object of many megabytes when defaults are filled in.
 */
import type { Json } from '../api/object.ts'
import { eachName, eachPart, kept } from '../api/parts.ts'
import { requestEntityTooLarge } from '../api/status.ts'
import { MAX_VALUE_BYTES } from '../storage/value-text.ts'

/** A strategy may drop fields of the object, but of one that was read from this server no more than this. */
const MAX_LEAST_SIZE = 2 * MAX_VALUE_BYTES

/** @throws StatusError 413, as of an object that storage does not take */
export function checkLeastSize(object: object): void {
  const size = kept(object, () => ({ left: MAX_LEAST_SIZE }))
  spend(object as Json, size)
  if (size.left < 0) throw requestEntityTooLarge(`limit is ${MAX_VALUE_BYTES}`)
}

/** Characters that the JSON of a value has at least, below all that an object or a list leaves out. */
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
