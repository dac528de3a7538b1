/**
 * How long a Job waits before it replaces failed pods (the back-off store of kube-controller-manager's job controller).
 * The controller stores the failures, because it cannot count those of deleted pods again.
 */
import { mostOf } from '../../../base/extremes.ts'
import type { Job } from '../../../api/batch/v1.ts'
import type { Pod } from '../../../api/core/v1.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { ControllerContext } from '../../controller.ts'
import { endOf } from './state.ts'

export interface BackOff {
  /** Failures since the last success. */
  readonly count: number
  /** When the last failed pod ended, in milliseconds since 1970. */
  readonly last: number
}

const NONE: BackOff = { count: 0, last: 0 }

/** @param succeeded pods that ended since then, as are `failed` */
export function nextBackOff(known: BackOff, succeeded: readonly Pod[], failed: readonly Pod[]): BackOff {
  const ends = failed.map(endOf)
  if (succeeded.length === 0)
    return ends.length === 0 ? known : { count: known.count + ends.length, last: mostOf(ends) }
  const success = mostOf(succeeded.map(endOf))
  const since = ends.filter((end) => end > success)
  return since.length === 0 ? NONE : { count: since.length, last: mostOf(since) }
}

const keyOf = (namespace: string, name: string) => `back-off/${namespace}/${name}` as const

export function knownBackOff({ sightings }: ControllerContext, { metadata }: Job & KubeObject): BackOff {
  const seen = sightings.get(keyOf(metadata.namespace ?? '', metadata.name ?? ''))
  const [uid, count] = seen?.record.split(' ') ?? []
  // the record may be of another Job of the name
  return seen === undefined || uid !== metadata.uid ? NONE : { count: Number(count), last: seen.time }
}

export function rememberBackOff({ sightings }: ControllerContext, { metadata }: Job & KubeObject, next: BackOff): void {
  const key = keyOf(metadata.namespace ?? '', metadata.name ?? '')
  sightings.set(key, next.count === 0 ? undefined : { record: `${metadata.uid} ${next.count}`, time: next.last })
}

/** Removes the back-off of a Job that has ended or is gone. */
export function forgetBackOff({ sightings }: ControllerContext, namespace: string, name: string): void {
  const key = keyOf(namespace, name)
  if (sightings.get(key) !== undefined) sightings.set(key, undefined)
}
