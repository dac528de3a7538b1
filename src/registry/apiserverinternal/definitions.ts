import type { BuiltInDefinition } from '../built-in-definition.ts'
import { untyped } from '../untyped.ts'
import { storageVersions } from './storage-versions.ts'

export const apiserverinternalDefinitions: Readonly<Record<string, BuiltInDefinition>> = {
  'storageversions.internal.apiserver.k8s.io': untyped(storageVersions),
}
