/**
 * Brings what nobody controls to those that select it, which adopt it. Key: RESOURCE.GROUP/NAMESPACE/NAME. Of two that
 * select it, the first one gets it.
 */
import type { ReplicaSet, Deployment } from '../../api/apps/v1.ts'
import type { GroupVersionKind } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import { ownValue } from '../../api/own.ts'
import { HopelessWork } from '../../registry/hopeless-work.ts'
import { controllerRefOf } from '../../registry/workload-work.ts'
import { matchesLabels } from '../../storage/selection.ts'
import type { Clientset, TypedResource } from '../clientset.ts'
import { clientsetFor } from '../clientset.ts'
import type { Controller } from '../controller.ts'
import { DEPLOYMENT, DEPLOYMENTS } from './deployment.ts'
import { claim, controllerRefTo, PODS, requirementsOf } from './pod-control.ts'
import { REPLICA_SET, REPLICA_SETS } from './replica-set.ts'

interface Owners {
  readonly resource: TypedResource<ReplicaSet | Deployment>
  readonly kind: GroupVersionKind
  readonly component: string
}

/** Who may adopt, by what is adopted. */
const ownersOf: Readonly<Record<string, { readonly orphans: TypedResource; readonly owners: readonly Owners[] }>> = {
  pods: {
    orphans: PODS,
    owners: [{ resource: REPLICA_SETS, kind: REPLICA_SET, component: 'replicaset-controller' }],
  },
  'replicasets.apps': {
    orphans: REPLICA_SETS,
    owners: [{ resource: DEPLOYMENTS, kind: DEPLOYMENT, component: 'deployment-controller' }],
  },
}

export const orphanController: Controller = {
  async reconcile(key, context) {
    const [resource = '', namespace, name, ...more] = key.split('/')
    const known = ownValue(ownersOf, resource)
    if (known === undefined || !namespace || !name || more.length > 0)
      throw new HopelessWork(`${JSON.stringify(key)} names nothing that can be adopted`)
    const orphan = await clientsetFor(context, 'orphan-controller').resource(known.orphans, namespace).get(name)
    if (orphan === undefined || controllerRefOf(orphan) !== undefined) return undefined
    for (const owners of known.owners) {
      const clients = clientsetFor(context, owners.component)
      if (await adopted(clients, known.orphans, owners, orphan)) return undefined
    }
    return undefined
  },
}

async function adopted(
  clients: Clientset,
  orphans: TypedResource,
  { resource, kind }: Owners,
  orphan: KubeObject,
): Promise<boolean> {
  for await (const owner of clients.resource(resource, orphan.metadata.namespace).each()) {
    const selector = requirementsOf(owner.spec?.selector)
    if (selector.length === 0 || !matchesLabels(selector, orphan.metadata.labels ?? {})) continue
    const claimed = await claim(clients, orphans, owner, controllerRefTo(owner, kind), selector, [orphan])
    if (claimed.length > 0) return true
  }
  return false
}
