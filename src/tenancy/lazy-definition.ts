/**
 * A CustomResourceDefinition whose large parts, schemas and managedFields, are parsed on demand. The most recently
 * used ones stay parsed. A parsed schema takes many times the memory of its text, and most requests need none of the
 * thousand that a control plane may have.
 */
import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from '../api/apiextensions/v1.ts'
import { BoundedMap } from '../base/bounded-map.ts'
import type { Json, KubeObject } from '../api/object.ts'
import type { PackedText } from '../base/packed-text.ts'
import { parseStored, parsingStored } from '../json/parse-json.ts'
import type { Steps } from '../base/slices.ts'
import { atOnce, turnOfOthers } from '../base/slices.ts'
import type { Cut, SchemaFacts } from './definition-cuts.ts'
import { cutDefinition } from './definition-cuts.ts'

type Definition = KubeObject & CustomResourceDefinition

/**
 * UTF-16 units of the texts that stay parsed in this isolate: enough for the steps of one request, and for requests
 * in parallel. A document of all definitions reads each once; schemas that stay parsed longer grow old in V8's heap,
 * and cost a full collection.
 */
const MAX_PARSED = 256 * 1024

const parsed = new BoundedMap<Part, { readonly value: Json }>({
  entries: 1_000,
  size: MAX_PARSED,
  // the part that was read last is kept, however large it is
  sizeOf: ({ length }) => Math.min(length, MAX_PARSED),
})

/** A schema, or managedFields, as text. */
class Part {
  constructor(
    private readonly source: PackedText,
    private readonly cut: Cut,
  ) {}

  get length(): number {
    return this.cut.length
  }

  get facts(): SchemaFacts {
    return this.cut
  }

  private get text(): string {
    const { begin, length } = this.cut
    return this.source.text.slice(begin, begin + length)
  }

  get value(): Json {
    const known = parsed.get(this)
    return known === undefined ? this.keep(parseStored(this.text)) : known.value
  }

  /** Every request that waits for the part does its next step, so a request that the engine drops delays no other. */
  async read(): Promise<void> {
    if (this.length <= AT_ONCE) return
    // finding the part may have taken the time of a step
    await turnOfOthers()
    while (!parsed.has(this)) {
      const { done, value } = underWay.getOrMake(this, () => parsingStored(this.text)).next(true)
      if (done === true) {
        underWay.delete(this)
        this.keep(value)
        return
      }
      await turnOfOthers()
    }
  }

  private keep(value: Json): Json {
    parsed.set(this, { value })
    return value
  }
}

/** UTF-16 units that are parsed at once: some milliseconds. */
export const AT_ONCE = 256 * 1024

const underWay = new BoundedMap<Part, Steps<Json>>({ entries: 4 })

/** The key of a version's schema. */
const SCHEMA = Symbol('schema')

type LazyVersion = CustomResourceDefinitionVersion & { readonly [SCHEMA]?: Part }

export const lazyDefinition = (source: PackedText): KubeObject => atOnce(lazyDefinitionInSteps(source))

export function* lazyDefinitionInSteps(source: PackedText): Steps<KubeObject> {
  const { rest, managedFields, schemas } = cutDefinition(source.text)
  const parsed = rest.length > AT_ONCE ? yield* parsingStored(rest) : parseStored(rest)
  // only definitions are stored in this collection
  const definition = parsed as unknown as Definition
  const { metadata, spec } = definition
  if (managedFields !== undefined) {
    const part = new Part(source, managedFields)
    Object.defineProperty(metadata, 'managedFields', { enumerable: true, get: () => part.value })
  }
  for (const [at, cut] of schemas) {
    const part = new Part(source, cut)
    const version = spec!.versions![at]! // it was cut from this version
    Object.defineProperty(version, SCHEMA, { value: part })
    Object.defineProperty(version, 'schema', { enumerable: true, get: () => part.value })
  }
  return definition
}

/** Parses a long schema in steps, so that the next use takes no time. */
export const readSchema = async (version: LazyVersion): Promise<void> => version[SCHEMA]?.read()

/** The facts about a version's schema that need no parsing; undefined where it is parsed already. */
export const factsOf = (version: LazyVersion): SchemaFacts | undefined => version[SCHEMA]?.facts
