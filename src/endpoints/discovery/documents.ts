/** Makes the discovery documents from the served resources. Keys have the order of kube-apiserver. */
import type { Json, JsonObject } from '../../api/object.ts'
import { apiVersionOf } from '../../api/group-version.ts'
import type { Steps } from '../../base/slices.ts'
import type { RemoteDiscovery } from '../aggregation/remote-discovery.ts'
import type {
  ResourceEntry,
  ServedGroup,
  ServedResources,
  ServedVersion,
  SubresourceEntry,
} from '../../registry/served/resources.ts'

/**
 * `/api`.
 * @param serverAddress host and port for clients
 */
export const apiVersions = (served: ServedResources, serverAddress: string): JsonObject => ({
  kind: 'APIVersions',
  versions: (served.group('')?.versions ?? []).map(({ version }) => version),
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
})

/** `/apis`, where kube-apiserver sorts groups of one priority by the names of their APIServices. */
export const apiGroupList = (served: ServedResources): JsonObject => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: namedGroups(served)
    .map((group) => ({ group, service: firstService(group) }))
    .sort((a, b) => b.group.priority - a.group.priority || (a.service < b.service ? -1 : 1))
    .map(({ group }) => groupEntry(group)),
})

/** `v1.GROUP`, which comes before `v1alpha1.ANOTHER`. */
const firstService = ({ group, versions }: ServedGroup): string =>
  versions.map(({ version }) => `${version}.${group}`).reduce((first, name) => (name < first ? name : first))

/** `/apis/GROUP` */
export const apiGroup = (group: ServedGroup): JsonObject => ({
  kind: 'APIGroup',
  apiVersion: 'v1',
  ...groupEntry(group),
})

/** All groups except the core group, by priority. */
const namedGroups = (served: ServedResources): ServedGroup[] => served.groups.filter(({ group }) => group !== '')

function groupEntry({ group, versions }: ServedGroup): JsonObject {
  const entries = versions.map(({ version }) => ({ groupVersion: apiVersionOf({ group, version }), version }))
  return { name: group, versions: entries, preferredVersion: entries[0]! }
}

/** `/api/v1` or `/apis/GROUP/VERSION`. The core group's list has no apiVersion. */
export const apiResourceList = (group: string, { version, resources }: ServedVersion): JsonObject => ({
  kind: 'APIResourceList',
  ...(group === '' ? {} : { apiVersion: 'v1' }),
  groupVersion: apiVersionOf({ group, version }),
  resources: resources.flatMap((entry) => [
    resourceEntry(entry),
    ...entry.subresources.map((subresource) => subresourceEntry(entry, subresource)),
  ]),
})

const resourceEntry = (entry: ResourceEntry): JsonObject => ({
  name: entry.resource,
  singularName: entry.singular,
  namespaced: entry.namespaced,
  kind: entry.kind,
  verbs: [...entry.verbs],
  ...(entry.shortNames.length === 0 ? {} : { shortNames: [...entry.shortNames] }),
  ...(entry.categories.length === 0 ? {} : { categories: [...entry.categories] }),
  ...(entry.storageVersionHash === undefined ? {} : { storageVersionHash: entry.storageVersionHash }),
})

function subresourceEntry(entry: ResourceEntry, { name, group, version, kind, verbs }: SubresourceEntry): JsonObject {
  const foreign = group !== entry.group || version !== entry.version
  return {
    name: `${entry.resource}/${name}`,
    singularName: '',
    namespaced: entry.namespaced,
    ...(foreign ? { group, version } : {}),
    kind,
    verbs: [...verbs],
  }
}

/** Resources that one step of an aggregated document describes. */
const DESCRIBED = 1024

/** apidiscovery.k8s.io/v2: everything below `/api` or `/apis` in one document. In steps: a group may be very large. */
export function* aggregatedDiscovery(
  served: ServedResources,
  prefix: 'api' | 'apis',
  remote: RemoteDiscovery['versions'] = new Map(),
): Steps<JsonObject> {
  const groups = prefix === 'api' ? served.groups.filter(({ group }) => group === '') : namedGroups(served)
  const items: Json[] = []
  let described = 0
  for (const { group, versions } of groups) {
    const ofGroup: Json[] = []
    for (const version of versions) {
      ofGroup.push(aggregatedVersion(group, version, remote))
      described += 1 + version.resources.length
      if (described < DESCRIBED) continue
      yield
      described = 0
    }
    items.push({ metadata: group === '' ? {} : { name: group }, versions: ofGroup })
  }
  return { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items }
}

function aggregatedVersion(group: string, served: ServedVersion, remote: RemoteDiscovery['versions']): JsonObject {
  const said = served.remote === true ? remote.get(`${group}/${served.version}`) : undefined
  const resources = said?.resources ?? served.resources.map(aggregatedResource)
  const isCurrent = said?.isCurrent ?? served.stale !== true
  return {
    version: served.version,
    ...(resources.length === 0 ? {} : { resources: [...resources] }),
    freshness: isCurrent ? 'Current' : 'Stale',
  }
}

function aggregatedResource(entry: ResourceEntry): Json {
  return {
    resource: entry.resource,
    responseKind: responseKind(entry, entry),
    scope: entry.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: entry.singular,
    verbs: [...entry.verbs],
    ...(entry.shortNames.length === 0 ? {} : { shortNames: [...entry.shortNames] }),
    ...(entry.categories.length === 0 ? {} : { categories: [...entry.categories] }),
    ...(entry.subresources.length === 0
      ? {}
      : {
          subresources: entry.subresources.map((subresource) => ({
            subresource: subresource.name,
            responseKind: responseKind(entry, subresource),
            verbs: [...subresource.verbs],
          })),
        }),
  }
}

function responseKind(
  entry: ResourceEntry,
  { group, version, kind }: { readonly group: string; readonly version: string; readonly kind: string },
): JsonObject {
  const own = !entry.serving.namesOwnVersion && group === entry.group && version === entry.version
  return own ? { group: '', version: '', kind } : { group, version, kind }
}
