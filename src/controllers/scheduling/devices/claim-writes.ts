/** The scheduler's writes to claims, before it binds their pod and after a binding failed. */
import type { Pod } from '../../../api/core/v1.ts'
import { CLAIM_FINALIZER, isReservedFor } from '../../../registry/resource/pod-claims.ts'
import { timeText } from '../../../schema/time.ts'
import type { Clientset } from '../../client/clientset.ts'
import { isRefusal } from '../../work/refusal.ts'
import { isGone } from '../../work/unless-gone.ts'
import { consumer } from '../../workloads/resource-claim/resource-claim.ts'
import { PODS } from '../../workloads/pods/pod-control.ts'
import { RESOURCE_CLAIMS } from '../../workloads/resource-claim/templates.ts'
import type { ClaimWrite } from './claim-plan.ts'
import type { DeviceFacts } from './device-facts.ts'
import type { Written } from '../pod-writes.ts'
import type { ExtendedRequests } from './extended-resources.ts'
import type { Claim } from './requests.ts'
import { claimText } from './requests.ts'

/** Another client changed the claim, or the API refused the write. The pod is not bound. */
export class NotReserved extends Error {}

/** Another scheduler leads, so devices that are not allocated in a stored claim may belong to another claim by now. */
export class LedByAnother extends Error {}

export class ClaimWrites {
  constructor(
    private readonly clients: Clientset,
    private readonly facts: DeviceFacts,
    private readonly now: () => Date,
    /** Whether this server's scheduler leads, and may allocate. */
    private readonly leads: () => boolean,
  ) {}

  /**
   * @returns the pod as it is stored now
   * @throws NotReserved, LedByAnother
   */
  async reserve(writes: readonly ClaimWrite[], pod: Pod): Promise<Pod> {
    let known = pod
    try {
      for (const write of writes) {
        if (write.mappings === undefined) this.facts.written(claimText(write.claim), await this.reserveOne(write, pod))
        else known = await this.makeOne(write, write.mappings, known)
      }
      return known
    } catch (error) {
      if (isRefusal(error)) throw new NotReserved(error.message)
      throw error
    } finally {
      for (const { claim } of writes) this.facts.written(claimText(claim), undefined)
    }
  }

  /** Creates the claim for a pod's extended resources, and names it in the pod's status. */
  private async makeOne(write: ClaimWrite, requestMappings: ExtendedRequests['mappings'], pod: Pod): Promise<Pod> {
    const { namespace = '', name = '' } = pod.metadata
    const { name: _, ...metadata } = write.claim.metadata
    const claims = this.clients.resource(RESOURCE_CLAIMS, namespace)
    const claim = await namingWork(
      `create claim for extended resources ${namespace}/${name}`,
      claims.create({ ...write.claim, metadata }),
    )
    write.made = claim
    await this.reserveOne({ ...write, claim }, pod)
    return namingWork(
      `update pod ${namespace}/${name} ExtendedResourceClaimStatus`,
      this.clients.resource(PODS, namespace).updateStatusWithRetries(pod, (live) => {
        const extendedResourceClaimStatus = { requestMappings, resourceClaimName: claim.metadata.name ?? '' }
        live.status = { ...live.status, extendedResourceClaimStatus }
      }),
    )
  }

  private async reserveOne({ claim, allocation }: ClaimWrite, pod: Pod): Promise<Claim> {
    const claims = this.clients.resource(RESOURCE_CLAIMS, claim.metadata.namespace)
    // writes take time and another scheduler may lead meanwhile, so each write checks again
    const check = (live: Claim): void => {
      if (allocation !== undefined && !this.leads()) throw new LedByAnother('another scheduler leads')
      checkUnchanged(live, claim, allocation !== undefined)
    }
    // the finalizer comes first, so that an allocated claim is never without it
    if (allocation !== undefined && claim.metadata.finalizers?.includes(CLAIM_FINALIZER) !== true)
      await claims.updateWithRetries(claim, (live) => {
        check(live)
        const finalizers = live.metadata.finalizers ?? []
        if (!finalizers.includes(CLAIM_FINALIZER)) live.metadata.finalizers = [...finalizers, CLAIM_FINALIZER]
      })
    return claims.updateStatusWithRetries(claim, (live) => {
      check(live)
      const known = live.status?.allocation ?? allocation ?? {}
      const { reservedFor = [] } = live.status ?? {}
      live.status = {
        ...live.status,
        allocation: { ...known, allocationTimestamp: known.allocationTimestamp ?? timeText(this.now()) },
        reservedFor: isReservedFor(pod, live) ? reservedFor : [...reservedFor, consumer(pod)],
      }
    })
  }

  /** Takes the reservations back. The pod was not bound and may get another node. */
  async unreserve(writes: readonly ClaimWrite[], pod: Pod): Promise<void> {
    for (const { claim, mappings, made } of writes) {
      if (made !== undefined) await this.delete(made)
      if (mappings !== undefined) continue
      await this.change(claim, (live) => {
        const reservedFor = live.status?.reservedFor?.filter(({ uid }) => uid !== pod.metadata.uid)
        live.status = { ...live.status, ...(reservedFor === undefined ? {} : { reservedFor }) }
      })
    }
  }

  /** Deletes a claim that a scheduler made. Its devices are free again. */
  async delete({ metadata }: Claim): Promise<Written> {
    const claims = this.clients.resource(RESOURCE_CLAIMS, metadata.namespace)
    return this.unlessRefused(metadata, async () => {
      await claims.updateWithRetries({ metadata }, (live) => {
        live.metadata.finalizers = (live.metadata.finalizers ?? []).filter((one) => one !== CLAIM_FINALIZER)
      })
      await claims.delete({ metadata })
    })
  }

  /** Deallocates a claim that no other pod uses. */
  async release(claim: Claim, pod: Pod): Promise<Written> {
    return this.change(claim, (live) => {
      if ((live.status?.reservedFor ?? []).some(({ uid }) => uid !== pod.metadata.uid)) return
      live.status = {}
    })
  }

  private change({ metadata }: Claim, change: (live: Claim) => void): Promise<Written> {
    const claims = this.clients.resource(RESOURCE_CLAIMS, metadata.namespace)
    return this.unlessRefused(metadata, () => claims.updateStatusWithRetries({ metadata }, change))
  }

  private async unlessRefused(metadata: Claim['metadata'], write: () => Promise<unknown>): Promise<Written> {
    try {
      await write()
      return 'done'
    } catch (error) {
      if (!isRefusal(error)) throw error
      const claims = this.clients.resource(RESOURCE_CLAIMS, metadata.namespace)
      return (await isGone(claims, { metadata }, error)) ? 'done' : 'refused'
    }
  }
}

/** Puts the attempted step before the message of its error. */
async function namingWork<T>(what: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (isRefusal(error)) throw new NotReserved(`${what}: ${error.message}`)
    throw error
  }
}

function checkUnchanged(live: Claim, claim: Claim, isNew: boolean): void {
  const happened =
    live.metadata.deletionTimestamp !== undefined
      ? 'deleted'
      : isNew && live.status?.allocation !== undefined
        ? 'allocated elsewhere'
        : !isNew && live.status?.allocation === undefined
          ? 'deallocated elsewhere'
          : undefined
  if (happened !== undefined) throw new NotReserved(`claim ${claimText(claim)} got ${happened} in the meantime`)
}
