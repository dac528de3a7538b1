/**
 * MutatingAdmissionWebhook and ValidatingAdmissionWebhook: find the webhooks for a request, call them, and apply
 * their answers.
 */
import { internalError } from '../../api/status.ts'
import { SLICE, turnOfOthers } from '../../base/slices.ts'
import type { WebhookCall, WebhookOutcome } from '../../metrics/admission.ts'
import { measureFailOpen, measureWebhook } from '../../metrics/admission.ts'
import { controlSnapshot } from '../../tenancy/control-snapshot.ts'
import type { AdmissionPlugin, Attributes } from '../attributes.ts'
import { typeOfMatched } from '../made-object.ts'
import { PolicyRequest, once } from '../policies/policy-request.ts'
import { Reinvocation } from '../reinvocation.ts'
import { Rounds } from '../rounds.ts'
import { checkTimeLeft } from '../time-left.ts'
import { apiVersionOf } from '../../api/group-version.ts'
import type { Asked } from './admission-review.ts'
import { askedAbout } from './admission-review.ts'
import type { Candidate } from './candidates.ts'
import { candidatesOf } from './candidates.ts'
import { CallingWebhookError, WebhookDenial, ask } from './ask.ts'
import type { Webhook } from './configured-webhooks.ts'
import { configuredWebhooks } from './configured-webhooks.ts'
import { applyResponse, mutationText, patchText } from './mutate.ts'
import { isAsked } from './match.ts'
import { isExempt } from '../exempt.ts'

const handles = (attributes: Attributes): boolean => !isExempt(attributes.resource, 'webhooks')

export const mutatingAdmissionWebhook: AdmissionPlugin = {
  name: 'MutatingAdmissionWebhook',
  handles,
  async admit(attributes) {
    const webhooks = configuredWebhooks(await controlSnapshot(attributes.request), 'mutating')
    if (webhooks.length > 0) await mutateBy(webhooks, attributes)
  },
}

export const validatingAdmissionWebhook: AdmissionPlugin = {
  name: 'ValidatingAdmissionWebhook',
  handles,
  async validate(attributes) {
    const webhooks = configuredWebhooks(await controlSnapshot(attributes.request), 'validating')
    if (webhooks.length > 0) await validateBy(webhooks, attributes)
  },
}

/** The function is also the key under which its result is kept. */
const newRounds = (): Rounds => new Rounds()

/** The selectors and conditions of webhooks whose rules match take time, even where no webhook is called. */
const isTurnDue = (at: number): boolean => at > 0 && at % SLICE === 0

/** Calls the webhooks one after the other. Each sees the changes of those before it. */
async function mutateBy(webhooks: readonly Webhook[], attributes: Attributes): Promise<void> {
  const { reinvocation = new Reinvocation() } = attributes
  const rounds = reinvocation.keep(newRounds)
  await rounds.begin(attributes)
  const candidates = await candidatesOf(webhooks, new PolicyRequest(attributes))
  for (const [at, candidate] of candidates.entries()) {
    if (isTurnDue(at)) await turnOfOthers()
    const { webhook, position } = candidate
    const key = `${webhook.configuration}/${webhook.index}`
    if (!(await isAsked(candidate, 'mutating', attributes)) || !rounds.isTurnOf(key)) continue
    const round = `round_${reinvocation.isSecond ? 1 : 0}_index_${position}`
    if (await mutate(candidate, attributes, round)) rounds.changed()
    if (webhook.reinvocationPolicy === 'IfNeeded') rounds.mayReturn(key)
  }
  await rounds.end(attributes)
}

/** @returns whether the webhook changed the object */
async function mutate({ webhook, matched, kinds }: Candidate, attributes: Attributes, round: string): Promise<boolean> {
  const { record } = attributes.request
  let mutated = false
  try {
    const request = new PolicyRequest(attributes)
    const entry = await request.entryOf(matched)
    const patchedType = typeOfMatched(attributes, matched, entry)
    const { type } = patchedType
    const objects = await request.versionedAs(matched, entry)
    const asked = askedAbout({ attributes, kinds, type, objects })
    const { changed, patch } = await measured(webhook, 'admit', attributes, async () =>
      applyResponse(webhook, await ask(webhook, 'mutating', asked), asked, patchedType, entry),
    )
    mutated = changed
    if (patch !== undefined && record?.wantsRequest)
      record.annotate(`patch.webhook.admission.k8s.io/${round}`, patchText(webhook, patch))
  } catch (error) {
    failOpenOrThrow(webhook, 'admit', attributes, error, `failed-open.mutation.webhook.admission.k8s.io/${round}`)
  } finally {
    record?.annotate(`mutation.webhook.admission.k8s.io/${round}`, mutationText(webhook, mutated))
  }
  return mutated
}

/** Calls all at once, and waits for all. Of several denials the client gets the first in the configuration's order. */
async function validateBy(webhooks: readonly Webhook[], attributes: Attributes): Promise<void> {
  const request = new PolicyRequest(attributes)
  const calls: (() => Promise<void>)[] = []
  const versions = new Map<string, Promise<Asked>>()
  const candidates = await candidatesOf(webhooks, request)
  for (const [at, candidate] of candidates.entries()) {
    if (isTurnDue(at)) await turnOfOthers()
    if (!(await isAsked(candidate, 'validating', attributes))) continue
    const { webhook, matched } = candidate
    // webhooks that see the object in one version share its encoded text
    const asked = await once(versions, apiVersionOf(matched.resource), () => askedIn(candidate, request))
    const key = `failed-open.validating.webhook.admission.k8s.io/round_0_index_${calls.length}`
    calls.push(() => validate(webhook, asked, key))
  }
  if (calls.length === 0) return
  const settled = await Promise.allSettled(calls.map((call) => call()))
  for (const outcome of settled) if (outcome.status === 'rejected') throw outcome.reason
}

async function askedIn({ matched, kinds }: Candidate, request: PolicyRequest): Promise<Asked> {
  const { attributes } = request
  const entry = await request.entryOf(matched)
  const { type } = typeOfMatched(attributes, matched, entry)
  return askedAbout({ attributes, kinds, type, objects: await request.versionedAs(matched, entry) })
}

async function validate(webhook: Webhook, asked: Asked, failedOpen: string): Promise<void> {
  try {
    await measured(webhook, 'validating', asked.attributes, () => ask(webhook, 'validating', asked))
  } catch (error) {
    failOpenOrThrow(webhook, 'validating', asked.attributes, error, failedOpen)
  }
}

/** @param annotation audit annotation for a failed webhook that is ignored */
function failOpenOrThrow(
  webhook: Webhook,
  type: WebhookCall['type'],
  attributes: Attributes,
  error: unknown,
  annotation: string,
): void {
  if (!(error instanceof CallingWebhookError)) throw error
  if (webhook.failurePolicy !== 'Ignore') throw internalError(error.message)
  measureFailOpen(attributes.request, { name: webhook.name ?? '', type })
  attributes.request.record?.annotate(annotation, webhook.name ?? '')
  checkTimeLeft(attributes)
}

async function measured<T>(
  webhook: Webhook,
  type: WebhookCall['type'],
  { request, operation }: Attributes,
  call: () => Promise<T>,
): Promise<T> {
  const began = request.clock()
  let outcome: WebhookOutcome = { code: 200 }
  try {
    return await call()
  } catch (error) {
    outcome = outcomeOf(webhook, error)
    throw error
  } finally {
    const name = webhook.name ?? ''
    measureWebhook(request, { name, type, operation }, outcome, (request.clock() - began) / 1000)
  }
}

function outcomeOf({ failurePolicy }: Webhook, error: unknown): WebhookOutcome {
  if (error instanceof CallingWebhookError)
    return { code: error.code, rejection: failurePolicy === 'Ignore' ? undefined : 'calling_webhook_error' }
  if (error instanceof WebhookDenial) return { code: error.status.code ?? error.code, rejection: 'no_error' }
  return { code: 0, rejection: 'apiserver_internal_error' }
}
