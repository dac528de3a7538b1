// openapi-v3.json → texts-table.json: what cannot be derived from the schema of the built-in types: the descriptions of
// models, fields and parameters (texts of Kubernetes, see LICENSE.kubernetes), each text once, and the hashes of
// the documents as a default server and one with everything on publish them.
//
//   {"notice", "texts": [text…], "models": {MODEL: [text of the model or -1, "field:text field:text…"]},
//    "hashes": {DOCUMENT: SHA-512}}
//
// Parameters are listed as the fields of the options type they are read into.
import { createHash } from 'node:crypto'

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'
const CORE = 'io.k8s.api.core.v1'
const optionsOfAction = {
  list: `${META}.ListOptions`,
  post: `${META}.CreateOptions`,
  put: `${META}.UpdateOptions`,
  patch: `${META}.PatchOptions`,
  delete: `${META}.DeleteOptions`,
}

/** The document of a key, put together again as the facts say. */
export function documentOf(key, facts) {
  const { paths, schemas: names } = facts.documents[key]
  const [, group, version] = /^apis\/([^/]+)\/([^/]+)$/.exec(key) ?? []
  const schemaOf = (name) => {
    const schema = facts.schemas[name]
    const kind = name.slice(name.lastIndexOf('.') + 1)
    const everywhere = name.startsWith(META) && (kind === 'DeleteOptions' || kind === 'WatchEvent')
    if (group === undefined || !everywhere) return schema
    const kinds = [...schema['x-kubernetes-group-version-kind'], { group, kind, version }]
    return { ...schema, 'x-kubernetes-group-version-kind': kinds }
  }
  const withParameters = (value, key) => {
    if (Array.isArray(value))
      return value.map((one) =>
        key === 'parameters' && typeof one === 'string' ? facts.parameters[one] : withParameters(one),
      )
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withParameters(one, name)]))
  }
  return {
    openapi: facts.openapi,
    info: facts.info,
    paths: withParameters(paths),
    components: {
      ...(names === undefined ? {} : { schemas: Object.fromEntries(names.map((name) => [name, schemaOf(name)])) }),
      securitySchemes: facts.securitySchemes,
    },
  }
}

const escapes = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026' }
const hashOf = (document) =>
  createHash('sha512')
    .update(JSON.stringify(document).replace(/[<>&]/g, (character) => escapes[character]))
    .digest('hex')
    .toUpperCase()

/** @param byDefault, everything: parsed openapi-v3.json and openapi-v3-all.json */
export function textsTable(byDefault, everything) {
  const facts = {
    ...byDefault,
    documents: { ...byDefault.documents, ...everything.documents },
    schemas: { ...byDefault.schemas, ...everything.schemas },
    parameters: { ...byDefault.parameters, ...everything.parameters },
  }
  const texts = new Map()
  const indexOf = (text) => {
    if (!texts.has(text)) texts.set(text, texts.size)
    return texts.get(text)
  }
  const models = new Map()
  const add = (model, field, text) => {
    if (text === undefined) return
    if (!models.has(model)) models.set(model, new Map())
    models.get(model).set(field, indexOf(text))
  }
  for (const [model, schema] of Object.entries(facts.schemas).sort(([a], [b]) => (a < b ? -1 : 1))) {
    add(model, '', schema.description)
    for (const [field, property] of Object.entries(schema.properties ?? {})) add(model, field, property.description)
  }

  const hashes = {}
  for (const key of Object.keys(facts.documents).sort()) {
    const document = documentOf(key, facts)
    hashes[key] = hashOf(document)
    if (byDefault.hashes[key] !== undefined && byDefault.hashes[key] !== hashes[key])
      throw new Error(`${key}: the facts give another hash than they state`)
    for (const { parameters = [], ...operations } of Object.values(document.paths)) {
      for (const operation of Object.values(operations)) {
        const options = optionsOf(operation)
        if (operation['x-kubernetes-action'] === 'deletecollection') continue // those of delete and list
        for (const { name, description, in: place } of [...parameters, ...(operation.parameters ?? [])])
          if (name !== 'name' && !description.startsWith('name of the'))
            add(place === 'path' || name === 'pretty' ? 'path' : options, name, description)
      }
    }
  }
  const rows = [...models].map(([model, fields]) => {
    const { '': own = -1, ...rest } = Object.fromEntries(fields)
    const words = Object.entries(rest).map(([field, text]) => `${field}:${text}`)
    return `${JSON.stringify(model)}:${JSON.stringify([own, words.join(' ')])}`
  })
  return [
    '{"notice":"Texts of the Kubernetes API. Copyright The Kubernetes Authors. Apache License 2.0, see LICENSE.kubernetes.",',
    `"texts":[\n${[...texts.keys()].map((text) => JSON.stringify(text)).join(',\n')}\n],`,
    `"models":{\n${rows.join(',\n')}\n},`,
    `"hashes":{\n${Object.entries(hashes)
      .map(([key, hash]) => `${JSON.stringify(key)}:${JSON.stringify(hash)}`)
      .join(',\n')}\n}}\n`,
  ].join('\n')
}

function optionsOf(operation) {
  const action = operation['x-kubernetes-action']
  const { kind } = operation['x-kubernetes-group-version-kind'] ?? {}
  if (action === 'connect') return `${CORE}.${kind}`
  if (operation.operationId?.endsWith('PodLog')) return `${CORE}.PodLogOptions`
  return optionsOfAction[action] ?? optionsOfAction.list
}
