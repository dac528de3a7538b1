/**
 * The selectors for the default spreading of pods without constraints of their own: those of their Services and owner.
 */
import type { ReplicaSet, StatefulSet } from '../../api/apps/v1.ts'
import type { Pod, ReplicationController, Service } from '../../api/core/v1.ts'
import { groupKindText } from '../../api/group-version.ts'
import { ownValue } from '../../base/own.ts'
import { controllerRefOf } from '../../registry/work/work.ts'
import { ownerKindOf } from '../../registry/work/owner-kinds.ts'
import type { LabelRequirement } from '../../storage/selectors/selection.ts'
import type { Clientset, TypedResource } from '../client/clientset.ts'
import { typedResource } from '../client/clientset.ts'
import { requirementsOf } from '../workloads/pods/pod-control.ts'
import { REPLICA_SET, REPLICA_SETS, REPLICATION_CONTROLLER, REPLICATION_CONTROLLERS } from '../workloads/replica-set.ts'
import { STATEFUL_SET } from '../workloads/stateful-set/pods.ts'
import { STATEFUL_SETS } from '../workloads/stateful-set/stateful-set.ts'

const SERVICES = typedResource<Service>('', 'services')

type Selecting = ReplicaSet | StatefulSet | ReplicationController

/** Resources by the kind of the owner. kube-scheduler reads these three. */
const owners: ReadonlyMap<string, TypedResource<Selecting>> = new Map([
  [groupKindText(REPLICA_SET), REPLICA_SETS],
  [groupKindText(STATEFUL_SET), STATEFUL_SETS],
  [groupKindText(REPLICATION_CONTROLLER), REPLICATION_CONTROLLERS],
])

/** The default selectors for the pods of one run, which reads them once. */
export class DefaultSelectors {
  private constructor(
    private readonly services: ReadonlyMap<string, readonly Service[]>,
    /** By the UID of the owner. */
    private readonly ofOwners: ReadonlyMap<string, readonly LabelRequirement[]>,
  ) {}

  static async of(pods: readonly Pod[], clients: Clientset): Promise<DefaultSelectors> {
    const asking = pods.filter(({ spec }) => (spec?.topologySpreadConstraints ?? []).length === 0)
    const services = new Map<string, readonly Service[]>()
    const ofOwners = new Map<string, readonly LabelRequirement[]>()
    for (const pod of asking) {
      const { namespace = '' } = pod.metadata
      if (!services.has(namespace)) services.set(namespace, await clients.resource(SERVICES, namespace).list())
      const owner = controllerRefOf(pod)
      const resource = owner && owners.get(ownerKindOf(owner))
      if (resource === undefined || owner?.uid === undefined || ofOwners.has(owner.uid)) continue
      const found = await clients.resource(resource, namespace).get(owner.name ?? '')
      ofOwners.set(owner.uid, found === undefined ? [] : selectorOf(found))
    }
    return new DefaultSelectors(services, ofOwners)
  }

  /** Undefined: neither a Service nor an owner selects the pod. */
  for({ metadata, ...pod }: Pod): readonly LabelRequirement[] | undefined {
    const labels = metadata.labels ?? {}
    const ofServices = new Map<string, string>()
    for (const { spec } of this.services.get(metadata.namespace ?? '') ?? []) {
      const selector = Object.entries(spec?.selector ?? {})
      // few: the labels of one selector
      if (spec?.selector !== undefined && selector.every(([key, value]) => ownValue(labels, key) === value))
        for (const [key, value] of selector) ofServices.set(key, value)
    }
    const owner = controllerRefOf({ ...pod, metadata })
    const requirements = [
      ...[...ofServices].map(([key, value]) => ({ key, operator: 'In', values: [value] }) as const),
      ...((owner?.uid !== undefined && this.ofOwners.get(owner.uid)) || []),
    ]
    return requirements.length === 0 ? undefined : requirements
  }
}

/** A ReplicationController selects by a map of labels, the other owners by a LabelSelector. */
function selectorOf({ spec }: Selecting): readonly LabelRequirement[] {
  const selector = spec?.selector
  if (selector === undefined) return []
  const isSelector = 'matchLabels' in selector || 'matchExpressions' in selector
  return requirementsOf(isSelector ? selector : { matchLabels: selector as Record<string, string> })
}
