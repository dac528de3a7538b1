/** One call of one webhook: its decision, and the rest of its answer. */
import type { Status as ApiStatus } from '../../api/meta/v1.ts'
import { StatusError, badRequest } from '../../api/status.ts'
import type { StatusDetails } from '../../api/status.ts'
import { goQuote } from '../../go/quote.ts'
import { walked } from '../../request/turns.ts'
import { settingsOf } from '../../settings.ts'
import { qualifiedNameProblems } from '../../validation/names.ts'
import { withRoom } from '../../webhooks/answer-room.ts'
import { WebhookCallError, WebhookClientError, callWebhook } from '../../webhooks/call-webhook.ts'
import { reviewIn } from '../../webhooks/review-reply.ts'
import { timeForCall } from '../time-left.ts'
import type { Asked, Response } from './admission-review.ts'
import { InvalidResponse, responseIn, reviewText, reviewVersions } from './admission-review.ts'
import type { Webhook, WebhookType } from './configured-webhooks.ts'
import { reviewLikeKnown } from './known-replies.ts'

const DEFAULT_SECONDS = 10

const SERVICE_UNAVAILABLE = 503

/** The webhook has denied the request. */
export class WebhookDenial extends StatusError {}

/**
 * The webhook could not be called, or its answer cannot be used. Its failurePolicy decides whether the request fails.
 */
export class CallingWebhookError extends Error {
  /** @param code the status code for metrics */
  constructor(
    { name = '' }: Webhook,
    why: string,
    readonly code = SERVICE_UNAVAILABLE,
  ) {
    super(`failed calling webhook ${goQuote(name)}: ${why}`)
  }
}

/**
 * Calls a webhook. Its warnings and audit annotations are passed on even where it denies the request.
 * @throws CallingWebhookError
 * @throws StatusError where the webhook denies the request, or does not support a dry run
 */
export async function ask(webhook: Webhook, type: WebhookType, asked: Asked): Promise<Response> {
  const { name = '', sideEffects = '' } = webhook
  const { dryRun, request } = asked.attributes
  if (dryRun && sideEffects !== 'None' && sideEffects !== 'NoneOnDryRun')
    throw badRequest(`admission webhook ${goQuote(name)} does not support dry run`)
  const response = await responseOf(webhook, type, asked)
  for (const [key, value] of Object.entries(response.auditAnnotations ?? {}))
    if (qualifiedNameProblems(`${name}/${key}`).length === 0) request.record?.annotate(`${name}/${key}`, value)
  for (const warning of response.warnings ?? []) request.warnings.push(warning)
  if (!response.allowed) throw denial(name, response.status)
  return response
}

async function responseOf(webhook: Webhook, type: WebhookType, asked: Asked): Promise<Response> {
  const { admissionReviewVersions = [], clientConfig = {}, timeoutSeconds = DEFAULT_SECONDS } = webhook
  const { request } = asked.attributes
  const version = admissionReviewVersions.find((one) => reviewVersions.find((known) => known === one)) as
    (typeof reviewVersions)[number] | undefined
  if (version === undefined)
    throw new CallingWebhookError(
      webhook,
      'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
      400,
    )
  const uid = crypto.randomUUID()
  try {
    const text = await walked(request, () => reviewText(asked, version, uid))
    const users = settingsOf(request.env).admission.webhookClients[type]
    return await withRoom(request, async (take) => {
      const timeoutMs = timeForCall(asked.attributes, timeoutSeconds * 1000)
      const answer = await callWebhook(request, clientConfig, text, timeoutMs, take, users)
      const kind = { group: 'admission.k8s.io', version, kind: 'AdmissionReview' }
      const review = await reviewLikeKnown(answer, version, uid, () => reviewIn(answer, kind))
      return responseIn(review, version, uid, type)
    })
  } catch (error) {
    if (error instanceof WebhookCallError)
      throw new CallingWebhookError(webhook, `failed to call webhook: ${error.message}`, error.status)
    if (error instanceof WebhookClientError)
      throw new CallingWebhookError(webhook, `could not get REST client: ${error.message}`, 500)
    if (error instanceof InvalidResponse)
      throw new CallingWebhookError(webhook, `received invalid webhook response: ${error.message}`)
    throw error
  }
}

/** A denial has at least this code; lower codes mean success. */
const BAD_REQUEST = 400
/** The highest HTTP status. A denial with a higher code is answered with 500, as in kube-apiserver. */
const MAX_STATUS = 999

/** The webhook's denial as an error (webhook/errors' ToStatusErr). */
function denial(name: string, said: ApiStatus = {}): StatusError {
  const { code = 0, reason = '', message = '', details, status = '' } = said
  const deniedBy = `admission webhook ${goQuote(name)} denied the request`
  const why = message || reason
  const error = new WebhookDenial(
    code > MAX_STATUS ? 500 : Math.max(code, BAD_REQUEST),
    reason === '' ? undefined : reason,
    why === '' ? `${deniedBy} without explanation` : `${deniedBy}: ${why}`,
    details as StatusDetails | undefined, // decoded as StatusDetails of meta/v1
    said.metadata === undefined ? {} : (said.metadata as { continue?: string }),
  )
  if (status !== '' && status !== 'Success') Object.assign(error.status, { status })
  if (code > MAX_STATUS) Object.assign(error.status, { code })
  return error
}
