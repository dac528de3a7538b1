import type { LabelSelector } from '../../api/meta/v1.ts'
import { labelSelectorText } from '../../storage/selectors/label-selector-text.ts'

/** The cell of a selector (metav1.FormatLabelSelector). */
export function selectorCell(selector: LabelSelector | null | undefined): string {
  const text = labelSelectorText(selector ?? {})
  return text === '' ? '<none>' : text
}

/** The text of the selector's generated String method in Go. Cells of policy bindings have it. */
export function selectorDebugText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const labels = Object.keys(matchLabels)
    .sort()
    .map((key) => `${key}: ${matchLabels[key]!},`)
  const expressions = matchExpressions.map(
    ({ key = '', operator = '', values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  )
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`
}
