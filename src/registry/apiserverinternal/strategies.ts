import type { Strategy } from '../strategy.ts'
import { untyped } from '../untyped.ts'
import { storageVersions } from './storage-versions.ts'

export const apiserverinternalStrategies: Readonly<Record<string, Strategy>> = {
  'storageversions.internal.apiserver.k8s.io': untyped(storageVersions),
}
