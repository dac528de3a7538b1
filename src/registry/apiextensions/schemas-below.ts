import type { JSONSchemaProps } from '../../api/apiextensions/v1.ts'
import type { Json } from '../../api/object.ts'
import { isJsonObject } from '../../api/object.ts'
import { forAsLong, kept } from '../../api/parts.ts'

/** The schemas directly within a schema, under any keyword. */
export function schemasBelow(schema: JSONSchemaProps): JSONSchemaProps[] {
  const below: JSONSchemaProps[] = []
  // the decoder reads these fields as schemas
  const add = (one: unknown): void => void (isJsonObject(one as Json) && below.push(one as JSONSchemaProps))
  for (const one of [schema.items, schema.additionalItems, schema.additionalProperties, schema.not]) {
    if (Array.isArray(one)) one.forEach(add)
    else if (one !== undefined) add(one)
  }
  for (const list of [schema.allOf, schema.oneOf, schema.anyOf]) for (const one of list ?? []) below.push(one)
  for (const map of [schema.properties, schema.patternProperties, schema.definitions])
    for (const one of Object.values(map ?? {})) below.push(one)
  return below
}

/** Schemas that are visited without a stop. A visit takes a microsecond. */
const AT_ONCE = 256

/**
 * The first of a schema and all schemas within it that passes a test, each before those within it. In parts
 * (api/parts.ts), because a definition may have very many.
 */
export function findSchema(
  root: JSONSchemaProps,
  test: (schema: JSONSchemaProps) => boolean,
  below: (schema: JSONSchemaProps) => readonly JSONSchemaProps[] = schemasBelow,
): JSONSchemaProps | undefined {
  const walk = kept(root, () => ({ waiting: [root], found: undefined as JSONSchemaProps | undefined }))
  const { waiting } = walk
  forAsLong(() => {
    for (let visited = 0; visited < AT_ONCE && walk.found === undefined; visited++) {
      const schema = waiting.at(-1)
      if (schema === undefined) return false
      // the test may stop, and is then repeated
      if (test(schema)) walk.found = schema
      waiting.pop()
      const inner = below(schema)
      for (let at = inner.length - 1; at >= 0; at--) waiting.push(inner[at]!)
    }
    return walk.found === undefined && AT_ONCE
  })
  return walk.found
}

/** Whether the schema, or a schema within it, passes a test. */
export const someSchema = (root: JSONSchemaProps, test: (schema: JSONSchemaProps) => boolean): boolean =>
  findSchema(root, test) !== undefined
