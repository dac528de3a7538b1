import type { Strategy } from '../strategy.ts'
import { untyped } from '../untyped.ts'
import { storageVersionMigrations } from './storage-version-migrations.ts'

export const storagemigrationStrategies: Readonly<Record<string, Strategy>> = {
  'storageversionmigrations.storagemigration.k8s.io': untyped(storageVersionMigrations),
}
