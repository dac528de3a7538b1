/**
 * MutatingAdmissionWebhook and ValidatingAdmissionWebhook: what matches a webhook is decided here, the call itself is
 * callWebhook's.
 */
import { forbidden, StatusError, internalError } from '../../api/status.ts'
import { controlSnapshot } from '../../tenancy/control-snapshot.ts'
import { WebhookCallError, callWebhook } from '../../webhooks/call-webhook.ts'
import type { AdmissionPlugin, Attributes } from '../attributes.ts'
import type { ResourceKind } from '../equivalent-resources.ts'
import { equivalentResources } from '../equivalent-resources.ts'
import { PolicyRequest } from '../policies/policy-request.ts'
import { requestValue } from '../policies/request-value.ts'
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

async function isCalled(webhook: Webhook, attributes: Attributes): Promise<boolean> {
  const { namespaceSelector, objectSelector } = webhook
  if (!objectMatches(objectSelector, attributes)) return false
  const matched = await matchedByRules(webhook, attributes)
  if (matched === undefined || !(await namespaceMatches(namespaceSelector, attributes))) return false
  return conditionsHold(webhook, attributes, matched)
}

/** The version of the request's resource that the rules name. */
async function matchedByRules(
  { rules = [], matchPolicy = 'Equivalent' }: Webhook,
  attributes: Attributes,
): Promise<ResourceKind | undefined> {
  const { resource, kind } = attributes
  if (rules.some((rule) => ruleMatches(rule, attributes))) return { resource, kind }
  if (matchPolicy !== 'Equivalent') return undefined
  const others = await equivalentResources(attributes)
  // few: versions of one resource
  return others.find((other) => rules.some((rule) => ruleMatches(rule, { ...attributes, resource: other.resource })))
}

/** @throws StatusError 403 where it cannot be told and the webhook must not be passed over */
async function conditionsHold(
  { matchConditions = [], failurePolicy }: Webhook,
  attributes: Attributes,
  matched: ResourceKind,
): Promise<boolean> {
  if (matchConditions.length === 0) return true
  const engine = await import('../policies/policy-engine.ts')
  const { resource, name, request } = attributes
  const asked = requestValue(attributes, { ...matched, resource })
  const subject = {
    ...(await new PolicyRequest(attributes).versioned(matched)),
    params: undefined,
    namespaceObject: undefined,
    request: asked,
    requestOfConditions: asked,
    authorizer: engine.authorizerOf(attributes, new engine.Decisions(request)),
  }
  const matches = await engine.conditionsMatch(engine.compiledConditions(matchConditions), [], subject, failurePolicy)
  if (typeof matches === 'boolean') return matches
  throw forbidden(resource, name, matches.error)
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
