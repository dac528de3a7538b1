/** NodeAffinity: which nodes a pod requires and prefers, together with the affinity that its profile adds. */
import type { NodeAffinity, NodeSelectorTerm, PreferredSchedulingTerm } from '../../../api/core/v1.ts'
import { weightOf } from '../cycle-work.ts'
import type { FilterPlugin, Filtering, ScorePlugin } from '../framework.ts'
import { CycleFailed, forGood } from '../framework.ts'
import { brokenParts, isWanted, matchesSelector, matchesTerm } from '../node-selector.ts'
import type { NodeState } from '../node-state.ts'
import { largestIsBest } from '../normalize.ts'

/** The parameter is the affinity that the profile adds to each pod (addedAffinity). */
export const nodeAffinity = ({
  requiredDuringSchedulingIgnoredDuringExecution: enforced,
  preferredDuringSchedulingIgnoredDuringExecution: preferredAnyway = [],
}: NodeAffinity = {}): FilterPlugin & ScorePlugin => ({
  name: 'NodeAffinity',
  isHelpedBy({ pod: { spec = {} } }, { before, now }) {
    const suits = ({ node }: NodeState) =>
      isWanted(spec, node) && (enforced === undefined || matchesSelector(enforced, node))
    return suits(now) && (before === undefined || !suits(before))
  },
  *begin({ pod: { spec = {} }, info }) {
    const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
    if (required === undefined && spec.nodeSelector === undefined && enforced === undefined) return undefined
    const only = nodeNames(required?.nodeSelectorTerms ?? [])
    if (only?.size === 0) return forGood('pod affinity terms conflict')
    const against = forGood("node(s) didn't match scheduler-enforced node affinity")
    const refusal = forGood("node(s) didn't match Pod's node affinity/selector")
    return {
      only,
      weight: weightOf(info.rules),
      refuses({ node }) {
        if (enforced !== undefined && !matchesSelector(enforced, node)) return against
        return isWanted(spec, node) ? undefined : refusal
      },
    } satisfies Filtering
  },
  *score({ pod, info, work }, nodes) {
    const own = pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
    const terms = [...preferredAnyway, ...own]
    if (terms.length === 0) return undefined
    const broken = own.flatMap(({ preference = {} }, at) => brokenParts(preference, `[${at}]`))
    if (broken.length > 0) throw new CycleFailed(`running PreScore plugin "NodeAffinity": ${oneOrAll(broken)}`)
    return largestIsBest(yield* work.map(nodes, (node) => preferenceFor(node, terms), weightOf(info.rules)))
  },
})

/** Errors together, as Go writes them: each once. */
function oneOrAll(errors: readonly string[]): string {
  const different = [...new Set(errors)]
  return different.length === 1 ? different[0]! : `[${different.join(', ')}]`
}

function preferenceFor({ node }: NodeState, terms: readonly PreferredSchedulingTerm[]): number {
  let sum = 0
  for (const { weight = 0, preference } of terms)
    if (preference !== undefined && matchesTerm(preference, node)) sum += weight
  return sum
}

/** The names of the only nodes that the terms allow; undefined: some term names none. */
function nodeNames(terms: readonly NodeSelectorTerm[]): ReadonlySet<string> | undefined {
  if (terms.length === 0) return undefined
  const names = new Set<string>()
  for (const { matchFields = [] } of terms) {
    let ofTerm: ReadonlySet<string> | undefined
    for (const { key, operator, values = [] } of matchFields)
      if (key === 'metadata.name' && operator === 'In') {
        const before = ofTerm
        ofTerm = new Set(values.filter((value) => before?.has(value) !== false))
      }
    if (ofTerm === undefined) return undefined
    for (const name of ofTerm) names.add(name)
  }
  return names
}
