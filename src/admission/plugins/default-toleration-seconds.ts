import type { AdmissionPlugin } from '../attributes.ts'
import { isOfPods, podOf } from './pod-attributes.ts'

const KEYS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']
const SECONDS = 300

/**
 * DefaultTolerationSeconds: a pod stays five minutes on a node that is not ready or unreachable, unless it tolerates
 * that for another time.
 */
export const defaultTolerationSeconds: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  handles: (attributes) =>
    (attributes.operation === 'CREATE' || attributes.operation === 'UPDATE') && isOfPods(attributes),
  admit(attributes) {
    const spec = (podOf(attributes).spec ??= {})
    const tolerations = spec.tolerations ?? []
    const missing = KEYS.filter(
      (wanted) =>
        !tolerations.some(
          ({ key = '', effect = '' }) => (key === wanted || key === '') && (effect === 'NoExecute' || effect === ''),
        ),
    )
    if (missing.length === 0) return
    spec.tolerations = [
      ...tolerations,
      ...missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: SECONDS })),
    ]
  },
}
