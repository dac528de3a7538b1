import { admissionChain } from '../../admission/chain.ts'
import { HEAVY, LARGE } from '../../base/slices.ts'
import type { Status } from '../../api/status.ts'
import { notInTime } from '../../api/status.ts'
import type { AnswerUse } from '../../codec/encode/answer-use.ts'
import { negotiateInput, negotiateOutput } from '../../codec/negotiation/negotiate.ts'
import type { OutputNegotiation } from '../../codec/negotiation/negotiate.ts'
import { respondItems, respondObject, respondSuccess } from '../../codec/respond.ts'
import type { Deleted } from '../../registry/write/delete.ts'
import { deleteEach, deleteObject } from '../../registry/write/delete.ts'
import { liveOf } from '../../codec/stored-object.ts'
import { withListPlace } from '../../flowcontrol/open-lists.ts'
import type { DeleteOptions, ListOptions } from '../../request/options.ts'
import { checkDeleteOptions, deleteOptionsOfQuery, parseListOptions } from '../../request/options.ts'
import { timeLeft } from '../../request/time-left.ts'
import { walked } from '../../request/turns.ts'
import { nextContinueToken } from '../../storage/continue-token.ts'
import type { Selection } from '../../storage/selectors/selection.ts'
import type { ListAt } from '../../storage/storage.ts'
import { decodeDeleteOptions, readBody } from '../bodies/decode-body.ts'
import { linesOf } from '../../storage/streams/lines.ts'
import { Hold } from '../backup/hold.ts'
import { convertedTexts } from '../../registry/converted.ts'
import { answerList, convertAll, listed, mustConvert } from './list.ts'
import { checkNameParameter } from '../../registry/key-name.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'
import { selectionOf } from './selection.ts'

export async function deleteOne(scope: RequestScope): Promise<Response> {
  const output = negotiateOutput(scope.request, { kind: 'object', forms: scope.resource.forms })
  const options = await deleteOptions(scope)
  checkNameParameter(scope.place.name)
  const deleted = await deleteObject(scope, scope.place.name, options, admissionChain)
  if (deleted.gone && scope.resource.entry.deleteAnswersObject !== true)
    return respondSuccess(scope, output, successOf(scope, deleted))
  // kube-apiserver answers 202 only with the old option orphanDependents=false
  const waiting = !deleted.gone && options.orphanDependents === false
  return walked(scope.request, () => respondObject(scope, output, waiting ? 202 : 200, deleted.object))
}

function successOf({ resource: { gvr: resource } }: RequestScope, { object }: Deleted): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name: object.metadata.name,
      ...(resource.group === '' ? {} : { group: resource.group }),
      kind: resource.resource,
      uid: object.metadata.uid,
    },
  }
}

/** The most text of objects that is kept for the answer, in UTF-16 units. */
const MAX_KEPT = 1024 * 1024
/** Milliseconds in which an answer is read whose objects are not kept. */
const READ_MS = 60_000
/** Objects that are deleted one after the other before the next ones are read. */
const BATCH = 64

/**
 * Deletes the selected objects one after the other, and answers with the list of them. Of a large collection nothing is
 * kept. The deletions and the answer then read the state before the deletions, which the shards hold until the end.
 * It has the place of a list from the beginning: it holds as much as one, and nothing refuses the answer when the
 * objects are gone.
 */
export async function deleteCollection(scope: RequestScope): Promise<Response> {
  const output = negotiateOutput(scope.request, { kind: 'list', forms: scope.resource.forms })
  const list: ListOptions = { ...parseListOptions(scope.request.query, false, scope.enabled), inPages: true }
  const selection = selectionOf(scope, list)
  const options = await deleteOptions(scope)
  return withListPlace(scope.request, (use) => deleteSelected(scope, { output, list, selection, options, use }))
}

interface CollectionDelete {
  readonly output: OutputNegotiation
  readonly list: ListOptions
  readonly selection: Selection
  readonly options: DeleteOptions
  readonly use: AnswerUse
}

async function deleteSelected(scope: RequestScope, call: CollectionDelete): Promise<Response> {
  const { output, list, selection, options, use } = call
  const { request, storage, collection, resource } = scope
  const namespace = resource.namespaced ? scope.place.namespace : undefined
  const found = await listed(scope, list, { namespace, selection })
  const { revision, remaining } = found
  const state: ListAt = { kind: 'exact', revision }
  const again = () => listed(scope, list, { namespace, selection }, state)
  let hold: Hold | undefined
  let texts: string[] = []
  let length = 0
  let longest = 0
  try {
    for await (const text of linesOf(found.values)) {
      longest = Math.max(longest, text.length)
      length += text.length
      if (length <= MAX_KEPT) texts.push(text)
      else if (hold === undefined) {
        texts = []
        hold = await Hold.begin(storage, revision, [collection], request.clock)
      }
    }
    // nothing is deleted where there is no room for one of the objects, or a webhook cannot convert one
    if (longest > HEAVY) await request.takeRoom?.('object', longest)
    if (hold !== undefined) {
      if (mustConvert(scope)) await convertAll(scope, await again())
      await deleteNamed(scope, linesOf((await again()).values), options)
      return await answerList(scope, list, output, { state, use })
    }
    const items = (await convertedTexts(scope, texts)).map((text) => ({ revision, text }))
    await deleteNamed(scope, texts, options)
    const continueToken = nextContinueToken(found, namespace)
    return await respondItems(scope, output, { revision, continueToken, remaining, items, use })
  } finally {
    await hold?.end(READ_MS)
  }
}

/**
 * Deletes objects by the names in their texts.
 * @throws StatusError 504 where the request's time is over: kube-apiserver deletes nothing more then
 */
async function deleteNamed(
  scope: RequestScope,
  texts: Iterable<string> | AsyncIterable<string>,
  options: DeleteOptions,
): Promise<void> {
  const { request } = scope
  const inTime = (): void => {
    if (timeLeft(request) <= 0) throw notInTime()
  }
  let names: { name: string }[] = []
  const deleted = () => deleteEach(scope, names, options, admissionChain, inTime)
  for await (const text of texts) {
    names.push({ name: await nameIn(text) })
    if (names.length < BATCH) continue
    await deleted()
    names = []
  }
  await deleted()
}

/** The name in the text of a stored object. */
async function nameIn(text: string): Promise<string> {
  const live = liveOf({ revision: 0, text })
  const { metadata } = await walked({ isLarge: text.length > LARGE }, () => live.object)
  return metadata.name!
}

/** The version of DeleteOptions in kube-apiserver's audit events. */
const INTERNAL_OPTIONS = 'meta.k8s.io/__internal'

/** The options of the body, if there is one, replace all those of the query. */
async function deleteOptions(scope: RequestScope): Promise<DeleteOptions> {
  const { request } = scope
  const body = await readBody(request)
  const options =
    body.length > 0
      ? await decodeDeleteOptions(request, negotiateInput(request), body)
      : deleteOptionsOfQuery(request.query)
  if (request.record?.wantsRequest && body.length > 0)
    request.record.requestObject = JSON.stringify({ ...options, kind: 'DeleteOptions', apiVersion: INTERNAL_OPTIONS })
  checkDeleteOptions(options)
  const { warningOfDefaultPropagation: warning } = scope.resource.strategy
  if (warning !== undefined && options.propagationPolicy === undefined && options.orphanDependents === undefined)
    request.warnings.push(warning)
  return options
}
