/** Applies the patches of mutating webhooks to the object of a request. */
import { plainJson } from '../../json/json.ts'
import { parsingJson } from '../../json/parse-json.ts'
import { inParts } from '../../base/parts.ts'
import type { Steps } from '../../base/slices.ts'
import { JsonSyntaxError } from '../../json/scanner.ts'
import type { JsonTree } from '../../json/json.ts'
import type { JsonObject } from '../../api/object.ts'
import { StatusError, internalError } from '../../api/status.ts'
import { stringify } from '../../json/write-json.ts'
import { goQuote } from '../../go/quote.ts'
import { copyOf } from '../../patch/json-document.ts'
import { readJsonPatch } from '../../patch/json-patch.ts'
import type { JsonPatch } from '../../patch/json-patch.ts'
import { PatchRejection, applyJsonPatch } from '../../patch/json-patch-operations.ts'
import type { Patched } from '../../patch/json-patch-operations.ts'
import { asWritten } from '../../patch/object-forms.ts'
import { finished, takeRoomBeside, walked } from '../../request/turns.ts'
import type { PatchedType } from '../made-object.ts'
import { decodeMade, replaceObject } from '../made-object.ts'
import type { Asked, Response } from './admission-review.ts'
import { JSON_PATCH } from './admission-review.ts'
import { CallingWebhookError } from './ask.ts'
import type { Webhook } from './configured-webhooks.ts'
import type { ResourceEntry } from '../../registry/served/resources.ts'

/** The result of one webhook. */
export interface Mutation {
  readonly changed: boolean
  /** The webhook's patch, for audit. */
  readonly patch?: JsonTree
}

/**
 * Changes the object of the request in place.
 * @throws CallingWebhookError
 * @throws StatusError 500 for a patch that cannot be applied
 */
export async function applyResponse(
  webhook: Webhook,
  { patch, patchType }: Response,
  { attributes, objects: { object } }: Asked,
  of: PatchedType,
  entry: ResourceEntry | undefined,
): Promise<Mutation> {
  if (patch === '') return { changed: false }
  const { request } = attributes
  await takeRoomBeside(request, patch.length)
  const { tree, operations } = await finished(request, readingPatch(webhook, patch))
  if (operations.operations.length === 0) return { changed: false }
  if (object === undefined)
    throw internalError(
      `admission webhook ${goQuote(webhook.name ?? '')} attempted to modify the object, which is not supported for this operation`,
    )
  if (patchType !== JSON_PATCH) throw new CallingWebhookError(webhook, `unsupported patch type ${goQuote(patchType)}`)
  // an API object is JSON, and so is its written form
  const written = await walked(request, () => asWritten(of.type, object as unknown as JsonObject) as JsonTree)
  const copy = await walked(request, () => copyOf(written))
  const { document, copied } = await walked(request, () => patched(copy, operations))
  await takeRoomBeside(request, patch.length + copied)
  const made = await walked(request, () => decodeMade(document, of, 'lenient'))
  return { changed: await replaceObject(attributes, entry, made), patch: tree }
}

interface ReadPatch {
  readonly tree: JsonTree
  readonly operations: JsonPatch
}

function* readingPatch(webhook: Webhook, text: string): Steps<ReadPatch> {
  try {
    const tree = yield* parsingJson(text)
    return { tree, operations: yield* inParts(() => readJsonPatch(tree, false)) }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError || error instanceof StatusError)) throw error
    throw new CallingWebhookError(webhook, `received undecodable patch in webhook response: ${error.message}`)
  }
}

function patched(document: JsonTree, operations: JsonPatch): Patched {
  try {
    return applyJsonPatch(document, operations)
  } catch (error) {
    if (error instanceof PatchRejection) throw internalError(error.why)
    throw error instanceof StatusError ? internalError(error.message) : error
  }
}

/** The value of the audit annotation about a mutation. */
export const mutationText = ({ configuration, name = '' }: Webhook, mutated: boolean): string =>
  stringify({ configuration, webhook: name, mutated })

export const patchText = ({ configuration, name = '' }: Webhook, patch: JsonTree): string =>
  stringify({ configuration, webhook: name, patch: plainJson(patch), patchType: JSON_PATCH })
