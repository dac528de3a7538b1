// Makes the facts about groups and resources (resources.json) from k8s.io/kubernetes: the discovery documents of a
// release with all APIs enabled (api/discovery), and the priorities of its groups. Kubernetes does not publish
// selectable fields: a resource keeps those of the table, and a new one has the two that every resource has.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const read = (file) => JSON.parse(readFileSync(file, 'utf8'))
const apiVersion = (group, version) => (group === '' ? version : `${group}/${version}`)

/** The files with the priorities of group versions. That of kube-apiserver wins. */
const PRIORITIES = ['cmd/kube-apiserver/app/aggregator.go', 'pkg/controlplane/apiserver/aggregator.go']
/** apiregistration.k8s.io comes first. It has no APIService. */
const FIRST = { group: 'apiregistration.k8s.io', priority: 20001 }

/**
 * @param kubernetes directory of k8s.io/kubernetes @param kinds model name by `group/version/kind`
 * @param table the committed resources-table.json
 */
export function resourcesOf(kubernetes, kinds, table) {
  const discovery = join(kubernetes, 'api', 'discovery')
  const priorities = prioritiesIn(kubernetes)
  const selectors = new Map(
    table.resources.map((row) => [`${row.group ?? ''}/${row.version ?? 'v1'}/${row.resource}`, selectorsOf(row)]),
  )
  const { groups: published } = read(join(discovery, 'apis.json'))
  const groups = [{ name: '', versions: [{ version: 'v1' }] }, ...published].map(({ name, versions }) => ({
    group: name,
    versions: versions.map(({ version }) => version),
    groupPriorityMinimum:
      name === FIRST.group ? FIRST.priority : priorities.get(apiVersion(name, versions[0].version))?.group,
    versionPriorities:
      name === FIRST.group
        ? undefined
        : Object.fromEntries(
            versions.map(({ version }) => [version, priorities.get(apiVersion(name, version))?.version]),
          ),
  }))
  const resources = groups.flatMap(({ group, versions }) =>
    versions.flatMap((version) => resourcesIn(discovery, { group, version, versions }, kinds, selectors)),
  )
  // resources have the order of the table, which is that of discovery; new ones follow
  const place = ({ group, version, resource }) => {
    const index = [...selectors.keys()].indexOf(`${group}/${version}/${resource}`)
    return index < 0 ? selectors.size : index
  }
  return { groups, resources: resources.sort((a, b) => place(a) - place(b)) }
}

function resourcesIn(discovery, { group, version, versions }, kinds, selectors) {
  const file = join(discovery, group === '' ? `api__${version}.json` : `apis__${group}__${version}.json`)
  if (!existsSync(file)) throw new Error(`${file}: not published`)
  const { resources } = read(file)
  return resources
    .filter(({ name }) => !name.includes('/'))
    .map((resource) => {
      const { name, kind, verbs, storageVersionHash } = resource
      const persisted = storageVersionHash !== undefined
      const key = `${group}/${version}/${name}`
      return {
        group,
        version,
        resource: name,
        kind,
        namespaced: resource.namespaced,
        verbs,
        type: kinds.get(`${group}/${version}/${kind}`),
        shortNames: resource.shortNames ?? [],
        categories: resource.categories ?? [],
        subresources: resources
          .filter((one) => one.name.startsWith(`${name}/`))
          .map((one) => ({
            name: one.name.slice(name.length + 1),
            kind: one.kind,
            verbs: one.verbs,
            group: one.group ?? group,
            version: one.version ?? version,
          })),
        persisted,
        ...(persisted
          ? { storageVersion: storageVersionOf(group, versions, kind, storageVersionHash), storageVersionHash }
          : {}),
        fieldSelectors: verbs.includes('list')
          ? (selectors.get(key) ?? ['metadata.name', 'metadata.namespace'])
          : undefined,
        isNew: selectors.has(key) ? undefined : true,
      }
    })
}

/** Finds the version with this hash. Kubernetes stores Events in the core group's version. */
function storageVersionOf(group, versions, kind, hash) {
  const candidates = [...versions, 'v1', 'v1beta1', 'v1alpha1'].map((version) => apiVersion(group, version))
  const isOf = (version) => {
    const [g, v] = version.includes('/') ? version.split('/') : ['', version]
    return createHash('sha256').update(`${g}/${v}/${kind}`).digest().subarray(0, 8).toString('base64') === hash
  }
  const found = [...candidates, 'v1'].find(isOf)
  if (found === undefined) throw new Error(`${group} ${kind}: of which version is the hash ${hash}?`)
  return found
}

function prioritiesIn(kubernetes) {
  const priorities = new Map()
  for (const file of PRIORITIES) {
    const text = readFileSync(join(kubernetes, file), 'utf8')
    const row = /\{Group: "([^"]*)", Version: "(\w+)"\}:\s*\{Group: (\d+), Version: (\d+)\}/g
    for (const [, group, version, ofGroup, ofVersion] of text.matchAll(row)) {
      const key = apiVersion(group, version)
      if (!priorities.has(key)) priorities.set(key, { group: Number(ofGroup), version: Number(ofVersion) })
    }
  }
  return priorities
}

function selectorsOf({ selectors = [], namespaceSelector }) {
  return ['metadata.name', ...(namespaceSelector === false ? [] : ['metadata.namespace']), ...selectors]
}
