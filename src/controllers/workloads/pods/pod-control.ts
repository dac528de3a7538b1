/**
 * Creates, deletes, adopts and releases pods for their owners, with Events (kube-controller-manager's PodControl).
 */
import { eachInTurns, inTurns } from '../../work/in-turns.ts'
import type { Pod, PodTemplateSpec } from '../../../api/core/v1.ts'
import { cloneJson } from '../../../json/clone-json.ts'
import type { KubeObject, OwnerReference } from '../../../api/object.ts'
import { StatusError } from '../../../api/status.ts'
import { apiVersionOf } from '../../../api/group-version.ts'
import type { GroupVersionKind } from '../../../api/group-version.ts'
import { controllerRefOf } from '../../../registry/work/work.ts'
import type { LabelSelector } from '../../../api/meta/v1.ts'
import { labelSelectorRequirements } from '../../../storage/selectors/label-selector.ts'
import { labelSelectorText } from '../../../storage/selectors/label-selector-text.ts'
import type { LabelRequirement } from '../../../storage/selectors/selection.ts'
import { matchesLabels } from '../../../storage/selectors/selection.ts'
import type { WorkBudget } from '../../../storage/shards/turn-budget.ts'
import type { Clientset, TypedResource } from '../../client/clientset.ts'
import { typedResource } from '../../client/clientset.ts'
import type { ListOptions, ResourceClient } from '../../client/resource-client.ts'
import { deleteIfThere, unlessGone } from '../../work/unless-gone.ts'
import type { EventRecorder } from '../events/events.ts'

/** The requirements of a validated selector, whose members are present. */
export const requirementsOf = (selector: LabelSelector | undefined): LabelRequirement[] =>
  labelSelectorRequirements((selector ?? {}) as Parameters<typeof labelSelectorRequirements>[0])

export const PODS = typedResource<Pod>('', 'pods')

const NAMESPACE_TERMINATING = 'NamespaceTerminating'

export function controllerRefTo({ metadata }: KubeObject, kind: GroupVersionKind): OwnerReference {
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  }
}

export function podFromTemplate(template: PodTemplateSpec | undefined, owner: KubeObject, ref: OwnerReference): Pod {
  const { labels, annotations, finalizers } = template?.metadata ?? {}
  return cloneJson({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      generateName: `${owner.metadata.name}-`,
      namespace: owner.metadata.namespace ?? '',
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ownerReferences: [ref],
    },
    spec: template?.spec ?? {},
  })
}

export class PodControl {
  constructor(
    private readonly clients: Clientset,
    private readonly events: EventRecorder,
  ) {}

  get budget(): WorkBudget {
    return this.clients.budget
  }

  /**
   * @returns a shared object, which no caller may change.
   * @throws StatusError after an Event about it. In a namespace that is being deleted it creates nothing.
   */
  async create(pod: Pod, owner: KubeObject): Promise<Pod | undefined> {
    try {
      const created = await this.clients.resource(PODS, owner.metadata.namespace).create(pod, true)
      await this.events.normal(owner, 'SuccessfulCreate', `Created pod: ${created.metadata.name}`)
      return created
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      if (error.status.details?.causes?.some(({ reason }) => reason === NAMESPACE_TERMINATING)) return undefined
      await this.events.warning(owner, 'FailedCreate', `Error creating: ${error.message}`)
      throw error
    }
  }

  /** A pod that is gone counts as deleted. @param known the pod that the caller just read */
  async delete(pod: Pod, owner: KubeObject, known?: Pod): Promise<void> {
    try {
      const done = await deleteIfThere(this.clients.resource(PODS, owner.metadata.namespace), pod, {}, known)
      if (done === 'deleted') await this.events.normal(owner, 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`)
    } catch (error) {
      if (error instanceof StatusError)
        await this.events.warning(owner, 'FailedDelete', `Error deleting: ${error.message}`)
      throw error
    }
  }
}

/**
 * Calls `work` `count` times: first once, then in batches that double after each batch without an error. So an error
 * that affects all calls happens only once.
 */
export async function slowStart(
  count: number,
  work: (index: number) => Promise<unknown>,
  budget: WorkBudget,
): Promise<void> {
  for (let begun = 0, size = 1; begun < count; size *= 2) {
    const batch = Array.from({ length: Math.min(size, count - begun) }, (_, index) => begun + index)
    begun += batch.length
    await inTurns(batch, work, budget)
  }
}

interface Selecting {
  readonly spec?: { readonly selector?: LabelSelector }
  readonly status?: { readonly observedGeneration?: number | bigint }
}

interface Asked<O> {
  /** Read-only objects that others may have, too. */
  readonly shared?: ListOptions['shared']
  /** Whether the owner would create one, were these all that there are. */
  readonly isMissing: (owned: readonly O[]) => boolean | Promise<boolean>
}

interface Claiming<O> {
  /** A condition of the owner on its objects in addition to the selector. */
  readonly belongs?: (object: O) => boolean
  /** Whether the owner may adopt or release an object. Default: all. */
  readonly claimable?: (object: O) => boolean
  /** A finalizer that an adoption adds and a release removes. */
  readonly finalizer?: string
}

/**
 * The objects that an owner controls. The topic `orphan` brings it objects without a controller, so it lists those only
 * when the owner is new or changed, or would create another one: somebody may just have let an object go.
 */
export async function dependentsOf<O extends KubeObject>(
  clients: Clientset,
  resource: TypedResource<O>,
  owner: KubeObject,
  ref: OwnerReference,
  { spec, status }: Selecting,
  { shared = false, isMissing, ...claiming }: Claiming<O> & Asked<O>,
): Promise<O[]> {
  const { namespace, uid = '', generation = 0 } = owner.metadata
  const client = clients.resource(resource, namespace)
  const selector = requirementsOf(spec?.selector)
  const owned = await client.list({ owner: uid, shared })
  const isKnown = (status?.observedGeneration ?? 0) >= generation
  const claimed = await claim(clients, resource, owner, ref, selector, owned, claiming)
  if (owner.metadata.deletionTimestamp !== undefined || (isKnown && !(await isMissing(claimed)))) return claimed
  const selected = await client.list({ labelSelector: labelSelectorText(spec?.selector ?? {}) })
  const free = selected.filter((object) => controllerRefOf(object) === undefined)
  return [...claimed, ...(await claim(clients, resource, owner, ref, selector, free, claiming))]
}

/**
 * The objects that the owner controls. It adopts objects without a controller that it selects, and releases those that
 * it no longer selects (PodControllerRefManager). An owner that is being deleted adopts nothing.
 */
export async function claim<O extends KubeObject>(
  clients: Clientset,
  resource: TypedResource<O>,
  owner: KubeObject,
  ref: OwnerReference,
  selector: readonly LabelRequirement[],
  candidates: readonly O[],
  { belongs = () => true, claimable = () => true, finalizer }: Claiming<O> = {},
): Promise<O[]> {
  const client = clients.resource(resource, owner.metadata.namespace)
  const claimed: O[] = []
  for await (const object of eachInTurns(candidates)) {
    const controller = controllerRefOf(object)
    const isSelected = matchesLabels(selector, object.metadata.labels ?? {}) && belongs(object)
    if (controller?.uid === ref.uid) {
      if (isSelected) claimed.push(object)
      else if (owner.metadata.deletionTimestamp === undefined && claimable(object))
        await patched(client, object, release(ref, finalizer))
      continue
    }
    const isFree = controller === undefined && object.metadata.deletionTimestamp === undefined
    if (!isFree || !isSelected || !claimable(object) || owner.metadata.deletionTimestamp !== undefined) continue
    const adopted = await patched(client, object, adoption(ref, finalizer))
    if (adopted !== undefined) claimed.push(adopted)
  }
  return claimed
}

const STRATEGIC = 'application/strategic-merge-patch+json'

const adoption = (ref: OwnerReference, finalizer: string | undefined) => ({
  metadata: { ownerReferences: [ref], ...(finalizer === undefined ? {} : { finalizers: [finalizer] }) },
})

const release = (ref: OwnerReference, finalizer: string | undefined) => ({
  metadata: {
    ownerReferences: [{ $patch: 'delete', uid: ref.uid }],
    ...(finalizer === undefined ? {} : { '$deleteFromPrimitiveList/finalizers': [finalizer] }),
  },
})

/** Undefined where the object is gone or replaced, or may not have the owner, which another retry handles. */
async function patched<O extends KubeObject>(
  client: ResourceClient<O>,
  object: O,
  body: unknown,
): Promise<O | undefined> {
  try {
    return await client.patch(object, STRATEGIC, body)
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 422) await unlessGone(client, object, error)
    return undefined
  }
}
