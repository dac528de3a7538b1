import { admissionChain } from '../../admission/chain.ts'
import { HEAVY, LARGE } from '../../base/slices.ts'
import type { Status } from '../../api/status.ts'
import { negotiateInput, negotiateOutput } from '../../codec/negotiation/negotiate.ts'
import { respondItems, respondObject, respondSuccess } from '../../codec/respond.ts'
import type { Deleted } from '../../registry/write/delete.ts'
import { deleteEach, deleteObject } from '../../registry/write/delete.ts'
import { liveOf } from '../../codec/stored-object.ts'
import type { DeleteOptions, ListOptions } from '../../request/options.ts'
import { checkDeleteOptions, deleteOptionsOfQuery, parseListOptions } from '../../request/options.ts'
import { walked } from '../../request/turns.ts'
import { nextContinueToken } from '../../storage/continue-token.ts'
import type { ListAt, StoredValue } from '../../storage/storage.ts'
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

/**
 * Deletes the selected objects one after the other, and answers with the list of them. For a large collection only
 * the names are kept. The answer then reads the state before the deletions, which the shards hold until the end.
 */
export async function deleteCollection(scope: RequestScope): Promise<Response> {
  const output = negotiateOutput(scope.request, { kind: 'list', forms: scope.resource.forms })
  const listOptions: ListOptions = { ...parseListOptions(scope.request.query, false, scope.enabled), inPages: true }
  const selection = selectionOf(scope, listOptions)
  const options = await deleteOptions(scope)
  const namespace = scope.resource.namespaced ? scope.place.namespace : undefined
  const found = await listed(scope, listOptions, { namespace, selection })
  const { revision } = found
  const before: ListAt = { kind: 'exact', revision }
  let hold: Hold | undefined
  const names: string[] = []
  let texts: string[] = []
  let length = 0
  try {
    for await (const text of linesOf(found.values)) {
      names.push(await nameIn(scope, { revision, text }))
      length += text.length
      if (length <= MAX_KEPT) texts.push(text)
      else {
        texts = []
        hold ??= await Hold.begin(scope.storage, revision, [scope.collection], scope.request.clock)
      }
    }
    // nothing is deleted where a webhook cannot convert an object
    if (hold === undefined) texts = await convertedTexts(scope, texts)
    else if (mustConvert(scope))
      await convertAll(scope, await listed(scope, listOptions, { namespace, selection }, before))
    const targets = names.map((name) => ({ name }))
    await deleteEach(scope, targets, options, admissionChain)
    if (hold !== undefined) return await answerList(scope, listOptions, output, { state: before })
  } finally {
    await hold?.end(READ_MS)
  }
  return respondItems(scope, output, {
    revision,
    continueToken: nextContinueToken(found, namespace),
    remaining: found.remaining,
    items: texts.map((text) => ({ revision, text })),
  })
}

/** The name of a stored object. A large one is parsed where the memory has room for it. */
async function nameIn({ request }: RequestScope, stored: StoredValue): Promise<string> {
  const { length } = stored.text
  if (length > HEAVY) await request.takeRoom?.('object', length)
  const live = liveOf(stored)
  const { metadata } = await walked({ isLarge: length > LARGE }, () => live.object)
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
