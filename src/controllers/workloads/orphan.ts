/**
 * Brings what nobody controls to those that select it, which adopt it. Key: RESOURCE.GROUP/NAMESPACE/NAME. Of two that
 * select it, the first one gets it.
 */
import type { LabelSelector } from '../../api/meta/v1.ts'
import type { ControllerName } from '../../configuration/controllers.ts'
import type { GroupVersionKind } from '../../api/group-version.ts'
import type { Pod } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { ownValue } from '../../api/own.ts'
import { HopelessWork } from '../../registry/hopeless-work.ts'
import { controllerRefOf } from '../../registry/workload-work.ts'
import { matchesLabels } from '../../storage/selection.ts'
import type { TypedResource } from '../clientset.ts'
import { clientsetFor } from '../clientset.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { isControllerOurs } from '../leadership.ts'
import { DEPLOYMENT, DEPLOYMENTS } from './deployment.ts'
import { claim, controllerRefTo, PODS, requirementsOf } from './pod-control.ts'
import { REPLICA_SET, REPLICA_SETS } from './replica-set.ts'
import { isMemberOf, STATEFUL_SET } from './stateful-set-pods.ts'
import { STATEFUL_SET_COMPONENT, STATEFUL_SETS } from './stateful-set.ts'
import { REVISIONS } from './template-revisions.ts'

/** Whether somebody of a kind adopted the orphan. */
type Adopters<Orphan extends KubeObject> = (
  context: ControllerContext,
  orphans: TypedResource<Orphan>,
  orphan: Orphan,
) => Promise<boolean>

interface Selecting extends KubeObject {
  readonly spec?: { readonly selector?: LabelSelector }
}

const adopters =
  <Owner extends Selecting, Orphan extends KubeObject>(
    resource: TypedResource<Owner>,
    kind: GroupVersionKind,
    component: ControllerName,
    belongs: (owner: Owner, orphan: Orphan) => boolean = () => true,
  ): Adopters<Orphan> =>
  async (context, orphans, orphan) => {
    if (!isControllerOurs(component, context)) return false
    const clients = clientsetFor(context, component)
    for await (const owner of clients.resource(resource, orphan.metadata.namespace).each()) {
      const selector = requirementsOf(owner.spec?.selector)
      if (selector.length === 0 || !matchesLabels(selector, orphan.metadata.labels ?? {})) continue
      if (!belongs(owner, orphan)) continue
      const claimed = await claim(clients, orphans, owner, controllerRefTo(owner, kind), selector, [orphan])
      if (claimed.length > 0) return true
    }
    return false
  }

const adoption =
  <Orphan extends KubeObject>(orphans: TypedResource<Orphan>, ...kinds: readonly Adopters<Orphan>[]) =>
  async (context: ControllerContext, namespace: string, name: string): Promise<void> => {
    const orphan = await clientsetFor(context, 'orphan-controller').resource(orphans, namespace).get(name)
    if (orphan === undefined || controllerRefOf(orphan) !== undefined) return
    for (const adopt of kinds) if (await adopt(context, orphans, orphan)) return
  }

/** Who may adopt, by what is adopted. */
const adoptions: Readonly<Record<string, ReturnType<typeof adoption>>> = {
  pods: adoption(
    PODS,
    adopters(REPLICA_SETS, REPLICA_SET, 'replicaset-controller'),
    adopters(STATEFUL_SETS, STATEFUL_SET, STATEFUL_SET_COMPONENT, (set, pod: Pod) => isMemberOf(set, pod)),
  ),
  'replicasets.apps': adoption(REPLICA_SETS, adopters(DEPLOYMENTS, DEPLOYMENT, 'deployment-controller')),
  'controllerrevisions.apps': adoption(REVISIONS, adopters(STATEFUL_SETS, STATEFUL_SET, STATEFUL_SET_COMPONENT)),
}

export const orphanController: Controller = {
  async reconcile(key, context) {
    const [resource = '', namespace, name, ...more] = key.split('/')
    const adopted = ownValue(adoptions, resource)
    if (adopted === undefined || !namespace || !name || more.length > 0)
      throw new HopelessWork(`${JSON.stringify(key)} names nothing that can be adopted`)
    await adopted(context, namespace, name)
    return undefined
  },
}
