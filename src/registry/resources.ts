/**
 * The list of served resources: the built-in ones from a generated table, as the settings switch them on, and those of
 * CustomResourceDefinitions laid over them. Discovery, routing, authorization's resource names, OpenAPI and storage all
 * read this list. Table columns are in codec/table, descriptions in the OpenAPI chunk.
 */
import type { CustomResourceColumnDefinition, CustomResourceDefinition } from '../api/apiextensions/v1.ts'
import type { GroupVersion, GroupVersionKind } from '../api/group-version.ts'
import { apiVersionOf, parseApiVersion } from '../api/group-version.ts'
import { builtInGroups } from '../api/built-in-groups.ts'
import type { BuiltInGroup } from '../api/built-in-groups.ts'
import { lazy } from '../api/lazy.ts'
import type { JsonObject } from '../api/object.ts'
import { parseFeatureGates } from '../api/feature-gates.ts'
import type { Endpoint } from './endpoint.ts'
import { parseRuntimeConfig } from '../configuration/runtime-config.ts'
import { builtInServing } from './built-in-serving.ts'
import type { Serving } from './serving.ts'
import { servedResources } from './served-groups.ts'
import table from './resources-table.json' with { type: 'json' }

export interface SubresourceEntry {
  readonly name: string
  /** Of the object that it takes and answers. */
  readonly kind: string
  readonly group: string
  readonly version: string
  readonly verbs: readonly string[]
}

export interface ResourceEntry {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly singular: string
  readonly kind: string
  readonly listKind: string
  readonly namespaced: boolean
  /** In the order of discovery. */
  readonly verbs: readonly string[]
  /** Name of the OpenAPI model. */
  readonly type: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly subresources: readonly SubresourceEntry[]
  readonly serving: Serving
  /** False for kinds that are answered and not stored: reviews, Binding, ComponentStatus. */
  readonly persisted: boolean
  /**
   * Where objects are kept. Resources with the same group and resource here show the same objects (events and
   * events.k8s.io); `version` is that of the stored text.
   */
  readonly storage: { readonly group: string; readonly version: string; readonly resource: string }
  /** As in discovery; undefined for kinds that are not stored. */
  readonly storageVersionHash?: string
  /** DELETE answers the object that went instead of a Status. */
  readonly deleteAnswersObject?: boolean
  /** Labels a field selector may name. */
  readonly fieldSelectors: readonly string[]
  /** Of a custom resource: further facts that OpenAPI publishes. */
  readonly openApi?: CustomOpenApi
  /** Custom resources: the columns of their tables; absent when the version declares none. */
  readonly printerColumns?: readonly CustomResourceColumnDefinition[]
  /** Of a custom resource: the definition that its schemas are compiled from when they are first needed. */
  readonly definition?: CustomResourceDefinition
  /** The handler that serves it in place of its verbs, unless the definition of a built-in resource names one. */
  readonly endpoint?: Endpoint
  /** Text of the Warning header of every request for it, when the version is deprecated. */
  readonly deprecationWarning?: string
  /** The release, `1.N`, in which a deprecated version goes. */
  readonly removedRelease?: string
}

/** The members of an entry that are JSON: all but `serving` and `definition`. */
export const factsOf = ({ serving: _, definition: _definition, ...facts }: ResourceEntry) => facts

export interface CustomOpenApi {
  /** A schema belongs to a generation of its definition. */
  readonly schemaOf: { readonly uid: string | undefined; readonly generation: number | undefined }
  /** The version's openAPIV3Schema as in the CustomResourceDefinition; absent where it has none. */
  readonly schema?: JsonObject | undefined
  /** spec.preserveUnknownFields of the definition. */
  readonly preserveUnknownFields?: boolean
  /** jsonPaths of the version's selectableFields. */
  readonly selectableFields?: readonly string[]
}

export interface ServedVersion {
  readonly version: string
  /** Greater comes first in its group; with equal ones the order of version names decides. */
  readonly priority: number
  readonly resources: readonly ResourceEntry[]
  /** Another server serves it and cannot be reached (an APIService that is not available). */
  readonly stale?: boolean
  /** Another server, which an APIService names, serves it; this one knows none of its resources. */
  readonly remote?: boolean
  /**
   * A definition's version of a built-in group, which discovery and OpenAPI show and requests do not reach.
   * kube-apiserver looks up every path of a built-in group among the built-in resources.
   */
  readonly unreachable?: boolean
}

export interface ServedGroup {
  readonly group: string
  /** Greater comes first (groupPriorityMinimum of an APIService); with equal ones the name decides. */
  readonly priority: number
  /** In the order of preference: the first is the preferred one. Never empty. */
  readonly versions: readonly ServedVersion[]
}

export interface ServedResources {
  /** In the order of discovery. All definitions are read for it. */
  readonly groups: readonly ServedGroup[]
  /** Reads all definitions, a few at a time, so that other requests need not wait. `groups` costs little afterwards. */
  read(turn?: () => Promise<void>): Promise<void>
  /** Computed on each use. With a thousand definitions it is long. */
  readonly resources: readonly ResourceEntry[]
  inGroup(name: string): readonly ResourceEntry[]
  group(name: string): ServedGroup | undefined
  version(group: string, version: string): ServedVersion | undefined
  find(group: string, version: string, resource: string): ResourceEntry | undefined
  findKind(kind: GroupVersionKind): ResourceEntry | undefined
  isServedGroupVersion(group: string, version: string): boolean
  /**
   * Whether this server has built-in resources in the group. An unknown path is answered with a Status there, else with
   * text.
   */
  isBuiltInGroup(group: string): boolean
}

/** Settings that choose the served resources. Absent: the default server. */
export interface ServedSettings {
  readonly runtimeConfig?: string
  readonly featureGates?: string
}

/** A group of custom resources (autoregistered APIServices of CRDs have priority 1000 and versions 100). */
export const CUSTOM_GROUP_PRIORITY = 1000
export const CUSTOM_VERSION_PRIORITY = 100

const ALL_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

/** A line of the table. A missing member has the value that most resources have. */
interface ResourceRow {
  readonly group?: string
  readonly version?: string
  readonly resource: string
  readonly kind: string
  readonly cluster?: boolean
  readonly verbs?: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly subresources?: readonly {
    readonly name: string
    readonly kind?: string
    readonly apiVersion?: string
    readonly verbs: readonly string[]
  }[]
  readonly virtual?: boolean
  readonly deleted?: boolean
  readonly stored?: string
  readonly hash?: string
  readonly selectors?: readonly string[]
  readonly namespaceSelector?: boolean
  readonly gate?: string
  readonly deprecated?: { readonly deprecated: string; readonly removed?: string; readonly replacement?: string }
}

/** The resources of each built-in version. */
const resourceRows = lazy(() =>
  Map.groupBy<string, ResourceRow>(table.resources, ({ group = '', version = 'v1' }) => `${group}/${version}`),
)
const rowsOf = (group: string, version: string): readonly ResourceRow[] =>
  resourceRows().get(`${group}/${version}`) ?? []

/** The release of this API. Versions that were deprecated by then get a warning. */
const MINOR_RELEASE = 36

/** @throws Error when a setting cannot be read */
export function builtInResources(settings: ServedSettings = {}): ServedResources {
  const gates = parseFeatureGates(settings.featureGates)
  const config = parseRuntimeConfig(settings.runtimeConfig)
  const groups: ServedGroup[] = []
  for (const row of builtInGroups) {
    const versions: ServedVersion[] = []
    for (const { version, priority } of row.versions) {
      const resources = rowsOf(row.group, version)
        .filter((one) => one.gate === undefined || gates.enabled(one.gate))
        .filter((one) => config.enabled(row.group, version, one.resource))
        .map((one) => entryOf(one, row, version))
      if (resources.length > 0) versions.push({ version, priority: priority ?? 0, resources })
    }
    if (versions.length > 0) groups.push({ group: row.group, priority: row.priority, versions })
  }
  const byName = new Map(groups.map((group) => [group.group, group]))
  return servedResources({
    group: (name) => byName.get(name),
    isBuiltInGroup: (name) => byName.has(name),
    all: () => groups,
  })
}

/** Whether nothing of a built-in version is switched off. */
export const isWholeVersion = (group: string, { version, resources }: ServedVersion): boolean =>
  resources.length === rowsOf(group, version).length

function entryOf(row: ResourceRow, group: BuiltInGroup, version: string): ResourceEntry {
  const gv = { group: group.group, version }
  const stored = row.stored === undefined ? gv : groupVersionOf(row.stored)
  return {
    ...gv,
    resource: row.resource,
    singular: row.kind.toLowerCase(),
    kind: row.kind,
    listKind: `${row.kind}List`,
    namespaced: row.cluster !== true,
    verbs: row.verbs ?? ALL_VERBS,
    type: `${group.package}.${version}.${row.kind}`,
    shortNames: row.shortNames ?? [],
    categories: row.categories ?? [],
    subresources: (row.subresources ?? []).map(({ name, kind, apiVersion, verbs }) => ({
      name,
      kind: kind ?? row.kind,
      ...(apiVersion === undefined ? gv : groupVersionOf(apiVersion)),
      verbs,
    })),
    serving: builtInServing,
    persisted: row.virtual !== true,
    storage: { ...stored, resource: row.resource },
    ...(row.hash === undefined ? {} : { storageVersionHash: row.hash }),
    ...(row.deleted === true ? { deleteAnswersObject: true } : {}),
    fieldSelectors: [
      'metadata.name',
      ...(row.namespaceSelector === false ? [] : ['metadata.namespace']),
      ...(row.selectors ?? []),
    ],
    ...deprecationOf(row, gv),
  }
}

function deprecationOf(
  row: ResourceRow,
  gv: GroupVersion,
): Pick<ResourceEntry, 'deprecationWarning' | 'removedRelease'> {
  if (row.deprecated === undefined || minorOf(row.deprecated.deprecated) > MINOR_RELEASE) return {}
  const { deprecated, removed, replacement } = row.deprecated
  let text = `${apiVersionOf(gv)} ${row.kind} is deprecated in v${deprecated}+`
  if (removed !== undefined) text += `, unavailable in v${removed}+`
  if (replacement !== undefined) {
    const [group = '', version = '', kind = ''] = replacement.split(',')
    text += `; use ${apiVersionOf({ group, version })} ${kind}`
  }
  return { deprecationWarning: text, ...(removed === undefined ? {} : { removedRelease: removed }) }
}

const minorOf = (release: string): number => Number(release.split('.')[1])

function groupVersionOf(apiVersion: string): GroupVersion {
  const parsed = parseApiVersion(apiVersion)
  if (parsed === undefined) throw new Error(`assertion failed: ${apiVersion} in the table of resources`)
  return parsed
}
