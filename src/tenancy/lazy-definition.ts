/**
 * A CustomResourceDefinition without its large parts: schemas and managedFields are parsed on demand, and the most
 * recently used stay parsed. A parsed schema takes many times the memory of its text, and most requests need none of
 * the thousand that a control plane may have.
 */
import type { CustomResourceDefinition } from '../api/apiextensions/v1.ts'
import { BoundedMap } from '../api/bounded-map.ts'
import type { KubeObject } from '../api/object.ts'
import type { PackedText } from '../api/packed-text.ts'
import { parseStored } from '../api/parse-json.ts'

type Definition = KubeObject & CustomResourceDefinition

/**
 * UTF-16 units of the texts that stay parsed in this isolate: enough for the steps of one request, and for requests
 * side by side. A document of all definitions reads each once; parsed schemas that stay longer grow old in V8's heap,
 * and cost a full collection.
 */
const MAX_PARSED = 256 * 1024

const parsed = new BoundedMap<PackedText, { readonly definition: Definition; readonly length: number }>({
  entries: 1_000,
  size: MAX_PARSED,
  // the one that was read last is kept, however large it is
  sizeOf: (_, { length }) => Math.min(length, MAX_PARSED),
})

export function lazyDefinition(source: PackedText): KubeObject {
  const definition = parse(source.text)
  const { metadata, spec } = definition
  if (metadata.managedFields !== undefined)
    Object.defineProperty(metadata, 'managedFields', {
      enumerable: true,
      get: () => whole(source).metadata.managedFields,
    })
  for (const [at, version] of (spec?.versions ?? []).entries())
    if (version.schema !== undefined)
      Object.defineProperty(version, 'schema', {
        enumerable: true,
        get: () => whole(source).spec?.versions?.[at]?.schema,
      })
  return definition
}

function whole(source: PackedText): Definition {
  const known = parsed.get(source)
  if (known !== undefined) return known.definition
  const { text } = source
  const definition = parse(text)
  parsed.set(source, { definition, length: text.length })
  return definition
}

// what storage holds under the definitions' prefix was encoded from one
const parse = (text: string): Definition => parseStored(text) as unknown as Definition
