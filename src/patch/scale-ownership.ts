/**
 * The owners of a workload's replicas, as its scale sees them and back again. Writes to `scale` are tracked on the
 * Scale object, and their changes are carried over to the workload (apimachinery's managedfields ScaleHandler).
 */
import type { ManagedFieldsEntry } from '../api/object.ts'
import { lazy } from '../api/lazy.ts'
import type { FieldPathElements } from '../schema/path-element.ts'
import { FieldSet } from './field-set.ts'
import { decodeManagers, encodeOwned, managerKey } from './managers.ts'
import type { Managers, Owned } from './managers.ts'

const SCALE_VERSION = 'autoscaling/v1'
const replicasOfScale = lazy(() => FieldSet.of(['f:spec', 'f:replicas']))
export const SPEC_REPLICAS: FieldPathElements = ['f:spec', 'f:replicas']

/**
 * Where a version of the workload has its replicas; undefined for a version that is not known, null for one that has
 * none.
 */
export type ReplicasPath = (apiVersion: string) => FieldPathElements | null | undefined

/** The owners of the replicas, as managedFields of the Scale. @throws Error where the entries can't be read */
export function ownersOfScale(
  parent: readonly ManagedFieldsEntry[] | undefined,
  replicasIn: ReplicasPath,
): ManagedFieldsEntry[] | undefined {
  const owned: Owned[] = []
  for (const owner of decodeManagers(parent).values()) {
    const path = replicasIn(owner.apiVersion)
    if (path && owner.fields.has(path)) owned.push({ ...owner, apiVersion: SCALE_VERSION, fields: replicasOfScale() })
  }
  return encodeOwned(owned)
}

/**
 * The managedFields of the workload after a write to its scale. As in kube-apiserver, updaters are identified by their
 * version too, so an updater that keeps the replicas has them in an entry without time from then on.
 * @param apiVersion of the workload in the request
 */
export function ownersAfterScale(
  parent: readonly ManagedFieldsEntry[] | undefined,
  scale: readonly ManagedFieldsEntry[] | undefined,
  apiVersion: string,
  replicasIn: ReplicasPath,
): ManagedFieldsEntry[] | undefined {
  const before = decodeManagers(parent)
  const ofScale = new Map(decodeManagers(scale))
  const owned: Owned[] = []
  for (const [key, owner] of before) {
    const path = replicasIn(owner.apiVersion)
    if (path === undefined) continue
    if (path === null || !owner.fields.has(path) || ofScale.delete(key)) {
      owned.push(owner)
      continue
    }
    const fields = owner.fields.difference(FieldSet.of(path))
    if (!fields.isEmpty) owned.push({ ...owner, fields })
  }
  const replicas = replicasIn(apiVersion)
  for (const owner of ofScale.values()) {
    if (!replicas || !owner.fields.has(SPEC_REPLICAS)) continue
    owned.push({ ...owner, apiVersion, time: timeOf(before, owner), fields: FieldSet.of(replicas) })
  }
  return encodeOwned(owned)
}

const timeOf = (before: Managers, owner: Owned) => before.get(managerKey(owner))?.time
