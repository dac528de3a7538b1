/**
 * The OpenAPI documents of what is served: one of v3 for every group and version (and for the fixed paths), one of v2
 * for all. Built when asked for and kept by the isolate; those of built-in versions are kept across changes of custom
 * resources.
 */
import { append } from '../api/append.ts'
import { BoundedMap } from '../api/bounded-map.ts'
import type { JsonObject } from '../api/object.ts'
import { ownValue } from '../api/own.ts'
import { escapeHtml } from '../codec/json.ts'
import type { ServedResources, ServedVersion } from '../registry/resources.ts'
import { isWholeVersion } from '../registry/resources.ts'
import { builtInTypeNames, structuralOf } from '../schema/built-in.ts'
import type { Describe } from '../schema/to-openapi.ts'
import { closureOf, kindEntry, openApiModel } from '../schema/to-openapi.ts'
import { customModels } from './custom-resources.ts'
import { fixedPaths, groupPath, groupVersionPath } from './fixed-paths.ts'
import type { OpenApiSettings, PathItem } from './operations.ts'
import { pathsOf } from './operations.ts'
import { pathsV2 } from './render-v2.ts'
import { pathsV3 } from './render-v3.ts'
import type { OpenApiTexts } from './texts.ts'
import { openApiTexts } from './texts.ts'

export interface OpenApiDocument {
  /** JSON, compact. */
  readonly text: string
  /** SHA-512 in upper-case hexadecimal: the ETag. */
  readonly hash: string
}

export interface OpenApiDocuments {
  /** `api/v1`, `apis/apps`, `apis/apps/v1`, `version` …, in alphabetical order. */
  readonly keys: readonly string[]
  hash(key: string): Promise<string>
  /** Undefined for a key that is none. */
  v3(key: string): Promise<OpenApiDocument | undefined>
  v2(): Promise<OpenApiDocument>
}

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'
const info = { title: 'Kubernetes', version: '1.36' }
const bearerToken = { type: 'apiKey', description: 'Bearer Token authentication', name: 'authorization', in: 'header' }
const bearerTokenV2 = {
  description: 'Bearer Token authentication',
  type: 'apiKey',
  name: 'authorization',
  in: 'header',
}

/** Kinds that are in every document, as kinds of its group version. */
const EVERYWHERE = ['DeleteOptions', 'WatchEvent']

const documents = new WeakMap<ServedResources, OpenApiDocuments>()
interface Kept {
  readonly of: ServedVersion | undefined
  readonly document: Promise<OpenApiDocument>
  /** UTF-16 units, once it is built. */
  readonly size: number
}

/** By key; a version of the same resources has the same document. */
const kept = new BoundedMap<string, Kept>({ entries: 500, size: 24 * 1024 * 1024, sizeOf: (_, { size }) => size })

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
  private all: Promise<OpenApiDocument> | undefined

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
    const whole = version === undefined || (!this.settings.cbor && isWholeVersion(version.group, version.version))
    const known = whole ? knownHash(key) : undefined
    return known ?? (await this.v3(key))!.hash
  }

  async v3(key: string): Promise<OpenApiDocument | undefined> {
    if (!this.keys.includes(key)) return undefined
    const version = this.versions.get(key)?.version
    const known = kept.get(key)
    if (known !== undefined && known.of === version) return known.document
    const document = this.build(key)
    kept.set(key, { of: version, document, size: 0 })
    const { text } = await document
    kept.set(key, { of: version, document, size: text.length })
    return document
  }

  v2(): Promise<OpenApiDocument> {
    return (this.all ??= openApiTexts().then((texts) =>
      hashed(JSON.stringify(swaggerOf(this.served, texts, this.settings))),
    ))
  }

  private async build(key: string): Promise<OpenApiDocument> {
    const { describe } = await openApiTexts()
    return hashed(escapeHtml(JSON.stringify(this.documentV3(key, describe))))
  }

  private documentV3(key: string, describe: Describe): JsonObject {
    const found = this.versions.get(key)
    if (found === undefined)
      return documentOf([ownValue(fixedPaths, key) ?? groupPath(key.slice('apis/'.length))], describe)
    const { group, version } = found
    const items = pathsOfVersion(group, version, describe, this.settings)
    if (isCustom(version)) return customDocument(items, version, describe)
    return documentOf(items, describe, { group, version: version.version })
  }
}

const pathsOfVersion = (
  group: string,
  version: ServedVersion,
  describe: Describe,
  settings: OpenApiSettings,
): PathItem[] => [
  ...(isCustom(version) ? [] : [groupVersionPath({ group, version: version.version }, settings)]),
  ...version.resources.flatMap((entry) => pathsOf(entry, describe, settings)),
]

const isCustom = ({ resources }: ServedVersion): boolean => resources.some(({ origin }) => origin === 'custom')

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

/** Custom resources: their own models beside those they are told with. */
function customDocument(items: readonly PathItem[], version: ServedVersion, describe: Describe): JsonObject {
  const kinds = knownGroupVersions().filter(({ group }) => !NOT_FOR_CLIENTS.has(group))
  const schemas = new Map<string, JsonObject>(
    closureOf([...modelsOf(items), `${META}.ObjectMeta`, `${META}.ListMeta`]).map((name) => {
      const everywhere = EVERYWHERE.find((kind) => name === `${META}.${kind}`)
      return [
        name,
        openApiModel(
          name,
          'v3',
          describe,
          everywhere === undefined ? undefined : kinds.map((gv) => kindEntry(gv.group, gv.version, everywhere)),
        ),
      ]
    }),
  )
  for (const entry of version.resources)
    for (const [name, schema] of customModels(entry, 'v3', describe)) schemas.set(name, schema)
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' },
    paths: pathsV3(items),
    components: { schemas: Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1))) },
  }
}

/** The models that operations name. */
function modelsOf(items: readonly PathItem[]): Set<string> {
  const models = new Set<string>()
  for (const { operations } of items)
    for (const { body, responses } of operations) {
      if (body !== undefined) models.add(body.model)
      for (const { model } of responses) if (model !== undefined) models.add(model)
    }
  return models
}

function everywhereKinds(name: string, gv?: { group: string; version: string }): JsonObject[] | undefined {
  const kind = EVERYWHERE.find((one) => name === `${META}.${one}`)
  if (kind === undefined) return undefined
  const own = kindEntry('', 'v1', kind)
  return gv === undefined || gv.group === '' ? [own] : [own, kindEntry(gv.group, gv.version, kind)]
}

function swaggerOf(served: ServedResources, { describe }: OpenApiTexts, settings: OpenApiSettings): JsonObject {
  const items = Object.values(fixedPaths)
  for (const { group, versions } of served.groups) {
    if (group !== '' && served.isBuiltInGroup(group)) items.push(groupPath(group))
    for (const version of versions.filter(({ remote }) => remote !== true)) {
      append(items, pathsOfVersion(group, version, describe, settings))
    }
  }
  const { paths, parameters } = pathsV2(items)
  const definitions = new Map(
    closureOf(modelsOf(items)).map((name) => [name, openApiModel(name, 'v2', describe, allKinds(name))]),
  )
  const entries = served.groups.flatMap(({ versions }) => versions.flatMap(({ resources }) => resources))
  for (const entry of entries)
    for (const [name, schema] of customModels(entry, 'v2', describe)) definitions.set(name, schema)
  return {
    swagger: '2.0',
    info,
    paths,
    definitions: Object.fromEntries([...definitions].sort(([a], [b]) => (a < b ? -1 : 1))),
    parameters,
    securityDefinitions: { BearerToken: bearerTokenV2 },
    security: [{ BearerToken: [] }],
  }
}

/** Every group version that Kubernetes knows has these kinds, served or not. */
function allKinds(name: string): JsonObject[] | undefined {
  const kind = EVERYWHERE.find((one) => name === `${META}.${one}`)
  if (kind === undefined) return undefined
  return knownGroupVersions().map(({ group, version }) => kindEntry(group, version, kind))
}

/** Kinds of the protocol itself: their groups are registered nowhere. */
const NOT_SERVABLE: ReadonlySet<string> = new Set(['apidiscovery.k8s.io', 'meta.k8s.io'])

/** Groups that clients' own registries do not hold. */
const NOT_FOR_CLIENTS: ReadonlySet<string> = new Set([
  'admission.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'imagepolicy.k8s.io',
])

let groupVersions: readonly { group: string; version: string }[] | undefined

function knownGroupVersions(): readonly { group: string; version: string }[] {
  if (groupVersions === undefined) {
    const seen = new Map<string, { group: string; version: string }>()
    for (const name of builtInTypeNames()) {
      const type = structuralOf(name)
      if (type.shape !== 'struct' || type.gvk === undefined || NOT_SERVABLE.has(type.gvk.group)) continue
      const { group, version } = type.gvk
      seen.set(`${group} ${version}`, { group, version })
    }
    groupVersions = [...seen].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, gv]) => gv)
  }
  return groupVersions
}

async function hashed(text: string): Promise<OpenApiDocument> {
  const digest = await crypto.subtle.digest('SHA-512', new TextEncoder().encode(text))
  return { text, hash: hexadecimal(new Uint8Array(digest)) }
}

const hexadecimal = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase()
