/** The revisions of its template that a StatefulSet moves between. */
import type { ControllerRevision, StatefulSet } from '../../../api/apps/v1.ts'
import type { Pod } from '../../../api/core/v1.ts'
import { StatusError } from '../../../api/status.ts'
import { nextInt64 } from '../../../go/int.ts'
import { stringifySorted } from '../../../json/write-json.ts'
import type { JsonObject } from '../../../api/object.ts'
import type { Clientset } from '../../client/clientset.ts'
import { deleteIfThere } from '../../work/unless-gone.ts'
import { controllerRefTo } from '../pods/pod-control.ts'
import { podRevision, STATEFUL_SET } from './pods.ts'
import { revisionHash } from '../templates/hash.ts'
import { isRevisionOf, newRevision, REVISIONS, templatePatch } from '../templates/revisions.ts'

const HASH = 'controller.kubernetes.io/hash'
/** The most characters of the owner's name in the name of a revision. */
const LONGEST_PREFIX = 223

export interface Revisions {
  /** The revision that the pods had before the rollout. */
  readonly current: ControllerRevision
  /** The revision that the rollout gives them. */
  readonly update: ControllerRevision
  readonly collisionCount: number
}

/** @param known the existing revisions, the oldest first */
export async function statefulRevisions(
  clients: Clientset,
  set: StatefulSet,
  known: readonly ControllerRevision[],
): Promise<Revisions> {
  const { update, collisionCount } = await updateRevision(clients, set, known)
  const current = known.find(({ metadata }) => metadata.name === set.status?.currentRevision)
  return { current: current ?? update, update, collisionCount }
}

/** The last revision with the set's template, which becomes the newest; or a new revision. */
async function updateRevision(
  clients: Clientset,
  set: StatefulSet,
  known: readonly ControllerRevision[],
): Promise<{ readonly update: ControllerRevision; readonly collisionCount: number }> {
  const collisionCount = set.status?.collisionCount ?? 0
  const newest = known.at(-1)
  const equal = known.findLast((revision) => isRevisionOf(revision, set.spec?.template))
  if (equal === undefined) return create(clients, set, nextInt64(newest?.revision ?? 0), collisionCount)
  if (equal === newest) return { update: equal, collisionCount }
  const revisions = clients.resource(REVISIONS, set.metadata.namespace)
  const again = await revisions.updateWithRetries(equal, (object) => {
    object.revision = nextInt64(newest?.revision ?? 0)
  })
  return { update: again, collisionCount }
}

/** Creates a revision. Its name has a hash; where another revision has the name, the next hash is tried. */
async function create(
  clients: Clientset,
  set: StatefulSet,
  revision: number | bigint,
  collisions: number,
): Promise<{ readonly update: ControllerRevision; readonly collisionCount: number }> {
  const { template } = set.spec ?? {}
  const text = templatePatch(template)
  const revisions = clients.resource(REVISIONS, set.metadata.namespace)
  const prefix = (set.metadata.name ?? '').slice(0, LONGEST_PREFIX)
  const ref = controllerRefTo(set, STATEFUL_SET)
  const hash = revisionHash(text, collisions)
  for (let collisionCount = collisions; ; collisionCount++) {
    const name = `${prefix}-${revisionHash(text, collisionCount)}`
    const wanted = newRevision({ name, owner: set, ref, template, labels: { [HASH]: hash }, revision })
    try {
      return { update: await revisions.create(wanted), collisionCount }
    } catch (error) {
      if (!(error instanceof StatusError) || error.status.reason !== 'AlreadyExists') throw error
      const there = await revisions.get(name)
      if (there === undefined) throw error
      // validated as a JSON object
      if (stringifySorted(there.data as JsonObject) === text) return { update: there, collisionCount }
    }
  }
}

/** Deletes revisions beyond the limit, the oldest first. Revisions in use do not count. */
export async function truncateHistory(
  clients: Clientset,
  set: StatefulSet,
  pods: readonly Pod[],
  known: readonly ControllerRevision[],
  { current, update }: Revisions,
): Promise<void> {
  const limit = set.spec?.revisionHistoryLimit ?? 10
  const live = new Set([current.metadata.name, update.metadata.name, ...pods.map(podRevision)])
  const history = known.filter(({ metadata }) => !live.has(metadata.name))
  if (limit < 0) return
  const revisions = clients.resource(REVISIONS, set.metadata.namespace)
  for (const revision of history.slice(0, Math.max(0, history.length - limit))) await deleteIfThere(revisions, revision)
}
