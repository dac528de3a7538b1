/**
 * The list of served resources. A generated table has the built-in ones, and settings switch them on or off. Those of
 * CustomResourceDefinitions are added to them. Discovery, routing, RBAC's resource names, OpenAPI and storage all read
 * this list. Table columns are in codec/table, descriptions in the OpenAPI chunk.
 */
import type { CustomResourceColumnDefinition, CustomResourceDefinition } from '../../api/apiextensions/v1.ts'
import type { GroupVersion, GroupVersionKind } from '../../api/group-version.ts'
import { apiVersionOf, parseApiVersion } from '../../api/group-version.ts'
import { builtInGroups } from '../../api/built-in-groups.ts'
import type { BuiltInGroup } from '../../api/built-in-groups.ts'
import { lazy } from '../../base/lazy.ts'
import type { JsonObject } from '../../api/object.ts'
import { parseFeatureGates } from '../../api/feature-gates.ts'
import type { Endpoint } from '../endpoint.ts'
import { parseRuntimeConfig } from '../../configuration/runtime-config.ts'
import { builtInServing } from './built-in-serving.ts'
import type { Serving } from './serving.ts'
import { servedResources } from './served-groups.ts'
import table from '../resources-table.json' with { type: 'json' }

export interface SubresourceEntry {
  readonly name: string
  /** The kind of the objects that the subresource reads and answers. */
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
  /** False for kinds that the server answers and does not store: reviews, Binding, ComponentStatus. */
  readonly persisted: boolean
  /**
   * Where storage keeps the objects. Two resources with the same group and resource here share their objects (events
   * and events.k8s.io). `version` is that of the stored text.
   */
  readonly storage: { readonly group: string; readonly version: string; readonly resource: string }
  /** The hash in discovery. Undefined for kinds that are not stored. */
  readonly storageVersionHash?: string
  /** DELETE answers the deleted object instead of a Status. */
  readonly deleteAnswersObject?: boolean
  /** Labels that a field selector may name. */
  readonly fieldSelectors: readonly string[]
  /** For a custom resource: further facts that OpenAPI publishes. */
  readonly openApi?: CustomOpenApi
  /** For a custom resource: the columns of its tables. Absent if the version declares none. */
  readonly printerColumns?: readonly CustomResourceColumnDefinition[]
  /** For a custom resource: the definition. The server compiles its schemas on first use. */
  readonly definition?: CustomResourceDefinition
  /** The handler that serves it in place of its verbs, unless the definition of a built-in resource names one. */
  readonly endpoint?: Endpoint
  /** For a deprecated version: the text of the Warning header of every answer. */
  readonly deprecationWarning?: string
  /** The release `1.N` that removes a deprecated version. */
  readonly removedRelease?: string
}

/** The JSON members of an entry: all but `serving` and `definition`. */
export const factsOf = ({ serving: _, definition: _definition, ...facts }: ResourceEntry) => facts

export interface CustomOpenApi {
  /** Identifies the schema: the UID of the definition, and its generation at a revision. */
  readonly schemaOf: {
    readonly uid: string | undefined
    readonly generation: number | bigint | undefined
    readonly revision?: string | undefined
  }
  /** The version's openAPIV3Schema as in the CustomResourceDefinition. Absent if the version has none. */
  readonly schema?: JsonObject | undefined
  /** spec.preserveUnknownFields of the definition. */
  readonly preserveUnknownFields?: boolean
  /** jsonPaths of the version's selectableFields. */
  readonly selectableFields?: readonly string[]
}

export interface ServedVersion {
  readonly version: string
  /** The highest version is the first of its group. If two are equal, the order of version names decides. */
  readonly priority: number
  readonly resources: readonly ResourceEntry[]
  /** The server behind the APIService of this version is not available. */
  readonly stale?: boolean
  /** Another server, which an APIService names, serves the version. This server knows none of its resources. */
  readonly remote?: boolean
  /**
   * A definition added this version to a built-in group. Discovery and OpenAPI show it, but requests do not reach it:
   * kube-apiserver looks up every path of a built-in group among the built-in resources.
   */
  readonly unreachable?: boolean
}

export interface ServedGroup {
  readonly group: string
  /** The highest group comes first (groupPriorityMinimum of an APIService). If two are equal, the name decides. */
  readonly priority: number
  /** In the order of preference: the first is the preferred one. Never empty. */
  readonly versions: readonly ServedVersion[]
}

export interface ServedResources {
  /** In the order of discovery. This getter reads all definitions. */
  readonly groups: readonly ServedGroup[]
  /** Reads all definitions, a few at a time, so that other requests need not wait. `groups` costs little afterwards. */
  read(turn?: () => Promise<void>): Promise<void>
  /** Reads one group's definitions in steps, if they are long. Undefined if there is nothing to read. */
  reading(group: string): Promise<void> | undefined
  /** Computed on each use. With a thousand definitions this takes long. */
  readonly resources: readonly ResourceEntry[]
  inGroup(name: string): readonly ResourceEntry[]
  group(name: string): ServedGroup | undefined
  version(group: string, version: string): ServedVersion | undefined
  find(group: string, version: string, resource: string): ResourceEntry | undefined
  findKind(kind: GroupVersionKind): ResourceEntry | undefined
  isServedGroupVersion(group: string, version: string): boolean
  /**
   * Whether this server has built-in resources in the group. It answers an unknown path there with a Status, elsewhere
   * with plain text.
   */
  isBuiltInGroup(group: string): boolean
}

/** Settings that choose the served resources. An absent one has its default. */
export interface ServedSettings {
  readonly runtimeConfig?: string
  readonly featureGates?: string
}

/**
 * The priority of a group of custom resources. (kube-apiserver registers APIServices for CRDs with group priority 1000
 * and version priority 100.)
 */
export const CUSTOM_GROUP_PRIORITY = 1000
export const CUSTOM_VERSION_PRIORITY = 100

const ALL_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

/** A record of the table. A missing member has the value that most resources have. */
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

/** The records of each built-in version. */
const resourceRows = lazy(() =>
  Map.groupBy<string, ResourceRow>(table.resources, ({ group = '', version = 'v1' }) => `${group}/${version}`),
)
const rowsOf = (group: string, version: string): readonly ResourceRow[] =>
  resourceRows().get(`${group}/${version}`) ?? []

/** The minor release of this API. Versions that are deprecated in it cause a warning. */
const MINOR_RELEASE = 36

/** @throws Error if a setting is invalid */
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

/** Whether the settings switch off nothing of a built-in version. */
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
