/** ConversionReviews: the request to a webhook, and its answer (apiextensions' webhook_converter). */
import type { JsonTree } from '../../json/json.ts'
import { stringify, stringifySorted } from '../../json/write-json.ts'
import { messageOf, path } from '../../api/field.ts'
import { parseApiVersion } from '../../api/group-version.ts'
import { kept, mapParts } from '../../base/parts.ts'
import type { Json, JsonObject, KubeObject, ObjectMeta } from '../../api/object.ts'
import { asJson, isJsonObject } from '../../api/object.ts'
import { valuesEqual } from '../../json/value-order.ts'
import { goQuote } from '../../go/quote.ts'
import { goType } from '../../go/value.ts'
import { validateAnnotations, validateLabels } from '../../validation/object-meta.ts'
import type { ConversionFailure } from './conversion-counts.ts'
import { kindText } from '../../webhooks/review-reply.ts'

export const reviewVersions = ['v1', 'v1beta1'] as const
export type ReviewVersion = (typeof reviewVersions)[number]

/** The server cannot use the answer of a webhook. The message follows `conversion webhook for KIND `. */
export class UnusableConversion extends Error {
  constructor(
    message: string,
    readonly failure: ConversionFailure = 'conversion_webhook_invalid_converted_object_failure',
  ) {
    super(message)
  }
}

/** An object, or what an apply leaves of one, which may lack metadata: it prunes them with all that its manager owned. */
export type Convertible = Omit<KubeObject, 'metadata'> & { readonly metadata?: ObjectMeta }

/** @returns JSON */
export function conversionReviewText(
  objects: readonly Convertible[],
  desiredAPIVersion: string,
  version: ReviewVersion,
  uid: string,
): string {
  const texts = mapParts(objects, (object) => stringifySorted(asJson(kept(object, () => withoutVersion(object)))))
  return (
    `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/${version}",` +
    `"request":{"uid":"${uid}","desiredAPIVersion":${stringify(desiredAPIVersion)},"objects":[${texts.join(',')}]},` +
    // Go writes the unset response like this
    `"response":{"uid":"","convertedObjects":null,"result":{"metadata":{}}}}`
  )
}

/** kube-apiserver sends objects as storage holds them, without a resourceVersion. */
function withoutVersion(object: Convertible): Convertible {
  if (object.metadata === undefined) return object
  const { resourceVersion: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

const V1_KIND = 'apiextensions.k8s.io/v1, Kind=ConversionReview'

/**
 * @param review has the review version of the request to the webhook
 * @throws UnusableConversion
 */
export function convertedIn(
  review: JsonObject,
  originals: readonly Convertible[],
  desiredAPIVersion: string,
  version: ReviewVersion,
  uid: string,
): KubeObject[] {
  const failed = (why: string) =>
    new UnusableConversion(`failed: ${why}`, 'conversion_webhook_malformed_response_failure')
  if (version === 'v1' && kindText(review) !== V1_KIND)
    throw failed(`expected webhook response of ${V1_KIND}, got ${kindText(review)}`)
  const { response } = review
  if (!isJsonObject(response)) throw failed('no response provided')
  const { uid: answered = '', result, convertedObjects } = response
  if (version === 'v1' && answered !== uid)
    throw failed(`expected response.uid=${goQuote(uid)}, got ${goQuote(String(answered))}`)
  const { status = '', message = '' } = isJsonObject(result) ? result : {}
  if (status !== 'Success')
    throw failed(message === '' ? `response.result.status was '${String(status)}', not 'Success'` : String(message))
  const objects = Array.isArray(convertedObjects) ? convertedObjects : []
  if (objects.length !== originals.length)
    throw new UnusableConversion(
      `returned ${objects.length} objects, expected ${originals.length}`,
      'conversion_webhook_partial_response_failure',
    )
  return mapParts(objects, (object, index) => checked(object, originals[index]!, desiredAPIVersion, index))
}

/** A webhook may change only labels and annotations of the metadata. The rest stays. @throws UnusableConversion */
function checked(converted: Json, original: Convertible, apiVersion: string, index: number): KubeObject {
  const invalid = (why: string, where = ` at index ${index}`) =>
    new UnusableConversion(`returned invalid object${where}: ${why}`)
  if (!isJsonObject(converted) || typeof converted['kind'] !== 'string' || converted['kind'] === '')
    throw invalid(`Object 'Kind' is missing in '${stringifySorted(converted)}'`)
  const { apiVersion: got = '', kind } = converted
  if (got !== apiVersion) throw invalid(`invalid groupVersion (expected ${apiVersion}, received ${String(got)})`)
  if (kind !== original.kind) throw invalid(`invalid kind (expected ${original.kind ?? ''}, received ${String(kind)})`)
  const { metadata } = converted
  const said = isJsonObject(metadata) ? metadata : {}
  const before = asJson(original)['metadata']
  const known = isJsonObject(before) ? before : {}
  for (const [field, name] of KEPT) {
    const [expected, found] = [known[field] ?? '', said[field] ?? '']
    if (expected !== found) throw invalid(`must have the same ${name}: ${String(expected)} != ${String(found)}`, '')
  }
  return { ...converted, metadata: metadataOf(metadata, known) } as unknown as KubeObject // the kind has metadata
}

const KEPT = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['uid', 'UID'],
] as const

/** @throws UnusableConversion */
function metadataOf(said: Json | undefined, known: JsonObject): JsonObject {
  const invalid = (why: string) => new UnusableConversion(`returned invalid metadata: ${why}`)
  if (said === undefined) throw invalid('missing metadata in converted object')
  // the error names Go's type of the JSON value
  if (!isJsonObject(said)) throw invalid(`invalid metadata of type ${goType(said as JsonTree)} in converted object`)
  const metadata = { ...known }
  for (const field of ['labels', 'annotations'] as const) {
    const value = said[field]
    if (value === undefined || value === null) {
      delete metadata[field]
      continue
    }
    if (!isJsonObject(value))
      throw invalid(`invalid metadata.${field} of type ${goType(value as JsonTree)} in converted object`)
    const texts = Object.entries(value).map(([key, text]): [string, string] => {
      if (typeof text === 'string') return [key, text]
      throw invalid(
        `metadata.${field}[${key}] must be a string, but is ${goType(text as JsonTree)} in converted object`,
      )
    })
    if (!valuesEqual(value, known[field] ?? {})) {
      const errors =
        field === 'labels'
          ? validateLabels(Object.fromEntries(texts), path('metadata', 'labels'))
          : validateAnnotations(Object.fromEntries(texts), path('metadata', 'annotation'))
      if (errors.length > 0) throw invalid(messageOf(errors))
    }
    metadata[field] = value
  }
  return metadata
}

/** Prints a kind as Go does: `example.com/v1, Kind=Thing`. */
export const objectKindText = ({ apiVersion = '', kind = '' }: Convertible): string => {
  const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: '' }
  return `${group}/${version}, Kind=${kind}`
}
