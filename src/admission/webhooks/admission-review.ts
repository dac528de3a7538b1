/** AdmissionReviews: requests to webhooks, and their answers (webhook/request/admissionreview). */
import type { AdmissionResponse, AdmissionReview } from '../../api/admission/v1.ts'
import type { JsonObject, KubeObject } from '../../api/object.ts'
import { stringify } from '../../api/write-json.ts'
import { lazy } from '../../api/lazy.ts'
import { encodeJson } from '../../codec/encode.ts'
import { goQuote } from '../../go/quote.ts'
import type { StructType } from '../../schema/structural.ts'
import { kindText } from '../../webhooks/review-reply.ts'
import type { Attributes } from '../attributes.ts'
import type { ResourceKind } from '../equivalent-resources.ts'
import { requestValue } from '../policies/request-value.ts'
import type { VersionedObjects } from '../policies/policy-request.ts'
import type { WebhookType } from './configured-webhooks.ts'

export const reviewVersions = ['v1', 'v1beta1'] as const
export type ReviewVersion = (typeof reviewVersions)[number]

/** An answer that says nothing that can be used; the message is kube-apiserver's. */
export class InvalidResponse extends Error {}

/** A request, in the version that the webhook matches. */
export interface Asked {
  readonly attributes: Attributes
  readonly matched: ResourceKind
  readonly type: StructType
  readonly objects: VersionedObjects
  /** JSON of the request behind its UID: the same in each version of AdmissionReview. */
  readonly text: () => string
}

export const askedAbout = (about: Omit<Asked, 'text'>): Asked => ({ ...about, text: lazy(() => requestText(about)) })

function requestText({ attributes, matched, type, objects }: Omit<Asked, 'text'>): string {
  const { dryRun = false, options = null, ...about } = requestValue(attributes, matched)
  const head = stringify(about)
  const object = textOf(type, objects.object, true)
  const oldObject = textOf(type, objects.oldObject, false)
  const tail = stringify({ dryRun, options })
  return `${head.slice(1, -1)},"object":${object},"oldObject":${oldObject},${tail.slice(1)}`
}

/** @returns JSON */
export const reviewText = ({ text }: Asked, version: ReviewVersion, uid: string): string =>
  `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/${version}","request":{"uid":"${uid}",${text()}}`

/** @param isSent the object came with the request and may have empty fields that decoding has not removed */
const textOf = (type: StructType, object: KubeObject | undefined, isSent: boolean): string =>
  // an API object is JSON
  object === undefined ? 'null' : encodeJson(type, object as unknown as JsonObject, { keepEmpty: isSent })

/** What of an answer counts. */
export interface Response extends Pick<AdmissionResponse, 'auditAnnotations' | 'status' | 'warnings'> {
  readonly allowed: boolean
  /** Text; '' for none. */
  readonly patch: string
  readonly patchType: string
}

/** v1beta1 has no other patch type, whatever the answer says. */
export const JSON_PATCH = 'JSONPatch'

/**
 * @param review of the version that was sent
 * @throws InvalidResponse
 */
export function responseIn(review: JsonObject, version: ReviewVersion, uid: string, type: WebhookType): Response {
  // decoded as one
  const { response } = review as unknown as AdmissionReview
  if (response === undefined || response === null) throw new InvalidResponse('webhook response was absent')
  const { allowed = false, auditAnnotations, status, warnings, patch = '', patchType = '' } = response
  const isV1 = version === 'v1'
  // kube-apiserver never checked the rest of v1beta1
  if (isV1) checkV1(review, uid, type)
  return {
    allowed,
    auditAnnotations,
    status,
    warnings,
    patch: type === 'validating' ? '' : utf8.decode(Uint8Array.from(atob(patch), (byte) => byte.charCodeAt(0))),
    patchType: isV1 ? patchType : JSON_PATCH,
  }
}

const utf8 = new TextDecoder()

function checkV1(review: JsonObject, uid: string, type: WebhookType): void {
  // decoded as one
  const { response = {} } = review as unknown as AdmissionReview
  const { patch = '', patchType } = response
  const refuse = (why: string): never => {
    throw new InvalidResponse(why)
  }
  if (response.uid !== uid) refuse(`expected response.uid=${goQuote(uid)}, got ${goQuote(response.uid ?? '')}`)
  const kind = kindText(review)
  if (kind !== V1_KIND) refuse(`expected webhook response of ${V1_KIND}, got ${kind}`)
  if (type === 'validating') {
    if (patch !== '') refuse('validating webhook may not return response.patch')
    if (patchType !== undefined) refuse('validating webhook may not return response.patchType')
    return
  }
  if (patch !== '' && patchType === undefined) refuse('webhook returned response.patch but not response.patchType')
  if (patch === '' && patchType !== undefined) refuse('webhook returned response.patchType but not response.patch')
  if (patchType === '') refuse('webhook returned invalid response.patchType of ""')
}

const V1_KIND = 'admission.k8s.io/v1, Kind=AdmissionReview'
