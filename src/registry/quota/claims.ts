import type { PersistentVolumeClaim } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { Quantity } from '../../schema/quantity.ts'
import { ONE } from './amounts.ts'
import type { Evaluator } from './evaluator.ts'
import { matchesNames } from './scopes.ts'

const OF_CLASS = '.storageclass.storage.k8s.io/'
const CLAIMS = 'persistentvolumeclaims'
const STORAGE = 'requests.storage'
const COUNT = `count/${CLAIMS}`

// stored and admitted claims have the form of a claim
const claimOf = (object: KubeObject): PersistentVolumeClaim => object as unknown as PersistentVolumeClaim

export const claimEvaluator: Evaluator = {
  handles({ operation, subresource, object, oldObject }) {
    if (subresource === '') return true
    if (subresource !== 'status' || operation !== 'UPDATE' || oldObject === undefined) return false
    const [now, before] = [claimOf(object), claimOf(oldObject)]
    return (
      now.status?.allocatedResources?.['storage'] !== before.status?.allocatedResources?.['storage'] ||
      attributesClasses(now).sort().join() !== attributesClasses(before).sort().join()
    )
  },
  tracks: (name) =>
    [COUNT, CLAIMS, STORAGE].includes(name) ||
    name.endsWith(`${OF_CLASS}${CLAIMS}`) ||
    name.endsWith(`${OF_CLASS}${STORAGE}`),
  matchesScope: (scope, object) =>
    scope.scopeName === 'VolumeAttributesClass' && matchesNames(scope, attributesClasses(claimOf(object))),
  scopeOf: (object) => attributesClasses(claimOf(object)).sort().join(),
  usage(object) {
    const claim = claimOf(object)
    const storageClass =
      claim.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? claim.spec?.storageClassName ?? ''
    const storage = storageOf(claim)
    const usage = new Map([
      [CLAIMS, ONE],
      [COUNT, ONE],
    ])
    if (storage !== undefined) usage.set(STORAGE, storage)
    if (storageClass === '') return usage
    usage.set(`${storageClass}${OF_CLASS}${CLAIMS}`, ONE)
    if (storage !== undefined) usage.set(`${storageClass}${OF_CLASS}${STORAGE}`, storage)
    return usage
  },
}

/**
 * If the allocated size is larger than the requested one, it counts. A user may have reduced the request after an
 * expansion.
 */
function storageOf({ spec, status }: PersistentVolumeClaim): Quantity | undefined {
  const asked = spec?.resources?.requests?.['storage']
  if (asked === undefined) return undefined
  const wanted = Quantity.parse(asked).roundUp(0)
  const allocated = Quantity.parse(status?.allocatedResources?.['storage'] ?? '0')
  return allocated.compare(wanted) > 0 ? allocated.roundUp(0) : wanted
}

/** The claim's present class, its requested class, and the class that a modification aims at. */
function attributesClasses({ spec, status }: PersistentVolumeClaim): string[] {
  const names = [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ]
  return [...new Set(names.filter((name): name is string => name !== undefined && name !== ''))]
}
