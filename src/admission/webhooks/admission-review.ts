/** AdmissionReviews: requests to webhooks, and their answers (webhook/request/admissionreview). */
import type { AdmissionResponse, AdmissionReview } from '../../api/admission/v1.ts'
import type { JsonObject, KubeObject } from '../../api/object.ts'
import { stringify } from '../../json/write-json.ts'
import { lazy } from '../../base/lazy.ts'
import { encodeJson } from '../../codec/encode/encode.ts'
import { goQuote } from '../../go/quote.ts'
import type { StructType } from '../../schema/structural.ts'
import { kindText } from '../../webhooks/review-reply.ts'
import type { UserInfo } from '../../request/user-info.ts'
import type { Attributes } from '../attributes.ts'
import { operationOptions, userValue } from '../policies/request-value.ts'
import type { VersionedObjects } from '../policies/policy-request.ts'
import type { WebhookType } from './configured-webhooks.ts'

export const reviewVersions = ['v1', 'v1beta1'] as const
export type ReviewVersion = (typeof reviewVersions)[number]

/** The webhook's answer cannot be used. The message is kube-apiserver's. */
export class InvalidResponse extends Error {}

/** A request in the version that the webhook's rules name. */
export interface Asked {
  readonly attributes: Attributes
  /** See Candidate. */
  readonly kinds: string
  readonly type: StructType
  readonly objects: VersionedObjects
  /** The JSON of the request without its UID, which is the same in each version of AdmissionReview. */
  readonly text: () => string
}

export const askedAbout = (about: Omit<Asked, 'text'>): Asked => ({ ...about, text: lazy(() => requestText(about)) })

function requestText({ attributes, kinds, type, objects }: Omit<Asked, 'text'>): string {
  const { name, namespace, operation, user, dryRun, final } = attributes
  const named = name === '' ? '' : `"name":${stringify(name)},`
  const within = namespace === '' ? '' : `"namespace":${stringify(namespace)},`
  const object = (objects.object && final?.textOf(objects.object, type)) ?? textOf(type, objects.object, true)
  const oldObject = textOf(type, objects.oldObject, false)
  return (
    `${kinds},${named}${within}"operation":"${operation}","userInfo":${userText(user)},"object":${object},` +
    `"oldObject":${oldObject},"dryRun":${dryRun},"options":${stringify(operationOptions(attributes))}}`
  )
}

/** The user of the last request, who often sends the next one too: a known user is the same value each time. */
let last: { readonly user: UserInfo; readonly text: string } | undefined

function userText(user: UserInfo): string {
  if (last?.user !== user) last = { user, text: stringify(userValue(user)) }
  return last.text
}

/** @returns JSON */
export const reviewText = ({ text }: Asked, version: ReviewVersion, uid: string): string =>
  `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/${version}","request":{"uid":"${uid}",${text()}}`

/** @param isSent the object came with the request, and may have empty fields that decoding keeps */
const textOf = (type: StructType, object: KubeObject | undefined, isSent: boolean): string =>
  // an API object is JSON
  object === undefined ? 'null' : encodeJson(type, object as unknown as JsonObject, { keepEmpty: isSent })

/** The part of an answer that the server uses. */
export interface Response extends Pick<AdmissionResponse, 'auditAnnotations' | 'status' | 'warnings'> {
  readonly allowed: boolean
  /** Text; '' for none. */
  readonly patch: string
  readonly patchType: string
}

/** The patch type of v1beta1, whatever the answer says. */
export const JSON_PATCH = 'JSONPatch'

/**
 * @param review in the version that was sent
 * @throws InvalidResponse
 */
export function responseIn(review: JsonObject, version: ReviewVersion, uid: string, type: WebhookType): Response {
  // decoded as an AdmissionReview
  const { response } = review as unknown as AdmissionReview
  if (response === undefined || response === null) throw new InvalidResponse('webhook response was absent')
  const { allowed = false, auditAnnotations, status, warnings, patch = '', patchType = '' } = response
  const isV1 = version === 'v1'
  // for v1beta1 kube-apiserver checks nothing more
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
  // decoded as an AdmissionReview
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
