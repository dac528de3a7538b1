import type { Json, JsonObject } from '../../api/object.ts'
import { isJsonObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import { defaultOf, isNullable } from '../../schema/from-openapi.ts'
import { memberType } from '../../schema/prune.ts'
import type { Structural } from '../../schema/structural.ts'
import { fieldText } from '../../storage/selectors/selection.ts'
import type { SelectableField } from '../resource.ts'

/**
 * Where objects have a selectable field, and what their readers see where the stored object does not have it: its
 * definition may have got the field, or a default, after the write.
 * @param type of the storage version
 */
export function selectableField(type: Structural, field: string): SelectableField | undefined {
  if (field.startsWith('metadata.')) return undefined
  // a path has no brackets
  const names = field.split('.')
  return { names, defaults: names.map((_, depth) => defaultText(type, names, depth)) }
}

/** @param depth the number of names that the object has */
function defaultText(root: Structural, names: readonly string[], depth: number): string {
  let type: Structural | undefined = root
  let found: Json | undefined = names.slice(0, depth).reduceRight<JsonObject>((below, name) => ({ [name]: below }), {})
  for (const name of names) {
    if (!isJsonObject(found)) return ''
    type = memberType(type, name)
    found = ownValue(found, name)
    if (type !== undefined && (found === undefined || (found === null && !isNullable(type)))) found = defaultOf(type)
  }
  return fieldText(found)
}
