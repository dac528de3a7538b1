/**
 * Reads a webhook's answer as kube-apiserver's REST client does: an HTTP error, or an object of the kind that was
 * sent.
 */
import type { GroupVersionKind } from '../api/group-version.ts'
import { apiVersionOf, parseApiVersion } from '../api/group-version.ts'
import type { JsonObject } from '../api/object.ts'
import { ownValue } from '../base/own.ts'
import { DecodeError } from '../codec/decode/decode-problems.ts'
import { inParts } from '../base/parts.ts'
import type { Steps } from '../base/slices.ts'
import { LARGE, atOnce, inTurns } from '../base/slices.ts'
import { decodeUtf8 } from '../base/utf8.ts'
import type { BodyFormat, ParsedBody } from '../codec/decode/parse-body.ts'
import { parsing } from '../codec/decode/parse-body.ts'
import { loadYaml } from '../codec/yaml/reader.ts'
import { goQuote } from '../go/quote.ts'
import { typeOfKind } from '../schema/built-in.ts'
import { parsedWithRoom } from './answer-room.ts'
import { WebhookCallError } from './call-webhook.ts'
import type { OutgoingAnswer } from './outgoing-call.ts'

const SCHEME = 'pkg/runtime/scheme.go:111'

/**
 * Reads a long answer in steps, between which other requests have their turn.
 * @param expected the kind of the review, also assumed for an answer without a kind
 * @returns the review, with apiVersion and kind of the answer, '' where it has none
 * @throws WebhookCallError
 */
export async function reviewIn(answer: OutgoingAnswer, expected: GroupVersionKind): Promise<JsonObject> {
  const { status, contentType, body } = answer
  const read = <T>(steps: Steps<T>): T | Promise<T> =>
    body.length > LARGE ? parsedWithRoom(body.length, () => inTurns(steps)) : atOnce(steps)
  if (status < 200 || status > 206)
    throw new WebhookCallError((await read(failureIn(body))) ?? httpErrorText(answer), status)
  if (body.length === 0)
    throw new WebhookCallError(
      `0-length response with status code: ${status} and content type: ${contentType || 'application/json'}`,
    )
  // an answer that does not begin like a JSON object is read as YAML, whatever its Content-Type
  const format = isJson(body) ? 'json' : 'yaml'
  if (format === 'yaml') await loadYaml()
  try {
    return await read(decoding(format, body, expected))
  } catch (error) {
    throw error instanceof DecodeError ? new WebhookCallError(error.message) : error
  }
}

/** @throws DecodeError */
function* decoding(format: BodyFormat, body: Uint8Array, expected: GroupVersionKind): Steps<JsonObject> {
  const found = yield* parsing(format, body)
  return yield* inParts(() => decodeAs(found, expected))
}

// YAML may begin with a byte order mark, which is a blank to JavaScript
const isJson = (body: Uint8Array): boolean => /^[^\S\ufeff]*\{/.test(decodeUtf8(body.subarray(0, 64)))

const STATUS: GroupVersionKind = { group: '', version: 'v1', kind: 'Status' }

/** The message of a Status, by which an answer may say what failed; undefined where it is no such Status. */
function* failureIn(body: Uint8Array): Steps<string | undefined> {
  if (!isJson(body)) return undefined
  try {
    const { status, message = '' } = yield* decoding('json', body, STATUS)
    return status === 'Failure' ? String(message) : undefined
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

/** @throws DecodeError */
function decodeAs(found: ParsedBody, expected: GroupVersionKind): JsonObject {
  const apiVersion = found.apiVersion || apiVersionOf(expected)
  const version = parseApiVersion(apiVersion)
  if (version === undefined) throw new DecodeError(`unexpected GroupVersion string: ${apiVersion}`)
  const kind = found.kind || expected.kind
  const isExpected = kind === expected.kind && apiVersion === apiVersionOf(expected)
  if (!isExpected && (version.group !== expected.group || kind !== expected.kind))
    throw new DecodeError(
      `no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)} in scheme ${goQuote(SCHEME)}`,
    )
  const { object } = found.decodeAs(typeOfKind(expected)!)
  if (!isExpected)
    throw new DecodeError(
      `converting (${version.version}.${kind}) to (${expected.version}.${kind}): unknown conversion`,
    )
  return { ...object, apiVersion: found.apiVersion, kind: found.kind }
}

/** `admission.k8s.io/v1, Kind=AdmissionReview`; `/, Kind=` where the answer says neither. */
export function kindText({ apiVersion, kind }: JsonObject): string {
  const { group, version } = parseApiVersion(String(apiVersion)) ?? { group: '', version: '' }
  return `${group}/${version}, Kind=${String(kind)}`
}

/** Texts by status (apimachinery's NewGenericServerResponse). */
const errors: Readonly<Record<string, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
}

const MAX_SHOWN = 2048

function httpErrorText({ status, contentType, body }: OutgoingAnswer): string {
  const isText = contentType === '' || /^text\/[^;]/i.test(contentType.trim())
  const said = isText ? decodeUtf8(body.subarray(0, MAX_SHOWN)).trim() : 'unknown'
  const known = ownValue(errors, String(status))
  if (known !== undefined) return known
  if (status === 403 || status === 415) return said
  if (status === 406)
    return said === '' || said === 'unknown'
      ? 'the server was unable to respond with a content type that the client supports'
      : said
  if (status >= 500) return `an error on the server (${goQuote(said)}) has prevented the request from succeeding`
  return `the server responded with the status code ${status} but did not return more information`
}
