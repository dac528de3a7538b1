/** The clients of one controller (client-go's clientset). Its reads and writes go through the steps of any request. */
import { admissionChain } from '../../admission/chain.ts'
import type { GroupResource } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import { serviceAccountGroups, serviceAccountUser } from '../../authentication/service-account-name.ts'
import type { ResourceEntry, ServedResources } from '../../registry/served/resources.ts'
import type { Actor } from '../../registry/write/actor.ts'
import { withoutAdmission } from '../../registry/write/admission.ts'
import { API_SERVER, authenticated } from '../../request/user-info.ts'
import type { Tenant } from '../../storage/tenant.ts'
import type { WorkBudget } from '../../storage/shards/turn-budget.ts'
import type { ControllerContext } from '../controller.ts'
import { ResourceClient } from './resource-client.ts'

/** A resource, and the type of its objects: `{ group: '', resource: 'pods' } satisfies TypedResource<Pod>`. */
export interface TypedResource<O extends KubeObject = KubeObject> extends GroupResource {
  /** Only a type: no value has this member. */
  readonly objects?: O
}

export const typedResource = <O extends KubeObject>(group: string, resource: string): TypedResource<O> => ({
  group,
  resource,
})

export class Clientset {
  constructor(
    private readonly context: ControllerContext,
    private readonly actor: Actor,
  ) {}

  get budget(): WorkBudget {
    return this.context.budget
  }

  get tenant(): Tenant {
    return this.context.tenant
  }

  /**
   * @param namespace '' for cluster-scoped resources, and to list across namespaces
   * @throws Error where the resource is not served
   */
  resource<O extends KubeObject>(resource: TypedResource<O>, namespace = ''): ResourceClient<O> {
    const entry = entryIn(this.context.served, resource)
    if (entry === undefined) throw new Error(`${resource.resource}.${resource.group} is not served`)
    return this.of<O>(entry, namespace)
  }

  /** Like `resource`, for a resource that need not be served. */
  of<O extends KubeObject>(entry: ResourceEntry, namespace = ''): ResourceClient<O> {
    return new ResourceClient<O>(this.context, this.actor, entry, namespace)
  }

  /** Undefined where the resource was not served when the work began. */
  ifKnown<O extends KubeObject>(resource: TypedResource<O>, namespace = ''): ResourceClient<O> | undefined {
    const entry = entryIn(this.context.served, resource)
    return entry && this.of<O>(entry, namespace)
  }

  /** Undefined where the resource is not served, even after reading the latest definitions. */
  async ifServed<O extends KubeObject>(
    resource: TypedResource<O>,
    namespace = '',
  ): Promise<ResourceClient<O> | undefined> {
    const entry = entryIn(this.context.served, resource) ?? entryIn(await this.context.freshServed(), resource)
    return entry && this.of<O>(entry, namespace)
  }
}

/**
 * Writes as the ServiceAccount in kube-system with the controller's name, as kube-controller-manager does. All of
 * admission applies.
 */
export const clientsetFor = (context: ControllerContext, controller: string): Clientset =>
  new Clientset(context, serviceAccountActor(controller))

const serviceAccountActor = (name: string): Actor => ({
  user: authenticated({
    name: serviceAccountUser({ namespace: 'kube-system', name }),
    groups: serviceAccountGroups('kube-system'),
  }),
  fieldManager: 'kube-controller-manager',
  admission: admissionChain,
})

/**
 * Writes as the user of the controller's topic. All of admission applies, as to kube-controller-manager's requests. The
 * controller retries a refused write later.
 * @param fieldManager the owner of the written fields
 */
export const managerClients = (context: ControllerContext, fieldManager = 'kube-controller-manager'): Clientset =>
  new Clientset(context, {
    user: context.user,
    fieldManager,
    admission: admissionChain,
  })

/** For requests that kube-apiserver sends to itself by its loopback client. All of admission applies. */
export const serverClients = (context: ControllerContext, fieldManager = 'kube-apiserver'): Clientset =>
  new Clientset(context, {
    user: API_SERVER,
    fieldManager,
    admission: admissionChain,
  })

/** For work that kube-apiserver does in its registry, below admission: deleting the objects of a deleted definition. */
export const registryClients = (context: ControllerContext): Clientset =>
  new Clientset(context, {
    user: API_SERVER,
    fieldManager: 'kube-apiserver',
    admission: withoutAdmission,
  })

/**
 * The resource in the storage version, where several versions share their objects.
 * @param resource the storage name of the resource, because a definition may have the names of a built-in type
 */
function entryIn(served: ServedResources, { group, resource }: GroupResource): ResourceEntry | undefined {
  const entries = served.inGroup(group).filter(({ storage }) => storage.resource === resource)
  return entries.find(({ version, storage }) => version === storage.version) ?? entries[0]
}
