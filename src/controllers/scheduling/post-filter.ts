/** The steps for a pod that fits no node, and their message (kube-scheduler's PostFilter). */
import type { Pod } from '../../api/core/v1.ts'
import type { PodDisruptionBudget } from '../../api/policy/v1.ts'
import type { Steps } from '../../base/slices.ts'
import type { Claim } from './devices/requests.ts'
import type { Preemption } from './preemption.ts'
import { preempt } from './preemption.ts'
import type { Filters, Unfit } from './schedule.ts'

const NO_CLAIMS = 'no new claims to deallocate'
const CLAIM_RELEASED = 'deallocation of ResourceClaim completed'
const CLAIM_DELETED = 'deletion of ResourceClaim completed'
const NO_CLAIM_TO_RELEASE = 'still not schedulable'
/** The message if another filter refused all nodes before the search reached devices. Then no further step runs. */
const NEVER_ASKED = 'not found'

/** @property keepsPlace the pod keeps its nominated node */
export type PostFiltered = Preemption | { readonly message: string; readonly keepsPlace: boolean }

export interface Means {
  /** Reads the PodDisruptionBudgets, when preemption needs them. */
  budgets(): Promise<readonly PodDisruptionBudget[]>
  /** Runs work a step at a time, so that requests run in between. */
  inSteps<T>(work: Steps<T>): Promise<T>
  release(claim: Claim): void
  delete(claim: Claim): void
}

export async function afterFilters(filters: Filters, unfit: Unfit, pod: Pod, means: Means): Promise<PostFiltered> {
  const said: string[] = []
  let keepsPlace = false
  for (const plugin of filters.profile.postFilters) {
    if (plugin === 'DynamicResources') {
      if (!filters.hasAskedDevices) return { message: NEVER_ASKED, keepsPlace: false }
      said.push(released(filters, unfit, means))
      continue
    }
    const outcome = await means.inSteps(preempt(filters, unfit, pod, await means.budgets()))
    if (!('message' in outcome)) return outcome
    said.push(outcome.message)
    keepsPlace = outcome.keepsPlace
  }
  return { message: said.join(', '), keepsPlace }
}

/**
 * Deallocates a claim whose devices are where the pod cannot go.
 * @returns the message
 */
function released({ cycle: { claims } }: Filters, { ofAll }: Unfit, means: Means): string {
  if (claims === undefined || ofAll !== undefined) return NO_CLAIMS
  const { toRelease, toDelete } = claims
  if (toRelease !== undefined) {
    means.release(toRelease)
    return CLAIM_RELEASED
  }
  if (toDelete === undefined) return NO_CLAIM_TO_RELEASE
  means.delete(toDelete)
  return CLAIM_DELETED
}
