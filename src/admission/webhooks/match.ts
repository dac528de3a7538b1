/** Whether a webhook is asked about a request, and in which version (webhook/generic's ShouldCallHook). */
import { forbidden } from '../../api/status.ts'
import type { Attributes } from '../attributes.ts'
import type { ResourceKind } from '../equivalent-resources.ts'
import { PolicyRequest } from '../policies/policy-request.ts'
import { requestValue } from '../policies/request-value.ts'
import type { Webhook } from './configured-webhooks.ts'
import { ruleMatches } from './rules.ts'
import { namespaceMatches, objectMatches } from './selectors.ts'

/**
 * Undefined: it is not asked.
 * @throws StatusError where that cannot be told
 */
export async function matchOf(webhook: Webhook, asked: PolicyRequest): Promise<ResourceKind | undefined> {
  const { attributes } = asked
  const { namespaceSelector, objectSelector } = webhook
  if (!objectMatches(objectSelector, attributes)) return undefined
  const matched = await matchedByRules(webhook, asked)
  if (matched === undefined || !(await namespaceMatches(namespaceSelector, attributes))) return undefined
  return (await conditionsHold(webhook, attributes, matched)) ? matched : undefined
}

/** The version of the request's resource that the rules name: of other versions, that of the first rule. */
async function matchedByRules(
  { rules = [], matchPolicy = 'Equivalent' }: Webhook,
  { attributes, equivalents }: PolicyRequest,
): Promise<ResourceKind | undefined> {
  const { resource, kind } = attributes
  if (rules.some((rule) => ruleMatches(rule, attributes))) return { resource, kind }
  if (matchPolicy !== 'Equivalent') return undefined
  const others = await equivalents()
  for (const rule of rules)
    for (const other of others) if (ruleMatches(rule, { ...attributes, resource: other.resource })) return other
  return undefined
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
