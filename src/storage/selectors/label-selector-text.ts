import type { LabelSelector } from '../../api/meta/v1.ts'

/** Writes a label selector as a query parameter (apimachinery's metav1.FormatLabelSelector), sorted by key. */
export function labelSelectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const terms: [key: string, text: string][] = Object.entries(matchLabels).map(([key, value]) => [
    key,
    `${key}=${value}`,
  ])
  for (const { key = '', operator, values = [] } of matchExpressions) {
    const list = [...values].sort().join(',')
    if (operator === 'In') terms.push([key, `${key} in (${list})`])
    else if (operator === 'NotIn') terms.push([key, `${key} notin (${list})`])
    else terms.push([key, operator === 'Exists' ? key : `!${key}`])
  }
  return terms
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, text]) => text)
    .join(',')
}
