/** VolumeRestrictions, VolumeBinding and VolumeZone: whether a node reaches the volumes of a pod. */
import type { PersistentVolume, PersistentVolumeClaim } from '../../../api/core/v1.ts'
import { ownValue } from '../../../base/own.ts'
import { annotation, isBound, NO_PROVISIONER, SELECTED_NODE, waitsForConsumer } from '../../volumes/matching.ts'
import { Disks } from '../disks.ts'
import type { Cycle, FilterPlugin, Filtering, Refusal } from '../framework.ts'
import { forGood, forNow } from '../framework.ts'
import { FreeVolumes } from '../free-volumes.ts'
import { matchesSelector } from '../node-selector.ts'
import type { NodeState } from '../node-state.ts'
import type { PodInfo } from '../pod-info.ts'

/** A node mounts a disk for one pod unless all read it, and a claim with ReadWriteOncePod is for one pod anywhere. */
export const volumeRestrictions: FilterPlugin = {
  name: 'VolumeRestrictions',
  *begin({ pod, info, volumes, nodes, work }) {
    const claims = volumes.claimsOf(pod)
    const missing = claims.find(({ claim, isEphemeral }) => claim === undefined && !isEphemeral)
    if (missing !== undefined) return forGood(notFound(missing.name))
    const single = new Set(
      claims.flatMap(({ name, claim }) =>
        claim?.spec?.accessModes?.includes('ReadWriteOncePod') === true ? [name] : [],
      ),
    )
    const disks = new Disks(info.disks)
    if (single.size === 0 && disks.size === 0) return undefined
    const uses = (other: PodInfo) =>
      other.namespace === info.namespace && other.claims.some((claim) => single.has(claim))
    let users = 0
    const mounting = new Map<NodeState, number>()
    const count = (other: PodInfo, node: NodeState, by: 1 | -1): void => {
      if (uses(other)) users += by
      if (disks.conflictsWith(other.disks)) mounting.set(node, (mounting.get(node) ?? 0) + by)
    }
    for (const node of nodes)
      for (const other of node.pods.values()) {
        count(other, node, 1)
        if (work.isStepOver(1 + other.claims.length + other.disks.length)) yield
      }
    const noDisk = forNow('node(s) had no available disk')
    const isUsed = forNow(
      'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
    )
    return {
      refuses: (node) => ((mounting.get(node) ?? 0) > 0 ? noDisk : users > 0 ? isUsed : undefined),
      moved: count,
    }
  },
}

const suitsNode = ({ spec }: PersistentVolume, { node }: NodeState): boolean =>
  spec?.nodeAffinity?.required === undefined || matchesSelector(spec.nodeAffinity.required, node)

/** Claims of the pod that get their volume after a node is chosen. */
export const unboundOf = ({ pod, volumes }: Cycle): readonly PersistentVolumeClaim[] =>
  volumes.claimsOf(pod).flatMap(({ claim }) => (claim === undefined || isBound(claim) ? [] : [claim]))

/** The volume for a claim on a node: an existing one, or undefined for a new one. */
export type Provision = { readonly claim: PersistentVolumeClaim; readonly volume: PersistentVolume | undefined }

const NO_VOLUME = "node(s) didn't find available persistent volumes to bind"
const NO_SPACE = 'node(s) did not have enough free storage'

/** @returns the reason, if some claim gets no volume there */
export function provisionsOn(
  cycle: Cycle,
  free: FreeVolumes,
  node: NodeState,
): readonly Provision[] | typeof NO_VOLUME | typeof NO_SPACE {
  const on = free.on(node.node)
  const found = new Map<PersistentVolumeClaim, PersistentVolume>()
  for (const claim of free.claims) {
    // a provisioner already makes a volume for that node
    const selected = annotation(claim, SELECTED_NODE)
    if (selected !== undefined && selected !== node.name) return NO_VOLUME
    const volume = selected === undefined ? on.take(claim) : undefined
    if (volume !== undefined && suitsNode(volume, node)) found.set(claim, volume)
  }
  const { volumes } = cycle
  const hasSpace = volumes.capacity?.on(node)
  for (const claim of free.claims) {
    if (found.has(claim)) continue
    if (!canBeMade(cycle, claim, node)) return NO_VOLUME
    if (hasSpace?.(claim, volumes.storageClass(claim)) === false) return NO_SPACE
  }
  return free.claims.map((claim) => ({ claim, volume: found.get(claim) }))
}

function canBeMade({ volumes }: Cycle, claim: PersistentVolumeClaim, { labels }: NodeState): boolean {
  const storageClass = volumes.storageClass(claim)
  const { provisioner = '', allowedTopologies = [] } = storageClass ?? {}
  if (provisioner === '' || provisioner === NO_PROVISIONER) return false
  if (allowedTopologies.length === 0) return true
  return allowedTopologies.some(({ matchLabelExpressions = [] }) =>
    // few: the labels of one topology
    matchLabelExpressions.every(({ key = '', values = [] }) => values.includes(ownValue(labels, key) ?? '')),
  )
}

export const volumeBinding: FilterPlugin = {
  name: 'VolumeBinding',
  *begin(cycle) {
    const { pod, volumes, work } = cycle
    const claims = volumes.claimsOf(pod)
    if (claims.length === 0) return undefined
    for (const { name, isEphemeral, claim } of claims) {
      const problem = claimProblem(cycle, name, isEphemeral, claim)
      if (problem !== undefined) return forGood(problem)
    }
    // a claim that names its volume gets it without the scheduler
    const isImmediate = (claim: PersistentVolumeClaim) =>
      !waitsForConsumer(volumes.storageClass(claim)) || (claim.spec?.volumeName ?? '') !== ''
    const unbound = unboundOf(cycle)
    if (unbound.some(isImmediate)) return forGood('pod has unbound immediate PersistentVolumeClaims')
    const bound = claims.flatMap(({ claim }) =>
      claim !== undefined && isBound(claim) ? [claim.spec?.volumeName ?? ''] : [],
    )
    const free = yield* FreeVolumes.of(unbound, volumes.all, work)
    return {
      weight: 1 + bound.length + free.weight + (volumes.capacity?.weight ?? 0),
      refuses: (node) => refusalOn(cycle, bound, free, node),
    } satisfies Filtering
  },
}

const notFound = (name: string): string => `persistentvolumeclaim ${JSON.stringify(name)} not found`

function claimProblem(
  { info }: Cycle,
  name: string,
  isEphemeral: boolean,
  claim: PersistentVolumeClaim | undefined,
): string | undefined {
  const quoted = JSON.stringify(name)
  if (claim === undefined)
    return isEphemeral
      ? `waiting for ephemeral volume controller to create the persistentvolumeclaim ${quoted}`
      : notFound(name)
  if (claim.status?.phase === 'Lost')
    return `persistentvolumeclaim ${quoted} bound to non-existent persistentvolume ${JSON.stringify(claim.spec?.volumeName)}`
  if (claim.metadata.deletionTimestamp !== undefined) return `persistentvolumeclaim ${quoted} is being deleted`
  const isOwn = claim.metadata.ownerReferences?.some(({ uid, controller }) => controller === true && uid === info.uid)
  return isEphemeral && isOwn !== true
    ? `PVC ${info.namespace}/${name} was not created for pod ${info.namespace}/${info.name} (pod is not owner)`
    : undefined
}

function refusalOn(cycle: Cycle, bound: readonly string[], free: FreeVolumes, node: NodeState): Refusal | undefined {
  const reasons: string[] = []
  const volumes = bound.map((name) => cycle.volumes.volume(name))
  if (volumes.some((volume) => volume !== undefined && !suitsNode(volume, node)))
    reasons.push("node(s) didn't match PersistentVolume's node affinity")
  const provisions = provisionsOn(cycle, free, node)
  if (typeof provisions === 'string') reasons.push(provisions)
  if (volumes.includes(undefined))
    reasons.push('node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)')
  return reasons.length === 0 ? undefined : { reasons, forGood: true }
}

const ZONE_LABELS = [
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
]

/** The labels that have taken the place of beta labels. A node may have only these. */
const NEW_LABELS: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
}

export const volumeZone: FilterPlugin = {
  name: 'VolumeZone',
  *begin({ pod, volumes }) {
    const claims = volumes.claimsOf(pod)
    for (const { claim } of claims) {
      const name = claim?.spec?.volumeName ?? ''
      if (name !== '' && volumes.volume(name) === undefined)
        return forGood(`persistentvolume ${JSON.stringify(name)} not found`)
    }
    const wanted = claims.flatMap(({ claim }) => {
      const labels = volumes.volume(claim?.spec?.volumeName ?? '')?.metadata.labels
      return ZONE_LABELS.flatMap((key) => {
        const value = ownValue(labels, key)
        return value === undefined ? [] : [{ key, values: value.split('__') }]
      })
    })
    if (wanted.length === 0) return undefined
    const refusal = forGood('node(s) had no available volume zone')
    return {
      weight: wanted.length,
      refuses({ labels }) {
        // a node without zone labels satisfies every volume
        if (!ZONE_LABELS.some((key) => ownValue(labels, key) !== undefined)) return undefined
        // few: the zones of the volumes of one pod
        const isThere = ({ key, values }: (typeof wanted)[number]) =>
          values.includes(ownValue(labels, key) ?? ownValue(labels, ownValue(NEW_LABELS, key) ?? '') ?? '')
        return wanted.every(isThere) ? undefined : refusal
      },
    }
  },
}
