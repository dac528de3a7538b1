/**
 * A CustomResourceDefinition without what is large in it: schemas and managedFields are parsed when they are asked for,
 * and kept while they are among those that were used last. A parsed schema takes many times the memory of its text, and
 * most requests need none of the thousand that a control plane may have.
 */
import type { CustomResourceDefinition } from '../api/apiextensions/v1.ts'
import { BoundedMap } from '../api/bounded-map.ts'
import type { KubeObject } from '../api/object.ts'
import { parseStored } from '../api/parse-json.ts'

type Definition = KubeObject & CustomResourceDefinition

/**
 * UTF-16 units of the texts that are kept parsed by this isolate: for the steps of one request, and for requests side by
 * side. A document of all definitions reads each once; what is kept longer grows old in V8's heap, and costs a full collection.
 */
const MAX_PARSED = 256 * 1024

/** Keyed by text: equal definitions have equal text, and it holds nothing else of its control plane. */
const parsed = new BoundedMap<string, Definition>({
  entries: 1_000,
  size: MAX_PARSED,
  // the one that was read last is kept, however large it is
  sizeOf: (text) => Math.min(text.length, MAX_PARSED),
})

export function lazyDefinition(text: string): KubeObject {
  const definition = parse(text)
  const { metadata, spec } = definition
  if (metadata.managedFields !== undefined)
    Object.defineProperty(metadata, 'managedFields', {
      enumerable: true,
      get: () => whole(text).metadata.managedFields,
    })
  for (const [at, version] of (spec?.versions ?? []).entries())
    if (version.schema !== undefined)
      Object.defineProperty(version, 'schema', {
        enumerable: true,
        get: () => whole(text).spec?.versions?.[at]?.schema,
      })
  return definition
}

function whole(text: string): Definition {
  return parsed.getOrMake(text, () => parse(text))
}

// what storage holds under the definitions' prefix was encoded from one
const parse = (text: string): Definition => parseStored(text) as unknown as Definition
