/** The former names of labels of nodes, which node selectors may still use. They follow the present names. */
import type { Node } from '../../api/core/v1.ts'
import { ownValue, setOwn } from '../../base/own.ts'

const FORMER: Readonly<Record<string, string>> = {
  'kubernetes.io/os': 'beta.kubernetes.io/os',
  'kubernetes.io/arch': 'beta.kubernetes.io/arch',
}

/** The labels under former names that the node lacks, or has with another value. */
export function formerLabels({ metadata: { labels } }: Node): Record<string, string> {
  const wanted: Record<string, string> = {}
  for (const [present, former] of Object.entries(FORMER)) {
    const value = ownValue(labels, present)
    if (value !== undefined && ownValue(labels, former) !== value) setOwn(wanted, former, value)
  }
  return wanted
}
