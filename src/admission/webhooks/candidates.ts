/**
 * The webhooks whose rules match a kind of request. The result is kept for each state of the configurations and of
 * the served resources, so that a thousand webhooks for other resources cost a request nothing.
 */
import { BoundedMap } from '../../base/bounded-map.ts'
import { stringify } from '../../json/write-json.ts'
import { turnOfOthers } from '../../base/slices.ts'
import type { ServedResources } from '../../registry/served/resources.ts'
import { servedResources } from '../../registry/served/served.ts'
import type { Attributes } from '../attributes.ts'
import type { ResourceKind } from '../equivalent-resources.ts'
import type { PolicyRequest } from '../policies/policy-request.ts'
import { kindsValue } from '../policies/request-value.ts'
import type { Webhook } from './configured-webhooks.ts'
import { ruleMatches } from './rules.ts'

export interface Candidate {
  readonly webhook: Webhook
  /** The position among all webhooks. */
  readonly position: number
  /** The version of the request's resource that the rules name. */
  readonly matched: ResourceKind
  /** JSON of the members of an AdmissionRequest that each such request has, without braces. */
  readonly kinds: string
}

/** The most kinds of requests that are kept. */
const MAX_KINDS = 1000

/** Rules between two turns of others: each may be compared with a few versions. */
const MANY_RULES = 1024

type Index = BoundedMap<string, readonly Candidate[]>

/** Both keys stay the same values as long as nothing in them changes. */
const indexes = new WeakMap<readonly Webhook[], WeakMap<ServedResources, Index>>()

export async function candidatesOf(webhooks: readonly Webhook[], asked: PolicyRequest): Promise<readonly Candidate[]> {
  const { attributes } = asked
  const index = indexOf(webhooks, await servedResources(attributes.request))
  const key = keyOf(attributes)
  const known = index.get(key)
  if (known !== undefined) return known
  const found: Candidate[] = []
  let rules = 0
  for (const [position, webhook] of webhooks.entries()) {
    rules += 1 + (webhook.rules?.length ?? 0)
    if (rules > MANY_RULES) {
      await turnOfOthers()
      rules = 0
    }
    const matched = await matchedByRules(webhook, asked)
    if (matched === undefined) continue
    const kinds = stringify(kindsValue(attributes, matched)).slice(1, -1)
    found.push({ webhook, position, matched, kinds })
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

/** Everything that rules compare. */
const keyOf = ({ operation, resource, subresource, kind, namespace }: Attributes): string =>
  `${operation} ${resource.group}/${resource.version}/${resource.resource}/${subresource} ` +
  `${kind.group}/${kind.version}/${kind.kind} ${namespace === '' ? 'cluster' : 'namespaced'}`

/**
 * The request's own resource, if a rule names it. With matchPolicy Equivalent it may be another version, which the
 * first matching rule names. Undefined where no rule matches.
 */
async function matchedByRules(
  { rules = [], matchPolicy = 'Equivalent' }: Webhook,
  { attributes, equivalents }: PolicyRequest,
): Promise<ResourceKind | undefined> {
  const { resource, kind } = attributes
  if (rules.some((rule) => ruleMatches(rule, attributes))) return { resource, kind }
  if (matchPolicy !== 'Equivalent') return undefined
  const others = await equivalents()
  let compared = 0
  for (const rule of rules) {
    for (const other of others) if (ruleMatches(rule, { ...attributes, resource: other.resource })) return other
    compared += others.length
    if (compared > MANY_RULES) {
      await turnOfOthers()
      compared = 0
    }
  }
  return undefined
}
