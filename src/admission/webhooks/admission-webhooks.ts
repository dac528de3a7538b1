/** MutatingAdmissionWebhook and ValidatingAdmissionWebhook: which webhooks a request meets, and what follows. */
import { internalError } from '../../api/status.ts'
import { controlSnapshot } from '../../tenancy/control-snapshot.ts'
import type { AdmissionPlugin, Attributes } from '../attributes.ts'
import type { ResourceKind } from '../equivalent-resources.ts'
import { typeOfMatched } from '../made-object.ts'
import { PolicyRequest } from '../policies/policy-request.ts'
import { Reinvocation } from '../reinvocation.ts'
import { Rounds } from '../rounds.ts'
import type { Asked } from './admission-review.ts'
import { CallingWebhookError, ask, checkTimeLeft } from './ask.ts'
import type { Webhook } from './configured-webhooks.ts'
import { configuredWebhooks } from './configured-webhooks.ts'
import { applyResponse, mutationText, patchText } from './mutate.ts'
import { matchOf } from './match.ts'
import { isExempt } from './rules.ts'

const handles = (attributes: Attributes): boolean => !isExempt(attributes)

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

/** The key under which they are kept. */
const newRounds = (): Rounds => new Rounds()

/** Each sees what those before it made of the object. */
async function mutateBy(webhooks: readonly Webhook[], attributes: Attributes): Promise<void> {
  const { reinvocation = new Reinvocation() } = attributes
  const rounds = reinvocation.keep(newRounds)
  rounds.begin(attributes)
  const request = new PolicyRequest(attributes)
  for (const [index, webhook] of webhooks.entries()) {
    const matched = await matchOf(webhook, request)
    const key = `${webhook.configuration}/${webhook.index}`
    if (matched === undefined || !rounds.isTurnOf(key)) continue
    const round = `round_${reinvocation.isSecond ? 1 : 0}_index_${index}`
    if (await mutate(webhook, matched, attributes, round)) rounds.changed()
    if (webhook.reinvocationPolicy === 'IfNeeded') rounds.mayReturn(key)
  }
  rounds.end(attributes)
}

/** @returns whether it changed the object */
async function mutate(
  webhook: Webhook,
  matched: ResourceKind,
  attributes: Attributes,
  round: string,
): Promise<boolean> {
  const { record } = attributes.request
  let mutated = false
  try {
    const request = new PolicyRequest(attributes)
    const entry = await request.entryOf(matched)
    const patchedType = typeOfMatched(attributes, matched, entry)
    const asked: Asked = { attributes, matched, type: patchedType.type, objects: await request.versioned(matched) }
    const response = await ask(webhook, 'mutating', asked)
    const { changed, patch } = await applyResponse(webhook, response, asked, patchedType, entry)
    mutated = changed
    if (patch !== undefined && record?.wantsRequest)
      record.annotate(`patch.webhook.admission.k8s.io/${round}`, patchText(webhook, patch))
  } catch (error) {
    failOpenOrThrow(webhook, attributes, error, `failed-open.mutation.webhook.admission.k8s.io/${round}`)
  } finally {
    record?.annotate(`mutation.webhook.admission.k8s.io/${round}`, mutationText(webhook, mutated))
  }
  return mutated
}

/** All are asked at once, and all are waited for. Of those that deny, the first of the configuration is told. */
async function validateBy(webhooks: readonly Webhook[], attributes: Attributes): Promise<void> {
  const request = new PolicyRequest(attributes)
  const calls: (() => Promise<void>)[] = []
  for (const webhook of webhooks) {
    const matched = await matchOf(webhook, request)
    if (matched === undefined) continue
    const { type } = typeOfMatched(attributes, matched, await request.entryOf(matched))
    const asked: Asked = { attributes, matched, type, objects: await request.versioned(matched) }
    const key = `failed-open.validating.webhook.admission.k8s.io/round_0_index_${calls.length}`
    calls.push(() => validate(webhook, asked, key))
  }
  if (calls.length === 0) return
  const settled = await Promise.allSettled(calls.map((call) => call()))
  for (const outcome of settled) if (outcome.status === 'rejected') throw outcome.reason
}

async function validate(webhook: Webhook, asked: Asked, failedOpen: string): Promise<void> {
  try {
    await ask(webhook, 'validating', asked)
  } catch (error) {
    failOpenOrThrow(webhook, asked.attributes, error, failedOpen)
  }
}

/** @param annotation key that tells audit of a webhook that was passed over */
function failOpenOrThrow(webhook: Webhook, attributes: Attributes, error: unknown, annotation: string): void {
  if (!(error instanceof CallingWebhookError)) throw error
  if (webhook.failurePolicy !== 'Ignore') throw internalError(error.message)
  attributes.request.record?.annotate(annotation, webhook.name ?? '')
  checkTimeLeft(attributes)
}
