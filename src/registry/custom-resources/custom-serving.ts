/** How apiextensions' handler serves custom resources (pkg/apiserver/customresource_handler.go). */
import { badRequest, madeBy, methodNotSupported, notFound } from '../../api/status.ts'
import type { RequestInfo } from '../../request/request-info.ts'
import type { ResourceEntry } from '../served/resources.ts'
import type { OperationDialect, Serving, Verb } from '../served/serving.ts'
import { verbOf } from '../served/serving.ts'

const subresourceVerbs: readonly string[] = ['get', 'update', 'patch'] satisfies Verb[]

/** The verb of the RequestInfo decides, not the method. */
function verbAt(entry: ResourceEntry, info: RequestInfo): Verb | undefined {
  const { namespace, pathName, subresource } = info
  const isAcross = info.verb === 'list' || info.verb === 'watch'
  if (entry.namespaced ? namespace === '' && !isAcross : namespace !== '') return undefined
  if (subresource !== '' && !entry.subresources.some((known) => known.name === subresource))
    throw notFound(entry, pathName)
  const verb = verbOf(info)
  if (verb === '' || (subresource !== '' && !subresourceVerbs.includes(verb)))
    throw methodNotSupported(entry, info.verb)
  // the handler of a patch looks at the media type first
  if (verb === 'update' && pathName === '') throw madeBy('handler', badRequest('name must be provided'))
  return verb
}

/**
 * The media types of apiextensions' controller/openapi/builder. The server answers CBOR as well, but OpenAPI does not
 * say so.
 */
const operations: OperationDialect = {
  json: ['application/json', 'application/yaml'],
  watch: ['application/json', 'application/yaml'],
  patches: ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'],
  bodies: ['application/json', 'application/yaml'],
  watches: false,
  getOptions: ['resourceVersion'],
  hasCollectionDeleteOptions: false,
  patchCodes: [200],
  connects: false,
  subresourceKind: 'of the resource',
}

export const customServing: Serving = {
  verbAt,
  warnsWhenRefused: true,
  namesOwnVersion: true,
  informedWithoutManagedFields: false,
  publishesSchema: true,
  operations: () => operations,
}
