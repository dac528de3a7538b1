import { badRequest, expired, resourceVersionTooLarge } from '../../api/status.ts'
import { negotiateOutput } from '../../codec/negotiation/negotiate.ts'
import type { OutputNegotiation } from '../../codec/negotiation/negotiate.ts'
import { passesText } from '../../codec/encode/present.ts'
import { respondList } from '../../codec/respond.ts'
import type { AnswerUse } from '../../codec/encode/answer-use.ts'
import { decoratedLines } from '../../codec/encode/decorate.ts'
import { withListPlace } from '../../flowcontrol/open-lists.ts'
import { parseListOptions } from '../../request/options.ts'
import type { ListOptions } from '../../request/options.ts'
import type { ContinueToken } from '../../storage/continue-token.ts'
import { inconsistentContinueToken, nextContinueToken, parseContinueToken } from '../../storage/continue-token.ts'
import type { Selection } from '../../storage/selectors/selection.ts'
import { StorageError } from '../../storage/errors.ts'
import type { ListAt, ListQuery, ListResult } from '../../storage/storage.ts'
import { listShape } from '../../codec/respond.ts'
import { lineBatches } from '../../storage/streams/lines.ts'
import { asksToRead, convertedLines, convertedTexts } from '../../registry/converted.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'
import { parseRevisionOfList } from './resource-version.ts'
import { selectionOf } from './selection.ts'
import { cacheless, statusFor } from '../../storage/storage-status.ts'

const CONTINUE_TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'

/** A list never becomes a watch, because authorization has decided about the verb before. */
export async function list(scope: RequestScope): Promise<Response> {
  const output = negotiateOutput(scope.request, { kind: 'list', forms: scope.resource.forms })
  const options = parseListOptions(scope.request.query, false, scope.enabled)
  if (options.watch) throw new Error('assertion failed: a watch was authorized as a list')
  return withListPlace(scope.request, (use) => answerList(scope, options, output, { use }))
}

/**
 * @param state of the collection to return; overrides the options
 * @param use ends with the answer
 */
export async function answerList(
  scope: RequestScope,
  options: ListOptions,
  output: OutputNegotiation,
  { state, use }: { readonly state?: ListAt; readonly use: AnswerUse },
): Promise<Response> {
  const selection = selectionOf(scope, options)
  const namespace = scope.resource.namespaced && scope.place.namespace !== '' ? scope.place.namespace : undefined
  const counted = output.serialization === 'cbor'
  const query = { selection, namespace, shape: listShape(scope.resource, output), counted }
  const result = await listed(scope, options, query, state)
  const again = () => listed(scope, options, query, { kind: 'exact', revision: result.revision })
  await checkList(scope, result, again)
  const asServed = (values: ReadableStream<Uint8Array>) =>
    query.shape.as === 'lines' ? decoratedLines(scope.resource, convertedLines(scope, values)) : values
  return respondList(scope, output, {
    revision: result.revision,
    continueToken: nextContinueToken(result, namespace),
    remaining: result.remaining,
    isEmpty: result.isEmpty,
    count: result.count,
    values: asServed(result.values),
    shape: query.shape,
    again: async () => asServed((await again()).values),
    use,
  })
}

/**
 * Converts objects that need a webhook before the answer starts, because a started answer cannot become an error.
 * Most results are kept for the answer.
 * @throws StatusError
 */
async function checkList(scope: RequestScope, found: ListResult, again: () => Promise<ListResult>): Promise<void> {
  if (!mustConvert(scope) || found.isEmpty) return
  try {
    await convertAll(scope, await again())
  } catch (error) {
    await found.values.cancel()
    throw error
  }
}

/** Converts all objects of a list, and keeps none. @throws StatusError */
export async function convertAll(scope: RequestScope, { values }: ListResult): Promise<void> {
  for await (const texts of lineBatches(values)) await convertedTexts(scope, texts)
}

export const mustConvert = (scope: RequestScope): boolean => asksToRead(scope) && !passesText(scope.resource)

/**
 * The stored objects of a collection, from the start and in the state that the options name.
 * @param state overrides the state of the options
 * @throws StatusError 400 and 410 where a list cannot be continued
 */
export async function listed(
  scope: RequestScope,
  options: ListOptions,
  query: Omit<ListQuery, 'at' | 'limit' | 'start'>,
  state?: ListAt,
): Promise<ListResult> {
  const { token, passesCache, ...where } = placeOf(scope, options, query)
  try {
    return await scope.storage.list(scope.collection, { ...query, ...where, ...(state && { at: state }) })
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    if (error.code === 'Compacted' && token !== undefined)
      throw expired(CONTINUE_TOO_OLD, inconsistentContinueToken(token, query.namespace))
    if (error.code === 'FutureRevision' && passesCache) throw resourceVersionTooLarge(error.revision, error.current)
    throw statusFor(error, scope.resource.gvr, '')
  }
}

/**
 * The state, the start and the limit of a list, by the rules for resourceVersion, resourceVersionMatch, limit and
 * continue.
 */
function placeOf(
  scope: RequestScope,
  options: ListOptions,
  { selection, namespace }: Pick<ListQuery, 'selection' | 'namespace'>,
): { at: ListAt; limit?: number; start?: string; token?: ContinueToken; passesCache?: boolean } {
  const { resourceVersion, resourceVersionMatch } = options
  const paging = options.limit > 0 ? { limit: options.limit } : {}
  const cached = !cacheless(scope.resource.gvr)
  if (options.continue !== '') {
    const token = parseContinueToken(options.continue, namespace)
    if (resourceVersion !== '' && resourceVersion !== '0')
      throw badRequest('specifying resource version is not allowed when using continue')
    const at: ListAt = token.revision === 'latest' ? { kind: 'latest' } : { kind: 'exact', revision: token.revision }
    return { at, start: token.start, token, ...(resourceVersion === '0' && cached ? {} : paging) }
  }
  const isOne = selectsOne(scope, selection, namespace)
  if (resourceVersion === '') return { at: { kind: 'latest' }, ...(isOne ? {} : paging) }
  const revision = parseRevisionOfList(resourceVersion)
  // any state will do: kube-apiserver answers from its cache, and ignores the limit
  if (revision === 0) return { at: { kind: 'latest' }, ...(cached ? {} : paging) }
  const isPage = options.limit > 0 || options.inPages === true
  const isOfPage = resourceVersionMatch === '' && isPage
  const exact = resourceVersionMatch === 'Exact' || (isOfPage && !isOne)
  return {
    at: { kind: exact ? 'exact' : 'notOlderThan', revision },
    ...(isOne ? {} : paging),
    // kube-apiserver reads one object from etcd then, whose error says nothing of trying again
    passesCache: isOne && (exact || isOfPage),
  }
}

/** Whether a selection names one object. kube-apiserver reads this one, and its limit has no meaning. */
function selectsOne({ resource }: RequestScope, { fields }: Selection, namespace: string | undefined): boolean {
  const names = (field: string) => fields.some((one) => one.field === field && one.operator === '=' && one.value !== '')
  const hasNamespace = !resource.namespaced || namespace !== undefined || names('metadata.namespace')
  return hasNamespace && names('metadata.name')
}
