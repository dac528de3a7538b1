/**
 * The PersistentVolumeClaims of a StatefulSet's pods. The controller creates them before the pod, and they outlive it.
 * A retention policy can change that (KEP-1847): then the set or the surplus pod owns them, and the garbage collector
 * deletes them.
 */
import type { StatefulSet } from '../../../api/apps/v1.ts'
import type { PersistentVolumeClaim, Pod } from '../../../api/core/v1.ts'
import { apiVersionOf } from '../../../api/group-version.ts'
import type { GroupVersionKind } from '../../../api/group-version.ts'
import { cloneJson } from '../../../json/clone-json.ts'
import type { KubeObject, OwnerReference } from '../../../api/object.ts'
import { StatusError } from '../../../api/status.ts'
import type { Clientset } from '../../client/clientset.ts'
import { typedResource } from '../../client/clientset.ts'
import type { EventRecorder } from '../events/events.ts'
import { controllerRefTo } from '../pods/pod-control.ts'
import { claimName, claimTemplates, isInRange, ordinalOf, STATEFUL_SET } from './pods.ts'

type Claim = KubeObject & PersistentVolumeClaim

const CLAIMS = typedResource<Claim>('', 'persistentvolumeclaims')
const POD: GroupVersionKind = { group: '', version: 'v1', kind: 'Pod' }

/** Whether a reference names the object by kind and name. It may mean another object of that name. */
const names = ({ apiVersion, kind, name }: OwnerReference, { metadata }: KubeObject, of: GroupVersionKind): boolean =>
  apiVersion === apiVersionOf(of) && kind === of.kind && name === metadata.name

const refsOf = ({ metadata }: Claim): readonly OwnerReference[] => metadata.ownerReferences ?? []

/** Whether a former pod or set of the name owns the claim. */
const hasStaleRef = (claim: Claim, owner: KubeObject, of: GroupVersionKind): boolean =>
  refsOf(claim).some((ref) => names(ref, owner, of) && ref.uid !== owner.metadata.uid)

export class StatefulClaims {
  /** The claims with the labels of the set, by name. One read gets most claims of a reconciliation. */
  private known: Promise<Map<string, Claim>> | undefined

  constructor(
    private readonly clients: Clientset,
    private readonly events: EventRecorder,
    private readonly set: StatefulSet,
  ) {}

  /** Creates the missing claims of a pod. @throws Error after Events about it */
  async create(pod: Pod): Promise<void> {
    for (const template of claimTemplates(this.set)) {
      const claim = this.claimOf(template, pod)
      const { name = '' } = claim.metadata
      const known = await this.find(name)
      if (known?.metadata.deletionTimestamp !== undefined) throw new Error(`pvc ${name} is being deleted`)
      if (known !== undefined) continue
      const what = `Claim ${name}`
      try {
        await this.write(this.client.create(claim))
        await this.say('Normal', `Create ${what} Pod ${pod.metadata.name} in StatefulSet ${this.name} success`)
      } catch (error) {
        if (!(error instanceof StatusError)) throw error
        const where = `for Pod ${pod.metadata.name} in StatefulSet ${this.name}`
        if (error.status.reason !== 'AlreadyExists')
          await this.say('Warning', `Create ${what} ${where} failed error: ${error.message}`)
        throw new Error(`failed to create PVC ${name}: ${error.message}`, { cause: error })
      }
    }
  }

  /** Whether a former pod of the name owns a claim. The new pod then waits until the claim is gone. */
  async areStale(pod: Pod): Promise<boolean> {
    if (this.policy.whenScaled === 'Retain') return false
    return (await this.of(pod)).some((claim) => hasStaleRef(claim, pod, POD))
  }

  async followPolicy(pod: Pod): Promise<boolean> {
    return (await this.of(pod)).every((claim) => this.isUpToDate(claim, pod))
  }

  /** Sets the owners of the claims by the policy. @returns whether it changed any */
  async update(pod: Pod): Promise<boolean> {
    let isChanged = false
    for (const claim of await this.of(pod)) {
      const { name } = claim.metadata
      if (this.isControlledByOthers(claim, pod)) {
        const why =
          'has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim'
        await this.events.warning(this.set, 'ConflictingController', `PersistentVolumeClaim ${name} ${why}`)
      }
      if (this.isUpToDate(claim, pod)) continue
      const changed = cloneJson(claim)
      changed.metadata.ownerReferences = this.wantedRefs(claim, pod)
      await this.write(this.client.update(changed))
      isChanged = true
    }
    return isChanged
  }

  private get client() {
    return this.clients.resource(CLAIMS, this.set.metadata.namespace)
  }

  private async find(name: string): Promise<Claim | undefined> {
    const labels = this.set.spec?.selector?.matchLabels ?? {}
    this.known ??= this.client
      .list({ labels })
      .then((claims) => new Map(claims.map((claim) => [claim.metadata.name ?? '', claim])))
    return (await this.known).get(name) ?? this.client.get(name)
  }

  private async write(written: Promise<Claim>): Promise<void> {
    const claim = await written
    const known = await this.known
    known?.set(claim.metadata.name ?? '', claim)
  }

  private get name(): string {
    return this.set.metadata.name ?? ''
  }

  private get policy() {
    const { whenDeleted = 'Retain', whenScaled = 'Retain' } = this.set.spec?.persistentVolumeClaimRetentionPolicy ?? {}
    return { whenDeleted, whenScaled }
  }

  private say(type: 'Normal' | 'Warning', message: string): Promise<void> {
    return this.events.record(this.set, {
      type,
      reason: `${type === 'Normal' ? 'Successful' : 'Failed'}Create`,
      message,
    })
  }

  private claimOf(template: PersistentVolumeClaim, pod: Pod): Claim {
    const { namespace = '' } = this.set.metadata
    const claim = cloneJson(template)
    return {
      ...claim,
      kind: 'PersistentVolumeClaim',
      apiVersion: 'v1',
      metadata: {
        ...claim.metadata,
        name: claimName(this.set, template, ordinalOf(pod)),
        namespace,
        labels: { ...claim.metadata?.labels, ...this.set.spec?.selector?.matchLabels },
      },
    }
  }

  /** The existing claims of a pod. */
  private async of(pod: Pod): Promise<readonly Claim[]> {
    const wanted = claimTemplates(this.set).map((template) => claimName(this.set, template, ordinalOf(pod)))
    const found = await Promise.all(wanted.map((name) => this.find(name)))
    return found.filter((claim) => claim !== undefined)
  }

  private isControlledByOthers(claim: Claim, pod: Pod): boolean {
    const { whenDeleted, whenScaled } = this.policy
    if (whenDeleted === 'Retain' && whenScaled === 'Retain') return false
    return refsOf(claim).some((ref) => {
      if (names(ref, this.set, STATEFUL_SET)) return ref.uid !== this.set.metadata.uid
      if (names(ref, pod, POD)) return ref.uid !== pod.metadata.uid
      return ref.controller === true
    })
  }

  /** The owners of claims by the policy. The pod is an owner only where it is beyond the set's replicas. */
  private wantedOwners(pod: Pod): { readonly set: boolean; readonly pod: boolean } {
    const { whenDeleted, whenScaled } = this.policy
    const isCondemned = whenScaled === 'Delete' && !isInRange(this.set, pod)
    return { set: whenDeleted === 'Delete' && !isCondemned, pod: isCondemned }
  }

  /** Whether a claim has the owners by the policy. Claims with unknown owner references stay as they are. */
  private isUpToDate(claim: Claim, pod: Pod): boolean {
    if (hasStaleRef(claim, this.set, STATEFUL_SET) || hasStaleRef(claim, pod, POD)) return true
    const refOf = ({ metadata }: KubeObject) => refsOf(claim).find(({ uid }) => uid === metadata.uid)
    const [bySet, byPod] = [refOf(this.set), refOf(pod)]
    if (this.isControlledByOthers(claim, pod)) return bySet === undefined && byPod === undefined
    if ([bySet, byPod].some((ref) => ref !== undefined && ref.controller !== true)) return false
    const wanted = this.wantedOwners(pod)
    return (bySet !== undefined) === wanted.set && (byPod !== undefined) === wanted.pod
  }

  private wantedRefs(claim: Claim, pod: Pod): OwnerReference[] {
    const others = refsOf(claim).filter((ref) => !names(ref, this.set, STATEFUL_SET) && !names(ref, pod, POD))
    if (this.isControlledByOthers(claim, pod)) return others
    const wanted = this.wantedOwners(pod)
    return [
      ...others,
      ...(wanted.pod ? [controllerRefTo(pod, POD)] : []),
      ...(wanted.set ? [controllerRefTo(this.set, STATEFUL_SET)] : []),
    ]
  }
}
