/** Which requests custom resources answer, and how they refuse the others: by verb, not by method (apiextensions' handler). */
import { ownValue } from '../api/own.ts'
import { badRequest, methodNotSupported, notFound } from '../api/status.ts'
import type { ResourceEntry } from '../registry/resources.ts'
import type { RequestInfo } from '../request/request-info.ts'
import type { Verb } from './serve-resource.ts'

const verbs: Readonly<Record<string, Verb>> = {
  get: 'get',
  list: 'list',
  watch: 'list',
  create: 'create',
  update: 'update',
  patch: 'patch',
  delete: 'delete',
  deletecollection: 'deletecollection',
}

const subresourceVerbs: Readonly<Record<string, Verb>> = { get: 'get', update: 'update', patch: 'patch' }

/**
 * Undefined: no such path.
 * @throws StatusError 400, 404, 405
 */
export function customVerb(
  entry: ResourceEntry,
  { verb, namespace, parts, legacyWatch }: RequestInfo,
): Verb | undefined {
  const [, name = '', subresource = ''] = parts
  const isAcross = verb === 'list' || verb === 'watch'
  if (entry.namespaced ? namespace === '' && !isAcross : namespace !== '') return undefined
  if (subresource !== '' && !entry.subresources.some((known) => known.name === subresource)) throw notFound(entry, name)
  const known = ownValue(subresource === '' ? verbs : subresourceVerbs, verb)
  if (known === undefined) throw methodNotSupported(entry, verb)
  if ((known === 'update' || known === 'patch') && name === '') throw badRequest('name must be provided')
  return legacyWatch && name !== '' ? 'get' : known
}
