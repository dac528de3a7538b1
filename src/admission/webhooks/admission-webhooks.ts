/**
 * MutatingAdmissionWebhook and ValidatingAdmissionWebhook: what matches a webhook is decided here, the call itself is
 * callWebhook's.
 */
import { StatusError, internalError } from '../../api/status.ts'
import { controlSnapshot } from '../../tenancy/control-snapshot.ts'
import { WebhookCallError, callWebhook } from '../../webhooks/call-webhook.ts'
import type { AdmissionPlugin, Attributes } from '../attributes.ts'
import { equivalentResources } from '../equivalent-resources.ts'
import type { Webhook, WebhookType } from './configured-webhooks.ts'
import { configuredWebhooks } from './configured-webhooks.ts'
import { isExempt, ruleMatches } from './rules.ts'
import { namespaceMatches, objectMatches } from './selectors.ts'

const DEFAULT_SECONDS = 10

const handles = (attributes: Attributes): boolean => !isExempt(attributes)

export const mutatingAdmissionWebhook: AdmissionPlugin = {
  name: 'MutatingAdmissionWebhook',
  handles,
  admit: (attributes) => dispatch('mutating', attributes),
}

export const validatingAdmissionWebhook: AdmissionPlugin = {
  name: 'ValidatingAdmissionWebhook',
  handles,
  validate: (attributes) => dispatch('validating', attributes),
}

async function dispatch(type: WebhookType, attributes: Attributes): Promise<void> {
  const snapshot = await controlSnapshot(attributes.request)
  for (const webhook of configuredWebhooks(snapshot, type))
    if (await isCalled(webhook, attributes)) await call(webhook, attributes)
}

/** Conditions in CEL cannot be told yet: they are taken to hold, so that nothing that they guard passes. */
async function isCalled(webhook: Webhook, attributes: Attributes): Promise<boolean> {
  const { namespaceSelector, objectSelector } = webhook
  if (!objectMatches(objectSelector, attributes)) return false
  if (!(await rulesMatch(webhook, attributes))) return false
  return namespaceMatches(namespaceSelector, attributes)
}

async function rulesMatch(
  { rules = [], matchPolicy = 'Equivalent' }: Webhook,
  attributes: Attributes,
): Promise<boolean> {
  if (rules.some((rule) => ruleMatches(rule, attributes))) return true
  if (matchPolicy !== 'Equivalent') return false
  const others = await equivalentResources(attributes)
  // few: versions of one resource
  return rules.some((rule) => others.some(({ resource }) => ruleMatches(rule, { ...attributes, resource })))
}

/** @throws StatusError where the request must not go on */
async function call(webhook: Webhook, { request, dryRun }: Attributes): Promise<void> {
  const { name = '', clientConfig = {}, failurePolicy, sideEffects = '', timeoutSeconds = DEFAULT_SECONDS } = webhook
  if (dryRun && sideEffects !== 'None' && sideEffects !== 'NoneOnDryRun')
    throw new StatusError(400, 'BadRequest', `admission webhook "${name}" does not support dry run`)
  try {
    await callWebhook(request, clientConfig, timeoutSeconds)
  } catch (error) {
    if (!(error instanceof WebhookCallError)) throw error
    if (failurePolicy === 'Ignore') return
    throw internalError(`failed calling webhook "${name}": failed to call webhook: ${error.message}`)
  }
}
