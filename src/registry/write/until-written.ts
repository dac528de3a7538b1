/**
 * Repeats a read, change, and compare-and-swap while other writers are faster. Writers of one object that were overtaken
 * once take turns from then on. Otherwise all of them would read and change the same version again, and only one of
 * them could write it.
 */
import { BoundedMap } from '../../base/bounded-map.ts'
import { FewAtOnce } from '../../base/few-at-once.ts'
import { StatusError } from '../../api/status.ts'
import { StorageError } from '../../storage/errors.ts'
import { statusFor } from '../../storage/storage-status.ts'
import { timeLeft } from '../../request/time-left.ts'
import { perTenant } from '../../tenancy/tenant-state.ts'
import type { ResourceScope } from '../resource-scope.ts'
import { referenceKey } from '../store.ts'

/** Milliseconds in which a write is tried again at most: requestTimeoutUpperBound of kube-apiserver. */
const TRYING_MS = 34_000
/** A bound where the clock stands still. */
const MOST_TRIES = 10_000
/** Milliseconds after which the next writer begins: admission may take long, and a client may have gone. */
const LONGEST_TURN = 1_000

/** One writer at a time, by the key. The writers of a key that is forgotten race again. */
const turnsOf = perTenant('is of requests under way', () => new BoundedMap<string, FewAtOnce>({ entries: 1_000 }))

/**
 * @param attempt reads the object anew each time; a StorageError says that another write came between
 * @throws StatusError 504 where others are faster for half a minute
 */
export async function untilWritten<Done>(
  scope: ResourceScope,
  name: string,
  attempt: (isFirst: boolean) => Promise<Done>,
): Promise<Done> {
  const { clock, tenant } = scope.request
  const until = clock() + Math.min(TRYING_MS, timeLeft(scope.request))
  const one = async (isFirst: boolean): Promise<{ readonly done: Done } | undefined> => {
    try {
      return { done: await attempt(isFirst) }
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      const isOvertaken = error.code === 'Conflict' || error.code === 'KeyNotFound' || error.code === 'KeyExists'
      if (!isOvertaken) throw statusFor(error, scope.resource.gvr, name)
      return undefined
    }
  }
  let written = await one(true)
  if (written !== undefined) return written.done
  const turn = turnsOf(tenant).getOrMake(referenceKey(scope, name), () => new FewAtOnce(1, LONGEST_TURN))
  for (let tries = 1; written === undefined && tries < MOST_TRIES && clock() < until; tries++)
    written = await turn.run(1, () => one(false))
  if (written === undefined) throw timedOut()
  return written.done
}

const timedOut = (): StatusError =>
  new StatusError(
    504,
    'Timeout',
    'Timeout: request did not complete within requested timeout - context deadline exceeded',
    {},
  )
