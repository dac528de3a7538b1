/** Whether some rules allow all that other rules allow: nobody may grant what they do not have. */
import { append } from '../api/append.ts'
import { goQuote } from '../go/quote.ts'
import type { PolicyRule } from '../api/rbac/v1.ts'
import { ALL } from './policy-rule.ts'

/** What `granted` allows and `held` does not, each part once, in the order of text. Empty: everything is held. */
export function missingRules(held: readonly PolicyRule[], granted: readonly PolicyRule[]): string[] {
  const missing = granted.flatMap(parts).filter((part) => !held.some((rule) => covers(rule, part)))
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

function covers(held: PolicyRule, part: PolicyRule): boolean {
  return (
    hasAll(held.verbs, part.verbs) &&
    hasAll(held.apiGroups, part.apiGroups) &&
    (part.resources ?? []).every((resource) => coversResource(held.resources ?? [], resource)) &&
    coversNames(held.resourceNames ?? [], part.resourceNames ?? []) &&
    (part.nonResourceURLs ?? []).every((url) => (held.nonResourceURLs ?? []).some((owned) => coversPath(owned, url)))
  )
}

const hasAll = (held: readonly string[] = [], part: readonly string[] = []): boolean =>
  held.includes(ALL) || part.every((value) => held.includes(value))

function coversResource(held: readonly string[], resource: string): boolean {
  if (held.includes(ALL) || held.includes(resource)) return true
  const slash = resource.indexOf('/')
  return slash >= 0 && held.includes(`*${resource.slice(slash)}`)
}

const coversNames = (held: readonly string[], part: readonly string[]): boolean =>
  held.length === 0 || (part.length > 0 && part.every((name) => held.includes(name)))

const coversPath = (held: string, path: string): boolean =>
  held === path || (held.endsWith(ALL) && path.startsWith(held.replace(/\*+$/, '')))

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
