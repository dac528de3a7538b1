/**
 * Translates the owners of a workload's replicas into those of its Scale and back. A write to `scale` changes the
 * owners on the Scale, and then those of the workload (apimachinery's managedfields ScaleHandler).
 */
import type { ManagedFieldsEntry } from '../api/object.ts'
import { lazy } from '../base/lazy.ts'
import type { FieldPathElements } from '../schema/path-element.ts'
import { FieldSet } from './field-set.ts'
import { decodeManagers, encodeOwned, managerKey } from './managers.ts'
import type { Managers, Owned } from './managers.ts'

const SCALE_VERSION = 'autoscaling/v1'
const replicasOfScale = lazy(() => FieldSet.of(['f:spec', 'f:replicas']))
export const SPEC_REPLICAS: FieldPathElements = ['f:spec', 'f:replicas']

/**
 * The path of the replicas in a version of the workload. Undefined for an unknown version, null for a version without
 * replicas.
 */
export type ReplicasPath = (apiVersion: string) => FieldPathElements | null | undefined

/**
 * The owners of the replicas, as managedFields of the Scale.
 * @throws Error where the entries are invalid
 */
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
 * The managedFields of the workload after a write to its scale. As in kube-apiserver, the version is part of an
 * updater's identity, so an updater that keeps the replicas gets an entry for them without a time.
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
