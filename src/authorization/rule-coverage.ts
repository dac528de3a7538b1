/** Whether some rules cover all that other rules allow. Nobody may grant rights that they do not have. */
import { withoutTrailing } from '../base/trim.ts'
import { append } from '../base/append.ts'
import { goQuote } from '../go/quote.ts'
import { Budget } from '../base/budget.ts'
import { sortNames, sortedTexts } from '../base/name-order.ts'
import { inParts, mapNames } from '../base/parts.ts'
import type { PolicyRule } from '../api/rbac/v1.ts'
import { requestEntityTooLarge } from '../api/status.ts'
import type { Steps } from '../base/slices.ts'
import { ALL, countOfValues } from './policy-rule.ts'

/** Comparisons, or values of rules that are gone through, between two turns of others: some milliseconds. */
const PART = 20_000

/** How much is done of a part. */
class Pace {
  private done = 0

  /** @returns whether others should have their turn */
  isOver(work: number): boolean {
    this.done += work
    if (this.done < PART) return false
    this.done = 0
    return true
  }
}

/** The rights that `granted` allows and `held` does not, each part once, sorted by text. Empty where all are held. */
export function* missingRules(held: readonly PolicyRule[], granted: readonly PolicyRule[]): Steps<string[]> {
  const pace = new Pace()
  const missing = yield* missingParts(held, granted, pace)
  const texts = new Set<string>()
  for (const rule of yield* compact(missing, pace)) {
    texts.add(describe(rule))
    if (pace.isOver(DESCRIBED)) yield
  }
  if (texts.size < MANY) return sortNames([...texts])
  return yield* inParts(() =>
    mapNames(
      texts,
      (all) => sortedTexts([...all]),
      (text) => text,
    ),
  )
}

/** The rights that `granted` allows and `held` does not, as rules with one verb, resource and name each. */
export function* missingParts(
  held: readonly PolicyRule[],
  granted: readonly PolicyRule[],
  pace = new Pace(),
): Steps<PolicyRule[]> {
  const work = new Budget(MAX_WORK)
  const owned: HeldRule[] = []
  for (const rule of held) {
    owned.push(heldRule(rule))
    if (pace.isOver(1 + countOfValues(rule))) yield
  }
  if (!work.spend(granted.length * owned.length)) throw tooManyParts()
  /** Those that no rule covers as a whole. */
  function* uncovered(rules: readonly PolicyRule[]): Steps<PolicyRule[]> {
    const found: PolicyRule[] = []
    for (const rule of rules) {
      const values = countOfValues(rule)
      let isCovered = false
      for (const one of owned) {
        if ((isCovered = covers(one, rule))) break
        if (pace.isOver(1 + values / VALUES)) yield
      }
      if (!isCovered) found.push(rule)
      if (pace.isOver(1 + values / VALUES)) yield
    }
    return found
  }
  // most rules are covered by one as a whole: an administrator's
  const open = yield* uncovered(granted)
  const count = open.reduce((sum, rule) => sum + countOfParts(rule), 0)
  if (!work.spend(count * (owned.length + COST_OF_PART))) throw tooManyParts()
  const missing: PolicyRule[] = []
  for (const rule of open) {
    const all = parts(rule)
    if (pace.isOver(all.length)) yield
    append(missing, yield* uncovered(all))
  }
  return missing
}

/** Texts that are not sorted at once. */
const MANY = 1024

/** Values of a rule that are looked up in the time of a comparison. */
const VALUES = 8
/** Comparisons in the time in which a rule becomes text. */
const DESCRIBED = 32

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

/** The number of `parts`: the product of the lengths of a rule's lists, which is large even for a small Role. */
const countOfParts = ({
  verbs = [],
  apiGroups = [],
  resources = [],
  resourceNames = [],
  nonResourceURLs = [],
}: PolicyRule): number =>
  verbs.length * (apiGroups.length * resources.length * Math.max(1, resourceNames.length) + nonResourceURLs.length)

/** The most comparisons of parts with rules: some hundred milliseconds. Larger Roles must be granted in pieces. */
const MAX_WORK = 5_000_000
/** The weight of making and reporting a part, in comparisons. */
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

/** Joins the verbs of parts with the same resource and name. */
function* compact(rules: readonly PolicyRule[], pace: Pace): Steps<PolicyRule[]> {
  const compacted: PolicyRule[] = []
  const byTarget = new Map<string, PolicyRule & { verbs: string[] }>()
  for (const rule of rules) {
    if (pace.isOver(DESCRIBED)) yield
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
