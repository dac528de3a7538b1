/**
 * Generates groups-table.json and resources-table.json: the built-in groups and resources, one record a line, without
 * values that most have in common. built-in-groups.ts and resources.ts say what a missing member means.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ALL_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

/** Deprecations that Kubernetes declares in code instead of tags (core/v1 lifecycle.go). */
const CODED_DEPRECATIONS = {
  '/v1/componentstatuses': { deprecated: '1.19' },
  '/v1/endpoints': { deprecated: '1.33', replacement: 'discovery.k8s.io,v1,EndpointSlice' },
}

/** Resources that need a feature gate and an enabled version. */
const GATES = {
  'certificates.k8s.io/clustertrustbundles': 'ClusterTrustBundle',
  'certificates.k8s.io/podcertificaterequests': 'PodCertificateRequest',
  'scheduling.k8s.io/workloads': 'GenericWorkload',
  'scheduling.k8s.io/podgroups': 'GenericWorkload',
  'storagemigration.k8s.io/storageversionmigrations': 'StorageVersionMigrator',
}

/** DELETE of these resources answers the deleted object. So do all resources of resource.k8s.io. */
const DELETE_ANSWERS_OBJECT = new Set([
  '/persistentvolumeclaims',
  '/persistentvolumes',
  '/pods',
  '/podtemplates',
  '/resourcequotas',
  '/serviceaccounts',
  '/services',
  'storage.k8s.io/csidrivers',
  'storage.k8s.io/csinodes',
  'storage.k8s.io/storageclasses',
  'storage.k8s.io/volumeattachments',
  'storage.k8s.io/volumeattributesclasses',
])

/**
 * Kubernetes deprecates a beta or alpha version after this number of releases, and removes it after the same number
 * again.
 */
const RELEASES = 3

const later = (release) => release.replace(/\d+$/, (minor) => Number(minor) + RELEASES)

/**
 * Computes the releases of deprecation and removal for beta and alpha versions that declare none. Stable versions have
 * none.
 */
function deprecationOf(version, { introduced, ...declared }) {
  if (/^v\d+$/.test(version) || introduced === undefined) return declared
  const deprecated = declared.deprecated ?? later(introduced)
  return { deprecated, removed: declared.removed ?? later(deprecated), replacement: declared.replacement }
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b)
const apiVersion = (group, version) => (group === '' ? version : `${group}/${version}`)
const filled = (list) => (list?.length > 0 ? list : undefined)

function groupRow({ group, versions, groupPriorityMinimum, versionPriorities }, resources) {
  const one = resources.find((resource) => resource.group === group)
  const suffix = `.${one.version}.${one.kind}`
  return {
    group,
    priority: groupPriorityMinimum,
    package: one.type.slice(0, -suffix.length),
    versions: versions.map((version) => ({ version, priority: versionPriorities?.[version] })),
  }
}

function subresourceRow(resource, { name, kind, group, version, verbs }) {
  return {
    name,
    kind: kind === resource.kind ? undefined : kind,
    apiVersion: group === resource.group && version === resource.version ? undefined : apiVersion(group, version),
    verbs,
  }
}

function resourceRow(resource, lifecycle, knownVersions) {
  const { group, version } = resource
  const key = `${group}/${version}/${resource.resource}`
  // if no served version is the storage version, discovery shows only its hash
  const stored = resource.persisted && knownVersions.has(resource.storageVersion) ? resource.storageVersion : undefined
  const selectors = resource.fieldSelectors ?? []
  const { deprecated, removed, replacement } = CODED_DEPRECATIONS[key] ?? deprecationOf(version, lifecycle ?? {})
  return {
    group: group === '' ? undefined : group,
    version: version === 'v1' ? undefined : version,
    resource: resource.resource,
    kind: resource.kind,
    cluster: resource.namespaced ? undefined : true,
    verbs: same(resource.verbs, ALL_VERBS) ? undefined : resource.verbs,
    shortNames: filled(resource.shortNames),
    categories: filled(resource.categories),
    subresources: filled(resource.subresources.map((subresource) => subresourceRow(resource, subresource))),
    virtual: resource.persisted ? undefined : true,
    deleted:
      group === 'resource.k8s.io' || DELETE_ANSWERS_OBJECT.has(`${group}/${resource.resource}`) ? true : undefined,
    stored: stored === apiVersion(group, version) ? undefined : stored,
    hash: resource.storageVersionHash,
    selectors: filled(selectors.filter((label) => !label.startsWith('metadata.'))),
    namespaceSelector: selectors.includes('metadata.namespace') || selectors.length === 0 ? undefined : false,
    gate: GATES[`${group}/${resource.resource}`],
    deprecated: deprecated === undefined ? undefined : { deprecated, removed, replacement },
  }
}

const lines = (rows) => rows.map((row) => `    ${JSON.stringify(row)}`).join(',\n')

const table = (name, rows) => `{\n  "${name}": [\n${lines(rows)}\n  ]\n}\n`

/** @param facts {resources}: the parsed resources.json of the facts */
export const groupsTable = ({ resources: { groups, resources } }) =>
  table(
    'groups',
    groups.map((group) => groupRow(group, resources)),
  )

/** @param facts {resources, types}: the parsed resources.json and types.json of the facts */
export function resourcesTable({ resources: { resources }, types: { types } }) {
  const lifecycles = new Map(types.map(({ name, lifecycle }) => [name, lifecycle]))
  const knownVersions = new Set(resources.map(({ group, version }) => apiVersion(group, version)))
  return table(
    'resources',
    resources.map((resource) => resourceRow(resource, lifecycles.get(resource.type), knownVersions)),
  )
}

/** Stage and default of every feature gate, as `stage[0] + (on ? '+' : '-')`: `B+` is beta and on. */
export const featureGatesTable = (gates) =>
  `{\n${Object.entries(gates)
    .map(([name, gate]) => `  "${name}": "${gate.stage[0]}${gate.default ? '+' : '-'}"`)
    .join(',\n')}\n}\n`

/** Facts that an earlier version of this program wrote have no rules of gates. The table then stays as it is. */
const hasRules = (gates) => Object.values(gates).some(({ locked }) => locked)

/** Which feature gates keep their default, and which can only be on while others are. */
export const featureGateRulesTable = (gates) => {
  const rows = Object.entries(gates)
  return `${JSON.stringify(
    {
      locked: rows.filter(([, { locked }]) => locked).map(([name]) => name),
      needs: Object.fromEntries(rows.flatMap(([name, { needs }]) => (needs === undefined ? [] : [[name, needs]]))),
    },
    undefined,
    2,
  )}\n`
}

/** Writes the tables below `out`. With `check` it only compares. Returns the paths that differ. */
export function generateResources(facts, out, { check = false } = {}) {
  const different = []
  for (const [file, text] of [
    ['../api/groups-table.json', groupsTable(facts)],
    ['resources-table.json', resourcesTable(facts)],
    ['../api/feature-gates-table.json', featureGatesTable(facts.featureGates)],
    ...(hasRules(facts.featureGates)
      ? [['../api/feature-gate-rules-table.json', featureGateRulesTable(facts.featureGates)]]
      : []),
  ]) {
    const path = join(out, file)
    if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
    different.push(path)
    if (!check) writeFileSync(path, text)
  }
  return different
}
