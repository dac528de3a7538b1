/** The revisions of a DaemonSet's template. Creates the current revision where it is missing. */
import type { ControllerRevision, DaemonSet } from '../../../api/apps/v1.ts'
import type { Pod } from '../../../api/core/v1.ts'
import { ownValue } from '../../../base/own.ts'
import { nextInt64 } from '../../../go/int.ts'
import { StatusError } from '../../../api/status.ts'
import type { GroupVersionKind } from '../../../api/group-version.ts'
import type { Clientset } from '../../client/clientset.ts'
import { typedResource } from '../../client/clientset.ts'
import { deleteIfThere } from '../../work/unless-gone.ts'
import { controllerRefTo, PODS } from '../pods/pod-control.ts'
import { templateHash } from '../templates/hash.ts'
import { isRevisionOf, newRevision, REVISION_HASH, REVISIONS, revisionsOf } from '../templates/revisions.ts'

export const DAEMON_SETS = typedResource<DaemonSet>('apps', 'daemonsets')
export const DAEMON_SET: GroupVersionKind = { group: 'apps', version: 'v1', kind: 'DaemonSet' }

export const hashOf = ({ metadata }: ControllerRevision | Pod): string => ownValue(metadata.labels, REVISION_HASH) ?? ''

export interface History {
  readonly current: ControllerRevision
  /** Sorted, the oldest first. */
  readonly old: readonly ControllerRevision[]
}

/**
 * @param pods the pods of the set. Where several revisions have one template, the pods get the hash of the kept
 * revision.
 */
export async function daemonHistory(clients: Clientset, set: DaemonSet, pods: readonly Pod[]): Promise<History> {
  const revisions = clients.resource(REVISIONS, set.metadata.namespace)
  const known: ControllerRevision[] = []
  for (const revision of await revisionsOf(clients, set, controllerRefTo(set, DAEMON_SET))) {
    const { name = '', labels } = revision.metadata
    const isLabeled = ownValue(labels, REVISION_HASH) !== undefined
    known.push(
      isLabeled
        ? revision
        : await revisions.updateWithRetries(revision, ({ metadata }) => {
            metadata.labels = { ...metadata.labels, [REVISION_HASH]: name }
          }),
    )
  }
  const isPresent = (revision: ControllerRevision) => isRevisionOf(revision, set.spec?.template)
  const present = known.filter(isPresent)
  const old = known.filter((revision) => !isPresent(revision))
  let most: number | bigint = 0
  for (const { revision = 0 } of old) if (revision > most) most = revision
  const next = nextInt64(most)
  const kept = present.at(-1)
  if (kept === undefined) return { current: await create(clients, set, next), old }
  if (present.length > 1) await merge(clients, set, present.slice(0, -1), kept, pods)
  if ((kept.revision ?? 0) >= next) return { current: kept, old }
  const again = await revisions.updateWithRetries(kept, (object) => void (object.revision = next))
  return { current: again, old }
}

async function merge(
  clients: Clientset,
  set: DaemonSet,
  others: readonly ControllerRevision[],
  kept: ControllerRevision,
  pods: readonly Pod[],
): Promise<void> {
  const { namespace } = set.metadata
  const labels = { [REVISION_HASH]: hashOf(kept) }
  for (const pod of pods)
    if (hashOf(pod) !== hashOf(kept))
      await clients.resource(PODS, namespace).patch(pod, 'application/merge-patch+json', { metadata: { labels } })
  for (const revision of others) await deleteIfThere(clients.resource(REVISIONS, namespace), revision)
}

async function create(clients: Clientset, set: DaemonSet, revision: number | bigint): Promise<ControllerRevision> {
  const { namespace } = set.metadata
  const { template = {} } = set.spec ?? {}
  const hash = await templateHash(template, set.status?.collisionCount)
  const name = `${set.metadata.name}-${hash}`
  const revisions = clients.resource(REVISIONS, namespace)
  const ref = controllerRefTo(set, DAEMON_SET)
  try {
    return await revisions.create(
      newRevision({ name, owner: set, ref, template, labels: { [REVISION_HASH]: hash }, revision }),
    )
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.reason !== 'AlreadyExists') throw error
    const there = await revisions.get(name)
    if (there !== undefined && isRevisionOf(there, template)) return there
    await clients.resource(DAEMON_SETS, namespace).updateStatusWithRetries(set, (object) => {
      // another writer may have raised the count meanwhile
      if (object.status?.collisionCount !== set.status?.collisionCount) return
      object.status = { ...object.status, collisionCount: (object.status?.collisionCount ?? 0) + 1 }
    })
    throw error
  }
}

/** Deletes revisions beyond the limit, the oldest first, except those of existing pods. */
export async function cleanUpHistory(
  clients: Clientset,
  set: DaemonSet,
  pods: readonly Pod[],
  old: readonly ControllerRevision[],
): Promise<void> {
  const excess = old.length - (set.spec?.revisionHistoryLimit ?? 10)
  if (excess <= 0) return
  const live = new Set(pods.map(hashOf))
  const dead = old.filter((revision) => !live.has(hashOf(revision)))
  const revisions = clients.resource(REVISIONS, set.metadata.namespace)
  for (const revision of dead.slice(0, excess)) await deleteIfThere(revisions, revision)
}
