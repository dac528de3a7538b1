/**
 * Which webhooks have rules for requests like one: kept for each state of the configurations and of what is served, so
 * that a thousand webhooks for other resources cost a request nothing.
 */
import { BoundedMap } from '../../api/bounded-map.ts'
import type { ServedResources } from '../../registry/resources.ts'
import { servedResources } from '../../registry/served.ts'
import type { Attributes } from '../attributes.ts'
import type { ResourceKind } from '../equivalent-resources.ts'
import type { PolicyRequest } from '../policies/policy-request.ts'
import type { Webhook } from './configured-webhooks.ts'
import { ruleMatches } from './rules.ts'

export interface Candidate {
  readonly webhook: Webhook
  /** Place among all webhooks. */
  readonly position: number
  /** The version of the request's resource that the rules name. */
  readonly matched: ResourceKind
}

/** Kinds of requests that are told apart. */
const MAX_KINDS = 1000

type Index = BoundedMap<string, readonly Candidate[]>

/** Both are the same values while nothing of them changes. */
const indexes = new WeakMap<readonly Webhook[], WeakMap<ServedResources, Index>>()

export async function candidatesOf(webhooks: readonly Webhook[], asked: PolicyRequest): Promise<readonly Candidate[]> {
  const { attributes } = asked
  const index = indexOf(webhooks, await servedResources(attributes.request))
  const key = keyOf(attributes)
  const known = index.get(key)
  if (known !== undefined) return known
  const found: Candidate[] = []
  for (const [position, webhook] of webhooks.entries()) {
    const matched = await matchedByRules(webhook, asked)
    if (matched !== undefined) found.push({ webhook, position, matched })
  }
  index.set(key, found)
  return found
}

function indexOf(webhooks: readonly Webhook[], served: ServedResources): Index {
  let byServed = indexes.get(webhooks)
  if (byServed === undefined) indexes.set(webhooks, (byServed = new WeakMap()))
  let index = byServed.get(served)
  if (index === undefined) byServed.set(served, (index = new BoundedMap({ entries: MAX_KINDS })))
  return index
}

/** All that rules look at. */
const keyOf = ({ operation, resource, subresource, kind, namespace }: Attributes): string =>
  `${operation} ${resource.group}/${resource.version}/${resource.resource}/${subresource} ` +
  `${kind.group}/${kind.version}/${kind.kind} ${namespace === '' ? 'cluster' : 'namespaced'}`

/**
 * The request's own resource, if a rule names it. With matchPolicy Equivalent also another version of it: the one that
 * the first matching rule names. Undefined: no rule matches.
 */
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
