// Facts that no source tells: a running kube-apiserver is asked for its OpenAPI documents, the columns of its tables and
// the objects that it begins with. `get(path, accept)` answers with parsed JSON; `accept` is a media type.
import { bootstrapResources } from '../../bootstrap/generate-bootstrap.mjs'

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'

/**
 * @param get of a server as it starts by default, a kube-controller-manager beside it
 * @param getAll of one with every API and feature gate on
 * @returns by the name of the file
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

/** The documents that are not known yet, each schema once. Parameters stay where they are. */
async function openApiOf(get, known) {
  const { paths: index } = await get('/openapi/v3')
  const facts = { parameters: {}, hashes: {}, schemas: {}, documents: {} }
  // that of the core group first: in the others, options and watch events have a kind of their own
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
