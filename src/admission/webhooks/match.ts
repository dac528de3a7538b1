/** Whether a webhook is called for a request, and in which version (webhook/generic's ShouldCallHook). */
import { forbidden } from '../../api/status.ts'
import type { Attributes } from '../attributes.ts'
import type { ResourceKind } from '../equivalent-resources.ts'
import { PolicyRequest } from '../policies/policy-request.ts'
import { requestValue } from '../policies/request-value.ts'
import { isEmptySelector } from '../../validation/label-selectors.ts'
import type { Candidate } from './candidates.ts'
import type { Webhook, WebhookType } from './configured-webhooks.ts'
import { namespaceMatches, objectMatches } from './selectors.ts'

/**
 * Whether a webhook whose rules match is called: its selectors and conditions decide.
 * @throws StatusError where that cannot be decided
 */
export async function isAsked(
  { webhook, matched }: Candidate,
  type: WebhookType,
  attributes: Attributes,
): Promise<boolean> {
  const { namespaceSelector, objectSelector, matchConditions = [] } = webhook
  if (!objectMatches(objectSelector, attributes)) return false
  if (!isEmptySelector(namespaceSelector ?? {}) && !(await namespaceMatches(namespaceSelector, attributes)))
    return false
  return matchConditions.length === 0 || conditionsHold(webhook, type, attributes, matched)
}

/** @throws StatusError 403 where the conditions cannot be evaluated and the failurePolicy is Fail */
async function conditionsHold(
  { name: webhook = '', matchConditions = [], failurePolicy }: Webhook,
  type: WebhookType,
  attributes: Attributes,
  matched: ResourceKind,
): Promise<boolean> {
  const engine = await import('../policies/policy-engine.ts')
  const { resource, name, request, operation } = attributes
  const asked = requestValue(attributes, { ...matched, resource })
  const subject = {
    ...(await new PolicyRequest(attributes).seen(matched)),
    params: undefined,
    namespaceObject: undefined,
    request: asked,
    requestOfConditions: asked,
    authorizer: engine.authorizerOf(attributes, new engine.Decisions(request)),
  }
  const conditions = await engine.compiledConditions(matchConditions)
  const labels = { name: webhook, kind: 'webhook', type: type === 'mutating' ? 'admit' : type, operation } as const
  const matches = await engine.conditionsMatch(conditions, [], subject, failurePolicy, { request, labels })
  if (typeof matches === 'boolean') return matches
  throw forbidden(resource, name, matches.error)
}
