import { append } from '../../base/append.ts'
import type { JSONSchemaProps } from '../../api/apiextensions/v1.ts'
import type { Json } from '../../api/object.ts'
import { isJsonObject } from '../../api/object.ts'
import { forAsLong, kept } from '../../base/parts.ts'

/** The schemas directly within a schema, under any keyword. */
export function schemasBelow(schema: JSONSchemaProps): JSONSchemaProps[] {
  const below: JSONSchemaProps[] = []
  for (const one of [schema.items, schema.additionalItems, schema.additionalProperties, schema.not])
    if (one !== undefined)
      for (const each of Array.isArray(one) ? (one as Json[]) : [one as Json])
        // the decoder reads these fields as schemas
        if (isJsonObject(each)) below.push(each as JSONSchemaProps)
  for (const list of [schema.allOf, schema.oneOf, schema.anyOf]) if (list !== undefined) append(below, list)
  for (const map of [schema.properties, schema.patternProperties, schema.definitions])
    if (map !== undefined) append(below, Object.values(map))
  return below
}

/** What is visited without a stop, as a weight in `PART`. */
const AT_ONCE = 256

/** The weight of a visit: a few tests. A schema that it lists weighs one. */
const VISIT = 3

/**
 * The first of a schema and all schemas within it that passes a test, each before those within it. In parts
 * (base/parts.ts), because a definition may have very many.
 */
export function findSchema(
  root: JSONSchemaProps,
  test: (schema: JSONSchemaProps) => boolean,
  below: (schema: JSONSchemaProps) => readonly JSONSchemaProps[] = schemasBelow,
): JSONSchemaProps | undefined {
  const walk = kept(root, () => ({ waiting: [root], found: undefined as JSONSchemaProps | undefined }))
  const { waiting } = walk
  forAsLong(() => {
    let work = 0
    while (work < AT_ONCE && waiting.length > 0) {
      const schema = waiting.at(-1)!
      // the test may stop, and is then repeated
      const isFound = test(schema)
      waiting.pop()
      work += VISIT
      if (isFound) {
        walk.found = schema
        waiting.length = 0
        continue
      }
      const inner = below(schema)
      work += inner.length
      for (let at = inner.length - 1; at >= 0; at--) waiting.push(inner[at]!)
    }
    return work > 0 && work
  })
  return walk.found
}

/** Whether the schema, or a schema within it, passes a test. */
export const someSchema = (root: JSONSchemaProps, test: (schema: JSONSchemaProps) => boolean): boolean =>
  findSchema(root, test) !== undefined
