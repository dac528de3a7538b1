import type { Pod } from '../../api/core/v1.ts'
import type { Strategy } from '../strategy.ts'

export const pods: Strategy<Pod> = {
  prepareForCreate(pod) {
    pod.status = { phase: 'Pending', qosClass: 'BestEffort' }
  },
  /** A pod without a node, or one that is over, goes at once. */
  gracePeriod(pod, asked) {
    const finished = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
    if (!pod.spec?.nodeName || finished) return 0
    return asked ?? pod.spec.terminationGracePeriodSeconds ?? 30
  },
  selectableFields: ({ spec, status }) => ({
    'spec.nodeName': spec?.nodeName ?? '',
    'spec.restartPolicy': spec?.restartPolicy ?? '',
    'spec.schedulerName': spec?.schedulerName ?? '',
    'spec.serviceAccountName': spec?.serviceAccountName ?? '',
    'spec.hostNetwork': String(spec?.hostNetwork ?? false),
    'status.phase': status?.phase ?? '',
    'status.podIP': status?.podIP ?? status?.podIPs?.[0]?.ip ?? '',
    'status.podIPs': status?.podIPs?.[0]?.ip ?? '',
    'status.nominatedNodeName': status?.nominatedNodeName ?? '',
  }),
}
