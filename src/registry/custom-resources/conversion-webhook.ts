/** Definitions whose objects a webhook converts (apiextensions' conversion/webhook_converter). */
import type { CustomResourceDefinition } from '../../api/apiextensions/v1.ts'
import { BoundedMap } from '../../base/bounded-map.ts'
import { apiVersionOf, parseApiVersion } from '../../api/group-version.ts'
import { stringify } from '../../json/write-json.ts'
import { parseStored } from '../../json/parse-json.ts'
import type { KubeObject } from '../../api/object.ts'
import { asJson } from '../../api/object.ts'
import { LARGE } from '../../base/slices.ts'
import { StatusError } from '../../api/status.ts'
import type { ApiCall } from '../../request/context.ts'
import { walked } from '../../request/turns.ts'
import { perTenant } from '../../tenancy/tenant-state.ts'
import { withRoom } from '../../webhooks/answer-room.ts'
import { timeLeft } from '../../request/time-left.ts'
import { WebhookCallError, WebhookClientError, callWebhook } from '../../webhooks/call-webhook.ts'
import { reviewIn } from '../../webhooks/review-reply.ts'
import type { ConversionFailure } from './conversion-counts.ts'
import { conversionCounts, countConversion } from './conversion-counts.ts'
import type { Convertible } from './conversion-review.ts'
import {
  UnusableConversion,
  conversionReviewText,
  convertedIn,
  objectKindText,
  reviewVersions,
} from './conversion-review.ts'

const TIMEOUT_MS = 30_000

/** Characters of all objects in one review. The answer has a bound, too (MAX_ANSWER). */
const MAX_BATCH = 512 * 1024

/** In kube-apiserver this is a plain Go error without a reason. A watch sends it before it ends. */
export class ConversionError extends StatusError {
  constructor(object: Convertible, why: string) {
    super(500, undefined, `conversion webhook for ${objectKindText(object)} ${why}`)
  }
}

export const isConvertedByWebhook = ({ spec }: CustomResourceDefinition): boolean =>
  spec?.conversion?.strategy === 'Webhook'

/**
 * Call it before a conversion in code that cannot await a webhook. Pruning by the other version's schema instead would
 * lose the fields that only the first version has.
 * @throws ConversionError if the conversion needs the webhook
 */
export function checkConversion(definition: CustomResourceDefinition, object: Convertible, version: string): void {
  if (!isConvertedByWebhook(definition) || object.apiVersion === versionText(definition, version)) return
  throw new ConversionError(object, 'failed: this server does not ask it here')
}

const versionText = ({ spec }: CustomResourceDefinition, version: string): string =>
  apiVersionOf({ group: spec?.group ?? '', version })

/** Converted forms of stored objects, by revision and version. */
const known = perTenant(
  'forgotten',
  () => new BoundedMap<string, string>({ entries: 10_000, size: 8 * 1024 * 1024, sizeOf: (_, { length }) => length }),
)

/** Whether the objects are in storage. The server caches converted forms of stored objects only. */
export type Origin = 'stored' | 'made'

/** Converts objects to a version. Objects that have this version already stay as they are. @throws ConversionError */
export async function convertByWebhook<Object extends Convertible>(
  request: ApiCall,
  definition: CustomResourceDefinition,
  objects: readonly Object[],
  version: string,
  origin: Origin,
): Promise<Object[]> {
  const apiVersion = versionText(definition, version)
  const results = [...objects]
  const cache = known(request.tenant)
  // after a restore a generation may come again with another content; a revision never does
  const { uid: definitionUid = '', generation = 0, resourceVersion: revision = '' } = definition.metadata
  const of = [definitionUid, generation, revision]
  const keyOf = ({ apiVersion: from = '', metadata: { uid = '', resourceVersion = '' } = {} }: Convertible) =>
    JSON.stringify([of, uid, resourceVersion, from, version])
  const remembers = ({ metadata }: Convertible) => origin === 'stored' && (metadata?.resourceVersion ?? '') !== ''
  let batch: number[] = []
  let length = 0
  const convertBatch = async () => {
    const originals = batch.map((index) => objects[index]!)
    const converted = originals.length === 0 ? [] : await ask(request, definition, originals, apiVersion, length)
    for (const [at, object] of converted.entries()) {
      // an answer has metadata, as the caller's objects have
      results[batch[at]!] = object as unknown as Object
      if (remembers(originals[at]!)) cache.set(keyOf(originals[at]!), stringify(asJson(object)))
    }
    batch = []
    length = 0
  }
  for (const [index, object] of objects.entries()) {
    if (object.apiVersion === apiVersion) continue
    const text = remembers(object) ? cache.get(keyOf(object)) : undefined
    if (text !== undefined) {
      // this function wrote the text
      results[index] = parseStored(text) as unknown as Object
      continue
    }
    const size = stringify(asJson(object)).length
    if (length > 0 && length + size > MAX_BATCH) await convertBatch()
    batch.push(index)
    length += size
  }
  await convertBatch()
  return results
}

/**
 * Sends one review.
 * @param originals one object at least, all of other versions
 * @param length of their texts
 */
async function ask(
  request: ApiCall,
  definition: CustomResourceDefinition,
  originals: readonly Convertible[],
  apiVersion: string,
  length: number,
): Promise<KubeObject[]> {
  const [first] = originals
  const { clientConfig = {}, conversionReviewVersions = [] } = definition.spec?.conversion?.webhook ?? {}
  const version = conversionReviewVersions.flatMap((one) => reviewVersions.filter((ours) => ours === one))[0]
  if (version === undefined) throw new StatusError(500, undefined, 'no supported conversion review versions')
  const uid = crypto.randomUUID()
  const began = request.clock()
  const from = parseApiVersion(first!.apiVersion ?? '')?.version ?? ''
  const counted = {
    definition: definition.metadata.name ?? '',
    from,
    to: parseApiVersion(apiVersion)?.version ?? '',
  }
  const count = (failure?: ConversionFailure) =>
    countConversion(conversionCounts(request.tenant), counted, failure, (request.clock() - began) / 1000)
  try {
    const review = await walked({ isLarge: length > LARGE }, () =>
      conversionReviewText(originals, apiVersion, version, uid),
    )
    return await withRoom(request, async (take) => {
      const answer = await callWebhook(request, clientConfig, review, timeForCall(request), take)
      const kind = { group: 'apiextensions.k8s.io', version, kind: 'ConversionReview' }
      const found = await reviewIn(answer, kind)
      const isLarge = answer.body.length > LARGE
      const converted = await walked({ isLarge }, () => convertedIn(found, originals, apiVersion, version, uid))
      count()
      return converted
    })
  } catch (error) {
    count(error instanceof UnusableConversion ? error.failure : 'conversion_webhook_call_failure')
    if (error instanceof UnusableConversion) throw new ConversionError(first!, error.message)
    if (error instanceof WebhookCallError || error instanceof WebhookClientError)
      throw new ConversionError(first!, `failed: ${error.message}`)
    throw error
  }
}

/**
 * Milliseconds. All conversions of a request together end within its time, which a watch does not have. A request without
 * time left gets one millisecond, in which the call times out.
 */
const timeForCall = (request: ApiCall): number =>
  request.info?.verb === 'watch' ? TIMEOUT_MS : Math.max(1, Math.min(TIMEOUT_MS, timeLeft(request)))
