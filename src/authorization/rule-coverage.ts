/** Whether some rules cover all that other rules allow: nobody may grant rights that they do not have. */
import { withoutTrailing } from '../api/trim.ts'
import { append } from '../api/append.ts'
import { goQuote } from '../go/quote.ts'
import { Budget } from '../api/budget.ts'
import type { PolicyRule } from '../api/rbac/v1.ts'
import { requestEntityTooLarge } from '../api/status.ts'
import { ALL } from './policy-rule.ts'

/** The rights that `granted` allows and `held` does not, each part once, in the order of text. Empty: all are held. */
export function missingRules(held: readonly PolicyRule[], granted: readonly PolicyRule[]): string[] {
  const work = new Budget(MAX_WORK)
  const owned = held.map(heldRule)
  if (!work.spend(granted.length * owned.length)) throw tooManyParts()
  // most rules are covered by one as a whole: an administrator's
  // few: MAX_WORK bounds both
  const open = granted.filter((rule) => !owned.some((one) => covers(one, rule)))
  const count = open.reduce((sum, rule) => sum + countOfParts(rule), 0)
  if (!work.spend(count * (owned.length + COST_OF_PART))) throw tooManyParts()
  // few: as before
  const missing = open.flatMap(parts).filter((part) => !owned.some((rule) => covers(rule, part)))
  return [...new Set(compact(missing).map(describe))].sort(compareBytes)
}

/** Rules with one verb, resource and name each. */
function parts(rule: PolicyRule): PolicyRule[] {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  const names = resourceNames.length === 0 ? [undefined] : resourceNames
  const ofResources = apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        names.map((name): PolicyRule => ({
          apiGroups: [group],
          resources: [resource],
          verbs: [verb],
          ...(name === undefined ? {} : { resourceNames: [name] }),
        })),
      ),
    ),
  )
  const ofPaths = nonResourceURLs.flatMap((url) =>
    verbs.map((verb): PolicyRule => ({ nonResourceURLs: [url], verbs: [verb] })),
  )
  return [...ofResources, ...ofPaths]
}

/** The number of `parts`: the product of a rule's lists, which a small Role makes large. */
const countOfParts = ({
  verbs = [],
  apiGroups = [],
  resources = [],
  resourceNames = [],
  nonResourceURLs = [],
}: PolicyRule): number =>
  verbs.length * (apiGroups.length * resources.length * Math.max(1, resourceNames.length) + nonResourceURLs.length)

/** Comparisons of parts with rules, some hundred milliseconds of them: larger Roles are given out in pieces. */
const MAX_WORK = 5_000_000
/** A part that comparisons make and report. */
const COST_OF_PART = 50

const tooManyParts = () =>
  requestEntityTooLarge("the rules have too many combinations of verbs and resources to compare with the user's own")

interface HeldRule {
  readonly verbs: ReadonlySet<string>
  readonly apiGroups: ReadonlySet<string>
  readonly resources: ReadonlySet<string>
  readonly resourceNames: ReadonlySet<string>
  readonly nonResourceURLs: ReadonlySet<string>
  readonly prefixes: readonly string[]
}

const heldRule = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs = [] }: PolicyRule): HeldRule => ({
  verbs: new Set(verbs),
  apiGroups: new Set(apiGroups),
  resources: new Set(resources),
  resourceNames: new Set(resourceNames),
  nonResourceURLs: new Set(nonResourceURLs),
  prefixes: nonResourceURLs.filter((url) => url.endsWith(ALL)).map((url) => withoutTrailing(url, ALL)),
})

function covers(held: HeldRule, part: PolicyRule): boolean {
  return (
    hasAll(held.verbs, part.verbs) &&
    hasAll(held.apiGroups, part.apiGroups) &&
    (part.resources ?? []).every((resource) => coversResource(held.resources, resource)) &&
    coversNames(held.resourceNames, part.resourceNames ?? []) &&
    (part.nonResourceURLs ?? []).every((url) => coversPath(held, url))
  )
}

const hasAll = (held: ReadonlySet<string>, part: readonly string[] = []): boolean =>
  held.has(ALL) || part.every((value) => held.has(value))

function coversResource(held: ReadonlySet<string>, resource: string): boolean {
  if (held.has(ALL) || held.has(resource)) return true
  const slash = resource.indexOf('/')
  return slash >= 0 && held.has(`*${resource.slice(slash)}`)
}

const coversNames = (held: ReadonlySet<string>, part: readonly string[]): boolean =>
  held.size === 0 || (part.length > 0 && part.every((name) => held.has(name)))

const coversPath = ({ nonResourceURLs, prefixes }: HeldRule, path: string): boolean =>
  nonResourceURLs.has(path) || prefixes.some((prefix) => path.startsWith(prefix))

/** The verbs of one resource and name together. */
function compact(rules: readonly PolicyRule[]): PolicyRule[] {
  const compacted: PolicyRule[] = []
  const byTarget = new Map<string, PolicyRule & { verbs: string[] }>()
  for (const rule of rules) {
    if (rule.nonResourceURLs !== undefined) {
      compacted.push(rule)
      continue
    }
    const target = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames])
    const known = byTarget.get(target)
    if (known !== undefined) append(known.verbs, rule.verbs ?? [])
    else {
      const first = { ...rule, verbs: [...(rule.verbs ?? [])] }
      byTarget.set(target, first)
      compacted.push(first)
    }
  }
  return compacted
}

function describe({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const members = {
    APIGroups: apiGroups,
    Resources: resources,
    NonResourceURLs: nonResourceURLs,
    ResourceNames: resourceNames,
    Verbs: verbs,
  }
  const shown = Object.entries(members).filter(([, values]) => values !== undefined && values.length > 0)
  return `{${shown.map(([name, values]) => `${name}:[${values!.map(goQuote).join(' ')}]`).join(', ')}}`
}

const encoder = new TextEncoder()

function compareBytes(a: string, b: string): number {
  const [left, right] = [encoder.encode(a), encoder.encode(b)]
  const length = Math.min(left.length, right.length)
  for (let i = 0; i < length; i++) if (left[i] !== right[i]) return left[i]! - right[i]!
  return left.length - right.length
}
