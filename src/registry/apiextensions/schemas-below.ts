import type { JSONSchemaProps } from '../../api/apiextensions/v1.ts'
import type { Json } from '../../api/object.ts'
import { isJsonObject } from '../../api/object.ts'

/** The schemas directly within a schema, under any keyword. */
export function schemasBelow(schema: JSONSchemaProps): JSONSchemaProps[] {
  const { items, additionalItems, additionalProperties, not } = schema
  const single = [items, additionalItems, additionalProperties, not as Json | undefined].flatMap((one) =>
    Array.isArray(one) ? one : one === undefined ? [] : [one],
  )
  return [
    // the decoder reads these fields as schemas
    ...(single.filter((one) => isJsonObject(one)) as JSONSchemaProps[]),
    ...(schema.allOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.anyOf ?? []),
    ...Object.values(schema.properties ?? {}),
    ...Object.values(schema.patternProperties ?? {}),
    ...Object.values(schema.definitions ?? {}),
  ]
}
