/** How apiserver's installer serves built-in resources (pkg/endpoints/installer.go). */
import { ownValue } from '../../base/own.ts'
import { badRequest, madeBy, methodNotAllowed, methodNotSupported } from '../../api/status.ts'
import type { RequestInfo } from '../../request/request-info.ts'
import type { ResourceEntry } from './resources.ts'
import type { OperationDialect, Serving, Verb } from './serving.ts'
import { verbOf } from './serving.ts'

type Place = 'collection' | 'everywhere' | 'item' | 'subresource' | 'proxy' | 'watched' | 'nowhere'

/** `everywhere` is a namespaced resource in all namespaces. `watched` is a path below the deprecated prefix /watch/. */
function placeOf(entry: ResourceEntry, { prefix, inNamespace, pathName, subresource, deeper }: RequestInfo): Place {
  if (prefix === 'proxy' || (inNamespace && !entry.namespaced)) return 'nowhere'
  const isAcross = entry.namespaced && !inNamespace
  if (isAcross && pathName !== '') return 'nowhere'
  if (subresource === '') {
    if (prefix === 'watch') return 'watched'
    if (isAcross) return 'everywhere'
    return pathName === '' ? 'collection' : 'item'
  }
  if (prefix === 'watch' || !entry.subresources.some((known) => known.name === subresource)) return 'nowhere'
  if (subresource === 'proxy') return 'proxy'
  return deeper.length === 0 ? 'subresource' : 'nowhere'
}

const ofSubresources = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }

/** The methods of each place. A place answers a method if discovery lists the verb for the resource. */
const methodsAt: Readonly<Record<Place, Readonly<Record<string, string>>>> = {
  collection: { GET: 'list', POST: 'create', DELETE: 'deletecollection' },
  everywhere: { GET: 'list' },
  item: { GET: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' },
  subresource: ofSubresources,
  proxy: { ...ofSubresources, HEAD: 'get', OPTIONS: 'get' },
  watched: { GET: 'watch' },
  nowhere: {},
}

function verbAt(entry: ResourceEntry, info: RequestInfo, method: string): Verb | '' | undefined {
  const place = placeOf(entry, info)
  const methods = methodsAt[place]
  const listed = info.subresource === '' ? entry.verbs : subresourceVerbs(entry, info.subresource)
  const listedAs = ownValue(methods, method)
  if (listedAs === undefined || !listed.includes(listedAs)) {
    // kube-apiserver has no such path if it answers no method there: 404 instead of 405
    // few: verbs
    if (Object.values(methods).some((verb) => listed.includes(verb))) throw methodNotAllowed()
    return undefined
  }
  if (info.subresource !== '' && info.pathName === '') throw madeBy('handler', badRequest('name must be provided'))
  const verb = verbOf(info)
  // ?watch=true of a resource that has list and no watch
  if (verb === 'watch' && !listed.includes('watch')) throw madeBy('handler', methodNotSupported(entry, verb))
  return verb
}

const subresourceVerbs = (entry: ResourceEntry, name: string): readonly string[] =>
  entry.subresources.find((known) => known.name === name)?.verbs ?? []

const JSON_TYPES = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']

const plain: OperationDialect = {
  json: JSON_TYPES,
  watch: [...JSON_TYPES, 'application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'],
  patches: [
    'application/json-patch+json',
    'application/merge-patch+json',
    'application/strategic-merge-patch+json',
    'application/apply-patch+yaml',
  ],
  bodies: ['*/*'],
  watches: true,
  getOptions: [],
  hasCollectionDeleteOptions: true,
  patchCodes: [200, 201],
  connects: true,
  subresourceKind: 'its own',
}

const withCbor: OperationDialect = {
  ...plain,
  json: [...JSON_TYPES, 'application/cbor'],
  watch: [
    ...JSON_TYPES,
    'application/cbor',
    'application/json;stream=watch',
    'application/vnd.kubernetes.protobuf;stream=watch',
    'application/cbor-seq',
  ],
  patches: [...plain.patches, 'application/apply-patch+cbor'],
}

export const builtInServing: Serving = {
  verbAt,
  warnsWhenRefused: false,
  namesOwnVersion: false,
  informedWithoutManagedFields: true,
  publishesSchema: false,
  operations: (cbor) => (cbor ? withCbor : plain),
}
