/** Waits for a state of a pod as long as a client listens. */
import type { Pod } from '../../../api/core/v1.ts'
import type { KubeObject } from '../../../api/object.ts'
import { parseStoredObject } from '../../../codec/stored-object.ts'
import { takeWatchPlace } from '../../../flowcontrol/open-watches.ts'
import { countedAs } from '../../../request/user-info.ts'
import type { ApiRequest } from '../../../request/context.ts'
import { collectionOf } from '../../../storage/collections.ts'
import { storageOf } from '../../../storage/environment-storage.ts'
import type { Watch } from '../../../storage/storage.ts'

/** Milliseconds after which a kubelet closes an idle stream. */
const LONGEST_MS = 4 * 3_600_000
/** Keeps the watch ahead of compaction, and notices a lost shard. */
const PING_MS = 30_000

export interface Followed {
  /**
   * The pod in the awaited state; undefined where the wait was stopped, or the pod was deleted before. Settles: it
   * belongs to one request.
   */
  readonly ended: Promise<(KubeObject & Pod) | undefined>
  stop(): void
}

/**
 * @param renew is called as long as the client is there, more than once in three minutes (flowcontrol/open-watches.ts)
 * @throws StatusError 429 where too many listen
 */
export function followPod(
  request: ApiRequest,
  pod: KubeObject & Pod,
  isOver: (pod: Pod) => boolean,
  renew = (): void => {},
): Followed {
  let watch: Watch | undefined
  let isStopped = false
  const place = takeWatchPlace(request)
  const stop = (): void => {
    isStopped = true
    place.leave()
    watch?.cancel()
  }
  place.onEnd = stop
  const ended = follow()
  request.waitUntil(ended.catch(() => {}))
  return { ended, stop }

  async function follow(): Promise<(KubeObject & Pod) | undefined> {
    const { namespace = '', name = '', uid } = pod.metadata
    watch = await storageOf(request.env).watch(collectionOf(request.tenant, { group: '', resource: 'pods' }), {
      namespace,
      owner: countedAs(request.user),
      selection: { labels: [], fields: [{ field: 'metadata.name', operator: '=', value: name }] },
    })
    const last = setTimeout(stop, LONGEST_MS)
    const pings = setInterval(() => {
      watch?.ping()
      place.renew()
      renew()
    }, PING_MS)
    let isThere = false
    try {
      if (isStopped) return undefined
      for await (const batch of watch.messages)
        for (const message of batch) {
          // the existing objects come before this mark: the pod was deleted before the watch began
          if (message.kind === 'synced' && !isThere) return undefined
          if (message.kind !== 'event') continue
          isThere = true
          const now = parseStoredObject(message.text) as KubeObject & Pod // only pods are stored in the collection of pods
          if (now.metadata.uid !== uid) return undefined
          if (isOver(now)) return now
          if (message.type === 'DELETED') return undefined
        }
      return undefined
    } finally {
      clearTimeout(last)
      clearInterval(pings)
      place.leave()
      watch.cancel()
    }
  }
}
