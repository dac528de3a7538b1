/**
 * The OpenAPI documents of a server: one of v3 for every group version and for the fixed paths, and one of v2 for
 * everything. The isolate builds each on its first request and keeps it. A change of custom resources leaves the
 * documents of built-in versions in place.
 */
import { BoundedMap } from '../base/bounded-map.ts'
import type { JsonObject } from '../api/object.ts'
import { ownValue } from '../base/own.ts'
import type { PackedText } from '../base/packed-text.ts'
import { turnOfOthers } from '../base/slices.ts'
import { escapeHtml } from '../json/write-json.ts'
import type { ServedResources, ServedVersion } from '../registry/served/resources.ts'
import { factsOf, isWholeVersion } from '../registry/served/resources.ts'
import type { Describe } from '../schema/to-openapi.ts'
import { closureOf, kindEntry, openApiModel } from '../schema/to-openapi.ts'
import { customPieces } from './custom-document.ts'
import { fixedPaths, groupPath } from './fixed-paths.ts'
import { joined } from './members.ts'
import type { OpenApiSettings, PathItem } from './operation.ts'
import { pathsV3 } from './render-v3.ts'
import type { RemoteSpec } from './remote-spec.ts'
import { EVERYWHERE, info, META, modelsOf, pathsOfVersion, publishesSchemas } from './served-paths.ts'
import { swaggerMembers, swaggerPieces } from './swagger.ts'
import { packedLater } from '../tenancy/packing.ts'
import { SharedValue } from '../tenancy/shared-value.ts'
import { openApiTexts } from './texts.ts'

export interface OpenApiDocument {
  /** Compact JSON. */
  readonly text: string
  /** SHA-512 in upper-case hexadecimal, which is the ETag. */
  readonly hash: string
}

/** A document that is built while it is sent. */
export interface OpenApiStream {
  /** Compact JSON in pieces of some kilobytes. A piece is empty where the next one takes long to build. */
  pieces(): Iterable<string>
  readonly hash: string
}

export interface SwaggerStream extends OpenApiStream {
  members(): ReturnType<typeof swaggerMembers>
}

export interface OpenApiDocuments {
  /** `api/v1`, `apis/apps`, `apis/apps/v1`, `version` …, in alphabetical order. */
  readonly keys: readonly string[]
  hash(key: string): Promise<string>
  /** The hash of each document, in the order of the keys. In turns, because a definition may have thousands of versions. */
  hashes(): Promise<(readonly [key: string, hash: string])[]>
  /** Undefined for an unknown key. A large document of custom resources is built while it is sent. */
  v3(key: string): Promise<OpenApiDocument | OpenApiStream | undefined>
  /** A large document is built while it is sent: a thousand definitions make tens of megabytes. */
  v2(remote?: RemoteSpecs): Promise<OpenApiDocument | SwaggerStream>
}

/** The specs of other servers, which the v2 document also contains. */
export interface RemoteSpecs {
  /** Equal keys mean equal specs. */
  readonly key: string
  readonly specs: readonly RemoteSpec[]
}

const bearerToken = { type: 'apiKey', description: 'Bearer Token authentication', name: 'authorization', in: 'header' }

/** Milliseconds that building a document may take on a busy machine. */
const MAKING = 10_000

const documents = new WeakMap<ServedResources, OpenApiDocuments>()
interface Kept {
  readonly of: ServedVersion | undefined
  readonly document: SharedValue<OpenApiDocument>
  /** UTF-16 units; 0 until the document is built. */
  readonly size: number
}

/** By document key. Two versions with the same resources have the same document. */
const kept = new BoundedMap<string, Kept>({ entries: 500, size: 24 * 1024 * 1024, sizeOf: (_, { size }) => size })

/** Limits of the kept documents of custom resources, in all and for one, in UTF-16 units. Larger ones are streamed. */
const MAX_CUSTOM = 4 * 1024 * 1024
const MAX_WHOLE_CUSTOM = 256 * 1024
/** The key of a version's document. It lives as long as the definition, and the cache may drop the document before. */
interface OfVersion {
  isLarge: boolean
}
const customVersions = new WeakMap<ServedVersion, OfVersion>()
const customDocuments = new BoundedMap<OfVersion, KeptDocument>({
  entries: 1_000,
  size: MAX_CUSTOM,
  sizeOf: (_, { length }) => length,
})
/** The largest v2 document that is kept whole, in UTF-16 units: twice the size of a document without definitions. */
const MAX_WHOLE = 4 * 1024 * 1024

/** With more custom resources than this a v2 document is larger than MAX_WHOLE: each has 16 Ki of text. */
const MANY_CUSTOM = 256

/** Documents that are hashed in one step. */
const TOGETHER = 64

async function mapInTurns<Item, Result>(
  items: readonly Item[],
  hash: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const found: Result[] = []
  for (const [at, item] of items.entries()) {
    if (at % TOGETHER === TOGETHER - 1) await turnOfOthers()
    found.push(await hash(item))
  }
  return found
}

const versionHashes = new WeakMap<ServedVersion, string>()

/** A hash of the sources of a document. An index of documents needs only the hashes, and builds no document. */
async function versionHash(group: string, version: ServedVersion): Promise<string> {
  const known = versionHashes.get(version)
  if (known !== undefined) return known
  const { hash } = await hashed(identityOf(group, version))
  versionHashes.set(version, hash)
  return hash
}

/** A release that changes the form of these documents increases it, because clients cache them by their hash. */
const EDITION = 1

/** The definition's generation takes the place of its schema, so that the hash does not read the schema. */
function identityOf(group: string, { version, resources }: ServedVersion): string {
  const entries = resources.map((entry) => {
    const { openApi, ...facts } = factsOf(entry)
    return { ...facts, ...openApi?.schemaOf }
  })
  return JSON.stringify([EDITION, group, version, entries])
}

/** @param settings the settings with which `served` was made */
export function openApiDocuments(served: ServedResources, settings: OpenApiSettings): OpenApiDocuments {
  let known = documents.get(served)
  if (known === undefined) documents.set(served, (known = new Documents(served, settings)))
  return known
}

class Documents implements OpenApiDocuments {
  readonly keys: readonly string[]
  private readonly versions = new Map<string, { group: string; version: ServedVersion }>()
  private readonly groups = new Set<string>()
  private all: { readonly remote: string; readonly document: SharedValue<OpenApiDocument | SwaggerStream> } | undefined

  constructor(
    private readonly served: ServedResources,
    private readonly settings: OpenApiSettings,
  ) {
    for (const { group, versions } of served.groups) {
      if (group !== '' && served.isBuiltInGroup(group)) this.groups.add(`apis/${group}`)
      for (const version of versions.filter(({ remote }) => remote !== true))
        this.versions.set(group === '' ? `api/${version.version}` : `apis/${group}/${version.version}`, {
          group,
          version,
        })
    }
    this.keys = [...Object.keys(fixedPaths), ...this.groups, ...this.versions.keys()].sort()
  }

  async hash(key: string): Promise<string> {
    const { knownHash } = await openApiTexts(this.settings)
    const version = this.versions.get(key)
    if (version !== undefined && publishesSchemas(version.version)) return versionHash(version.group, version.version)
    const whole = version === undefined || (!this.settings.cbor && isWholeVersion(version.group, version.version))
    const known = whole ? knownHash(key) : undefined
    return known ?? (await this.v3(key))!.hash
  }

  async v3(key: string): Promise<OpenApiDocument | OpenApiStream | undefined> {
    if (!this.keys.includes(key)) return undefined
    const found = this.versions.get(key)
    const version = found?.version
    if (found !== undefined && publishesSchemas(found.version)) return this.custom(found.group, found.version)
    let known = kept.get(key)
    if (known === undefined || known.of !== version)
      kept.set(key, (known = { of: version, document: new SharedValue(MAKING), size: 0 }))
    const document = await known.document.get(() => this.build(key))
    if (known.size === 0 && kept.get(key) === known) kept.set(key, { ...known, size: document.text.length })
    return document
  }

  v2(remote: RemoteSpecs = { key: '', specs: [] }): Promise<OpenApiDocument | SwaggerStream> {
    if (this.all?.remote !== remote.key) this.all = { remote: remote.key, document: new SharedValue(MAKING) }
    return this.all.document.get(() => this.makeV2(remote))
  }

  hashes(): Promise<(readonly [key: string, hash: string])[]> {
    return mapInTurns(this.keys, async (key) => [key, await this.hash(key)] as const)
  }

  private async makeV2({ key, specs }: RemoteSpecs): Promise<OpenApiDocument | SwaggerStream> {
    const { describe } = await openApiTexts(this.settings)
    const members = () => swaggerMembers(this.served, describe, this.settings, specs)
    const pieces = () => swaggerPieces(members())
    const whole = this.hasManyCustom() ? undefined : await joined(pieces(), MAX_WHOLE, turnOfOthers)
    if (whole !== undefined) return hashed(whole)
    // of the sources: no v3 document needs to be built for it
    const hashes = await mapInTurns([...this.versions.values()], ({ group, version }) => versionHash(group, version))
    const { hash } = await hashed(JSON.stringify([info.version, this.settings, key, hashes]))
    return { hash, pieces, members }
  }

  private hasManyCustom(): boolean {
    let found = 0
    for (const { version } of this.versions.values()) {
      if (publishesSchemas(version)) found += version.resources.length
      if (found > MANY_CUSTOM) return true
    }
    return false
  }

  private async custom(group: string, version: ServedVersion): Promise<OpenApiDocument | OpenApiStream> {
    const key = customVersions.get(version) ?? { isLarge: false }
    customVersions.set(version, key)
    const known = customDocuments.get(key)
    if (known !== undefined) return known
    const { describe } = await openApiTexts(this.settings)
    const pieces = () => customPieces(version, describe, this.settings)
    const hash = await versionHash(group, version)
    const text = key.isLarge ? undefined : await joined(pieces(), MAX_WHOLE_CUSTOM, turnOfOthers)
    key.isLarge = text === undefined
    if (text === undefined) return { hash, pieces }
    const document = new KeptDocument(text, hash)
    customDocuments.set(key, document)
    return document
  }

  private async build(key: string): Promise<OpenApiDocument> {
    const { describe } = await openApiTexts(this.settings)
    const { text, hash } = await hashed(escapeHtml(JSON.stringify(this.documentV3(key, describe))))
    return new KeptDocument(text, hash)
  }

  private documentV3(key: string, describe: Describe): JsonObject {
    const found = this.versions.get(key)
    if (found === undefined)
      return documentOf([ownValue(fixedPaths, key) ?? groupPath(key.slice('apis/'.length))], describe)
    const { group, version } = found
    const items = pathsOfVersion(group, version, describe, this.settings)
    return documentOf(items, describe, { group, version: version.version })
  }
}

function documentOf(
  items: readonly PathItem[],
  describe: Describe,
  gv?: { group: string; version: string },
): JsonObject {
  const names = closureOf(modelsOf(items))
  const schemas = names.map((name) => [name, openApiModel(name, 'v3', describe, everywhereKinds(name, gv))])
  return {
    openapi: '3.0.0',
    info,
    paths: pathsV3(items),
    components: {
      ...(schemas.length === 0 ? {} : { schemas: Object.fromEntries(schemas) }),
      securitySchemes: { BearerToken: bearerToken },
    },
  }
}

function everywhereKinds(name: string, gv?: { group: string; version: string }): JsonObject[] | undefined {
  const kind = EVERYWHERE.find((one) => name === `${META}.${one}`)
  if (kind === undefined) return undefined
  const own = kindEntry('', 'v1', kind)
  return gv === undefined || gv.group === '' ? [own] : [own, kindEntry(gv.group, gv.version, kind)]
}

/** Packed, because few clients read it again: a client that has the document sends its hash. */
class KeptDocument implements OpenApiDocument {
  private readonly packed: PackedText
  /** UTF-16 units. */
  readonly length: number

  constructor(
    text: string,
    readonly hash: string,
  ) {
    this.packed = packedLater(text)
    this.length = text.length
  }

  get text(): string {
    return this.packed.text
  }
}

export async function hashed(text: string): Promise<OpenApiDocument> {
  const digest = await crypto.subtle.digest('SHA-512', new TextEncoder().encode(text))
  return { text, hash: hexadecimal(new Uint8Array(digest)) }
}

const hexadecimal = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase()
