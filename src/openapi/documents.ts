/**
 * The OpenAPI documents of a server: one of v3 for every group and version (and for the fixed paths), one of v2 for all
 * of it. Each is built for its first request and kept by the isolate. Those of built-in versions are kept when custom
 * resources change.
 */
import { BoundedMap } from '../api/bounded-map.ts'
import type { JsonObject } from '../api/object.ts'
import { ownValue } from '../api/own.ts'
import type { PackedText } from '../api/packed-text.ts'
import { turnOfOthers } from '../api/slices.ts'
import { escapeHtml } from '../api/write-json.ts'
import type { ServedResources, ServedVersion } from '../registry/resources.ts'
import { factsOf, isWholeVersion } from '../registry/resources.ts'
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
  /** JSON, compact. */
  readonly text: string
  /** SHA-512 in upper-case hexadecimal: the ETag. */
  readonly hash: string
}

/** A document that is made and sent piece by piece. */
export interface OpenApiStream {
  /** JSON, compact, in pieces of some kilobytes; empty ones where a piece takes long to make. */
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
  /** Undefined for a key that is none. That of custom resources is made while it is read where it is large. */
  v3(key: string): Promise<OpenApiDocument | OpenApiStream | undefined>
  /** Where it is large it is made while it is read: a thousand definitions make tens of megabytes. */
  v2(remote?: RemoteSpecs): Promise<OpenApiDocument | SwaggerStream>
}

/** Of other servers, joined with this one's. */
export interface RemoteSpecs {
  /** The same text, the same specs. */
  readonly key: string
  readonly specs: readonly RemoteSpec[]
}

const bearerToken = { type: 'apiKey', description: 'Bearer Token authentication', name: 'authorization', in: 'header' }

/** Milliseconds in which a document is made, on a busy machine too. */
const MAKING = 10_000

const documents = new WeakMap<ServedResources, OpenApiDocuments>()
interface Kept {
  readonly of: ServedVersion | undefined
  readonly document: SharedValue<OpenApiDocument>
  /** UTF-16 units, once it is built. */
  readonly size: number
}

/** By key; a version of the same resources has the same document. */
const kept = new BoundedMap<string, Kept>({ entries: 500, size: 24 * 1024 * 1024, sizeOf: (_, { size }) => size })

/**
 * Documents of versions of custom resources that are kept, and the longest of these: UTF-16 units. Larger ones are
 * streamed.
 */
const MAX_CUSTOM = 4 * 1024 * 1024
const MAX_WHOLE_CUSTOM = 256 * 1024
/** Stands for a version, which goes with its definition, and not with the document. */
interface OfVersion {
  isLarge: boolean
}
const customVersions = new WeakMap<ServedVersion, OfVersion>()
const customDocuments = new BoundedMap<OfVersion, KeptDocument>({
  entries: 1_000,
  size: MAX_CUSTOM,
  sizeOf: (_, { length }) => length,
})
/** UTF-16 units of a document of v2 that is kept whole: twice that of a server without definitions. */
const MAX_WHOLE = 4 * 1024 * 1024

/** Custom resources from which on a document of v2 is larger than that: each has 16 Ki of text. */
const MANY_CUSTOM = 256

const versionHashes = new WeakMap<ServedVersion, string>()

/** A hash of the sources of a document, so that an index of documents builds none of them. */
async function versionHash(group: string, version: ServedVersion): Promise<string> {
  const known = versionHashes.get(version)
  if (known !== undefined) return known
  const { hash } = await hashed(identityOf(group, version))
  versionHashes.set(version, hash)
  return hash
}

/**
 * A release that writes the documents of custom resources differently counts this up: clients cache them by their hash.
 */
const EDITION = 1

/** The generation of a definition stands for its schema, which is not read for the hash. */
function identityOf(group: string, { version, resources }: ServedVersion): string {
  const entries = resources.map((entry) => {
    const { openApi, ...facts } = factsOf(entry)
    return { ...facts, ...openApi?.schemaOf }
  })
  return JSON.stringify([EDITION, group, version, entries])
}

/** @param settings those that `served` was made with */
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
    const { knownHash } = await openApiTexts()
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

  private async makeV2({ key, specs }: RemoteSpecs): Promise<OpenApiDocument | SwaggerStream> {
    const { describe } = await openApiTexts()
    const members = () => swaggerMembers(this.served, describe, this.settings, specs)
    const pieces = () => swaggerPieces(members())
    const versions = [...this.versions.values()]
    const custom = versions
      .filter(({ version }) => publishesSchemas(version))
      .flatMap(({ version }) => version.resources)
    const whole = custom.length > MANY_CUSTOM ? undefined : await joined(pieces(), MAX_WHOLE, turnOfOthers)
    if (whole !== undefined) return hashed(whole)
    const hashes = await Promise.all(versions.map(({ group, version }) => versionHash(group, version)))
    const { hash } = await hashed(JSON.stringify([info.version, this.settings, key, hashes]))
    return { hash, pieces, members }
  }

  private async custom(group: string, version: ServedVersion): Promise<OpenApiDocument | OpenApiStream> {
    const key = customVersions.get(version) ?? { isLarge: false }
    customVersions.set(version, key)
    const known = customDocuments.get(key)
    if (known !== undefined) return known
    const { describe } = await openApiTexts()
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
    const { describe } = await openApiTexts()
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

/** Kept for clients who come later: those who have it ask with its hash. */
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
