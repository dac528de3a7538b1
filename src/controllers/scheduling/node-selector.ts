/** Which nodes a pod selects by their labels and fields (component-helpers' node affinity). */
import type { Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PodSpec } from '../../api/core/v1.ts'
import { labelValueErrors } from '../../api/label-syntax.ts'
import { ownValue } from '../../base/own.ts'
import { parseInt64 } from '../../go/int.ts'

type Values = Readonly<Record<string, string>>

function holds({ key = '', operator, values = [] }: NodeSelectorRequirement, labels: Values): boolean {
  const value = ownValue(labels, key)
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
    case 'Lt': {
      const [actual, bound] = [value, values[0]].map((text) => (text === undefined ? undefined : parseInt64(text)))
      if (actual === undefined || bound === undefined) return false
      return operator === 'Gt' ? actual > bound : actual < bound
    }
    default:
      return false
  }
}

/** A term without requirements selects nothing. */
export function matchesTerm(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  { metadata }: Node,
): boolean {
  if (matchExpressions.length === 0 && matchFields.length === 0) return false
  const fields = { 'metadata.name': metadata.name ?? '' }
  return (
    matchExpressions.every((requirement) => holds(requirement, metadata.labels ?? {})) &&
    matchFields.every((requirement) => holds(requirement, fields)) &&
    matchExpressions.every(isLabelRequirement)
  )
}

/** kube-apiserver takes other values, too. For kube-scheduler the term is broken then, and selects nothing. */
const isLabelRequirement = ({ values = [] }: NodeSelectorRequirement): boolean =>
  values.every((value) => labelValueErrors(value).length === 0)

/**
 * What kube-scheduler cannot read of a term, in its words. kube-apiserver accepts any values.
 * @param path of the term
 */
export const brokenParts = ({ matchExpressions = [] }: NodeSelectorTerm, path: string): string[] =>
  matchExpressions.flatMap(({ key, operator, values = [] }, at) => {
    const isNumber = operator === 'Gt' || operator === 'Lt'
    const invalid = (where: string, value: string, why: string) =>
      `${path}.matchExpressions[${at}].values${where}: Invalid value: ${JSON.stringify(value)}: ${why}`
    return [
      ...values.flatMap((value, i) =>
        isNumber && parseInt64(value) === undefined
          ? [invalid(`[${i}]`, value, "for 'Gt', 'Lt' operators, the value must be an integer")]
          : [],
      ),
      ...values.flatMap((value, i) => {
        const errors = labelValueErrors(value)
        return errors.length === 0 ? [] : [invalid(`[${i}][${key}]`, value, errors.join('; '))]
      }),
    ]
  })

export const matchesSelector = ({ nodeSelectorTerms = [] }: NodeSelector, node: Node): boolean =>
  nodeSelectorTerms.some((term) => matchesTerm(term, node))

/** Checks the nodeSelector and the required node affinity of a pod. */
export function isWanted({ nodeSelector = {}, affinity }: PodSpec, node: Node): boolean {
  const labels = node.metadata.labels ?? {}
  if (!Object.entries(nodeSelector).every(([key, value]) => ownValue(labels, key) === value)) return false
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return required === undefined || matchesSelector(required, node)
}
