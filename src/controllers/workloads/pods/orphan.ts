/**
 * Lets owners adopt objects without a controller that their selectors match. Key: RESOURCE.GROUP/NAMESPACE/NAME. Where
 * two owners match, the first one adopts the object.
 */
import type { LabelSelector } from '../../../api/meta/v1.ts'
import type { ControllerName } from '../../../configuration/controllers.ts'
import type { GroupVersionKind } from '../../../api/group-version.ts'
import { groupResourceText } from '../../../api/group-version.ts'
import type { Job } from '../../../api/batch/v1.ts'
import type { Pod } from '../../../api/core/v1.ts'
import type { KubeObject } from '../../../api/object.ts'
import { HopelessWork } from '../../../registry/work/hopeless-work.ts'
import { controllerRefOf } from '../../../registry/work/work.ts'
import type { LabelRequirement } from '../../../storage/selectors/selection.ts'
import { matchesLabels } from '../../../storage/selectors/selection.ts'
import type { TypedResource } from '../../client/clientset.ts'
import { clientsetFor } from '../../client/clientset.ts'
import type { Controller, ControllerContext } from '../../controller.ts'
import { isControllerOurs } from '../../leader/leadership.ts'
import { DAEMON_SET, DAEMON_SETS } from '../daemon-set/history.ts'
import { DAEMON_SET_COMPONENT } from '../daemon-set/daemon-set.ts'
import { DEPLOYMENT, DEPLOYMENTS } from '../deployment/deployment.ts'
import { JOB, JOB_COMPONENT, JOBS, OURS } from '../job/kind.ts'
import { isOver, TRACKING } from '../job/state.ts'
import { claim, controllerRefTo, PODS, requirementsOf } from './pod-control.ts'
import { isActive } from './pod-state.ts'
import {
  REPLICA_SET,
  REPLICA_SETS,
  REPLICATION_CONTROLLER,
  REPLICATION_CONTROLLERS,
  selectorOf,
} from '../replica-set.ts'
import { isMemberOf, STATEFUL_SET } from '../stateful-set/pods.ts'
import { STATEFUL_SET_COMPONENT, STATEFUL_SETS } from '../stateful-set/stateful-set.ts'
import { REVISIONS } from '../templates/revisions.ts'

/** The part of an owner that is kept in memory, because there may be many owners. */
type Identity = Pick<KubeObject, 'metadata'>

const identityOf = ({ metadata: { name, namespace, uid, deletionTimestamp } }: KubeObject): Identity => ({
  metadata: {
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
  },
})

/** Whether an owner of a kind adopted the orphan. */
type Adopters<Orphan extends KubeObject> = (
  context: ControllerContext,
  orphans: TypedResource<Orphan>,
  orphan: Orphan,
) => Promise<boolean>

const adopters =
  <Owner extends KubeObject, Orphan extends KubeObject>(
    resource: TypedResource<Owner>,
    kind: GroupVersionKind,
    [controller, component]: readonly [name: ControllerName, account: string],
    selecting: (owner: Owner) => LabelSelector | undefined,
    belongs: (owner: Identity, orphan: Orphan) => boolean = () => true,
    finalizer?: string,
  ): Adopters<Orphan> =>
  async (context, orphans, orphan) => {
    if (!isControllerOurs(controller, context)) return false
    const clients = clientsetFor(context, component)
    const { namespace = '', labels = {} } = orphan.metadata
    // the pods of a batch have the same candidates
    const candidates = await context.once(`selectors of ${resource.resource} in ${namespace}`, async () => {
      const found: { owner: Identity; selector: readonly LabelRequirement[] }[] = []
      for await (const owner of clients.resource(resource, namespace).each())
        found.push({ owner: identityOf(owner), selector: requirementsOf(selecting(owner)) })
      return found
    })
    for (const { owner, selector } of candidates) {
      if (selector.length === 0 || !matchesLabels(selector, labels) || !belongs(owner, orphan)) continue
      const claimed = await claim(
        clients,
        orphans,
        owner,
        controllerRefTo(owner, kind),
        selector,
        [orphan],
        finalizer === undefined ? {} : { finalizer },
      )
      if (claimed.length > 0) return true
    }
    return false
  }

type Adopt = (context: ControllerContext, namespace: string, name: string) => Promise<void>

/** @param kinds the kinds that may adopt the orphans, in order of priority */
const adoption = <Orphan extends KubeObject>(
  orphans: TypedResource<Orphan>,
  ...kinds: readonly Adopters<Orphan>[]
): readonly [orphans: string, Adopt] => [
  groupResourceText(orphans),
  async (context, namespace, name) => {
    const orphan = await clientsetFor(context, 'orphan-controller').resource(orphans, namespace).get(name)
    if (orphan === undefined || controllerRefOf(orphan) !== undefined) return
    for (const adopt of kinds) if (await adopt(context, orphans, orphan)) return
  },
]

const same = <Name extends ControllerName>(name: Name) => [name, name] as const

/** ReplicaSets and ReplicationControllers leave finished pods alone. */
const isWanted = (_owner: Identity, pod: Pod & KubeObject): boolean => isActive(pod)

const ofReplicaSets = adopters(
  REPLICA_SETS,
  REPLICA_SET,
  same('replicaset-controller'),
  ({ spec }) => spec?.selector,
  isWanted,
)
const ofControllers = adopters(
  REPLICATION_CONTROLLERS,
  REPLICATION_CONTROLLER,
  ['replicationcontroller-controller', 'replication-controller'],
  ({ spec }) => selectorOf(spec?.selector),
  isWanted,
)
const ofDaemonSets = adopters(
  DAEMON_SETS,
  DAEMON_SET,
  ['daemonset-controller', DAEMON_SET_COMPONENT],
  ({ spec }) => spec?.selector,
)
const ofDeployments = adopters(DEPLOYMENTS, DEPLOYMENT, same('deployment-controller'), ({ spec }) => spec?.selector)
const ofStatefulSets = <Orphan extends KubeObject>(belongs?: (set: Identity, orphan: Orphan) => boolean) =>
  adopters(STATEFUL_SETS, STATEFUL_SET, same(STATEFUL_SET_COMPONENT), ({ spec }) => spec?.selector, belongs)

/** Ended Jobs, and Jobs that another controller manages, adopt nothing. */
const ofJobs = adopters<KubeObject & Job, Pod & KubeObject>(
  JOBS,
  JOB,
  ['job-controller', JOB_COMPONENT],
  (job) => (isOver(job) || (job.spec?.managedBy ?? OURS) !== OURS ? undefined : job.spec?.selector),
  undefined,
  TRACKING,
)

/** The adoptions by the resource of the orphan. */
const adoptions: ReadonlyMap<string, Adopt> = new Map([
  adoption(PODS, ofReplicaSets, ofStatefulSets<Pod>(isMemberOf), ofDaemonSets, ofControllers, ofJobs),
  adoption(REPLICA_SETS, ofDeployments),
  adoption(REVISIONS, ofStatefulSets(), ofDaemonSets),
])

export const orphanController: Controller = {
  async reconcile(key, context) {
    const [resource = '', namespace, name, ...more] = key.split('/')
    const adopt = adoptions.get(resource)
    if (adopt === undefined || !namespace || !name || more.length > 0)
      throw new HopelessWork(`${JSON.stringify(key)} names nothing that can be adopted`)
    await adopt(context, namespace, name)
    return undefined
  },
}
