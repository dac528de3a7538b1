import { settingsOf } from '../../settings.ts'
import type { AdmissionPlugin } from '../attributes.ts'
import { isOfPods, podOf } from './pod-attributes.ts'

const KEYS = { notReady: 'node.kubernetes.io/not-ready', unreachable: 'node.kubernetes.io/unreachable' } as const

/**
 * DefaultTolerationSeconds: a pod stays some time on a node that is not ready or unreachable, five minutes by default,
 * unless it tolerates that for another time.
 */
export const defaultTolerationSeconds: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  handles: (attributes) =>
    (attributes.operation === 'CREATE' || attributes.operation === 'UPDATE') && isOfPods(attributes),
  admit(attributes) {
    const spec = (podOf(attributes).spec ??= {})
    const tolerations = spec.tolerations ?? []
    const seconds = settingsOf(attributes.request.env).tolerationSeconds
    const added = (['notReady', 'unreachable'] as const).flatMap((state) => {
      const wanted = KEYS[state]
      const isThere = tolerations.some(
        ({ key = '', effect = '' }) => (key === wanted || key === '') && (effect === 'NoExecute' || effect === ''),
      )
      if (isThere) return []
      return [{ key: wanted, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: seconds[state] }]
    })
    if (added.length > 0) spec.tolerations = [...tolerations, ...added]
  },
}
