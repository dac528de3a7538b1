// Asks a running kube-apiserver for facts that are not in Kubernetes' source: its OpenAPI documents, the columns of its
// Tables and its initial objects. `get(path, accept)` returns parsed JSON; `accept` is a media type.
import { bootstrapResources } from '../../bootstrap/generate-bootstrap.mjs'

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'

/**
 * @param get asks a server with default flags, next to a kube-controller-manager
 * @param getAll asks a server with all APIs and feature gates enabled
 * @returns the facts by file name
 */
export async function observed(get, getAll) {
  const byDefault = await openApiOf(get, {})
  return {
    'openapi-v3.json': byDefault,
    'openapi-v3-all.json': await openApiOf(getAll, byDefault),
    'columns.json': await columnsOf(getAll),
    'bootstrap.json': await firstObjectsOf(get),
  }
}

/** The OpenAPI documents that are not in `known`, with each schema once. Parameters stay in their documents. */
async function openApiOf(get, known) {
  const { paths: index } = await get('/openapi/v3')
  const facts = { parameters: {}, hashes: {}, schemas: {}, documents: {} }
  // the core group's document comes first: in others, options and watch events have a kind of the group
  const keys = Object.keys(index).sort((a, b) => (b === 'api/v1') - (a === 'api/v1'))
  for (const key of keys) {
    if (known.documents?.[key] !== undefined) continue
    const url = index[key].serverRelativeURL
    const { openapi, info, paths, components } = await get(url)
    Object.assign(facts, { openapi, info, securitySchemes: components.securitySchemes })
    facts.hashes[key] = new URL(url, 'https://server').searchParams.get('hash')
    const { schemas } = components
    facts.documents[key] = { paths, ...(schemas === undefined ? {} : { schemas: Object.keys(schemas) }) }
    for (const [name, schema] of Object.entries(schemas ?? {}))
      if (known.schemas?.[name] === undefined) facts.schemas[name] ??= schema
  }
  return facts
}

async function columnsOf(get) {
  const columns = {}
  for (const version of await groupVersionsOf(get)) {
    const path = version.includes('/') ? `/apis/${version}` : `/api/${version}`
    const { resources } = await get(path)
    for (const { name, verbs } of resources) {
      if (name.includes('/') || !verbs.includes('list')) continue
      const { columnDefinitions } = await get(`${path}/${name}?limit=1`, TABLE)
      columns[`${version}/${name}`] = columnDefinitions
    }
  }
  return columns
}

async function groupVersionsOf(get) {
  const { versions } = await get('/api')
  const { groups } = await get('/apis')
  return [...versions, ...groups.flatMap((group) => group.versions.map(({ groupVersion }) => groupVersion))]
}

async function firstObjectsOf(get) {
  const facts = {}
  for (const resource of bootstrapResources) {
    const { apiVersion, kind, items } = await get(`/apis/${resource}`)
    facts[resource] = {}
    for (const { metadata, ...rest } of items) {
      const { name, namespace, uid, resourceVersion, creationTimestamp, managedFields, ...further } = metadata
      const object = { kind: kind.replace(/List$/, ''), apiVersion, metadata: { name, namespace, ...further }, ...rest }
      facts[resource][namespace === undefined ? name : `${namespace}/${name}`] = { object }
    }
  }
  return facts
}
