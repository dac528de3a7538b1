import type { BuiltInDefinition } from '../built-in-definition.ts'
import { untyped } from '../untyped.ts'
import { storageVersionMigrations } from './storage-version-migrations.ts'

export const storagemigrationDefinitions: Readonly<Record<string, BuiltInDefinition>> = {
  'storageversionmigrations.storagemigration.k8s.io': untyped(storageVersionMigrations),
}
