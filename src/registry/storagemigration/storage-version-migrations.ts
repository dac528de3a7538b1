import { withoutSpecAndMetadata } from '../../patch/reset-fields.ts'
import type { StorageVersionMigration, StorageVersionMigrationStatus } from '../../api/storagemigration/v1beta1.ts'
import type { FieldError } from '../../api/field.ts'
import { invalidValue, path, required } from '../../api/field.ts'
import type { KubeObject } from '../../api/object.ts'
import { validateConditions } from '../../validation/conditions.ts'
import { dns1035Label, dns1123Subdomain, subdomainName } from '../../validation/names.ts'
import { FIELD_IS_IMMUTABLE, validateKindMetaUpdate, validateObjectMeta } from '../../validation/object-meta.ts'
import { internalJson } from '../../validation/pod/internal-json.ts'
import { sameValue } from '../../validation/same-value.ts'
import { writtenJson } from '../../validation/written-json.ts'
import { keepMetadata } from '../metadata-of-status.ts'
import { storageVersionMigrationPrinter } from '../../codec/table/cluster.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { unservedWork } from '../unserved-work.ts'

type Migration = StorageVersionMigration & KubeObject

const CONDITION_TYPE = 'io.k8s.apimachinery.pkg.apis.meta.v1.Condition'
const SPEC_TYPE = 'io.k8s.api.storagemigration.v1beta1.StorageVersionMigrationSpec'

export const storageVersionMigrations: BuiltInDefinition<Migration> = {
  printer: storageVersionMigrationPrinter,
  warningsOnCreate: unservedWork('storage-version-migrator-controller'),
  resetFields: { status: withoutSpecAndMetadata },
  allowUnconditionalUpdate: false,
  metadataOnUpdate: 'by strategy',
  validate: resourceErrors,
  validateUpdate: (migration, old) => [
    ...validateObjectMeta(migration.metadata, false, subdomainName),
    ...resourceErrors(migration),
    ...validateKindMetaUpdate(migration.metadata, old.metadata),
    ...(sameValue(SPEC_TYPE, migration.spec, old.spec)
      ? []
      : [invalidValue(path('spec'), internalJson(SPEC_TYPE, migration.spec ?? {}), FIELD_IS_IMMUTABLE)]),
  ],
  subresources: {
    status: {
      prepareForUpdate: ({ metadata }, old) => keepMetadata(metadata, old.metadata),
      validateUpdate: ({ status = {} }, { status: old = {} }) => statusErrors(status, old),
    },
  },
}

function resourceErrors({ spec }: Migration): FieldError[] {
  const { group = '', resource = '' } = spec?.resource ?? {}
  const at = path('spec', 'resource')
  const joined = (field: string, value: string, problems: readonly string[]) =>
    problems.length === 0 ? [] : [invalidValue(at.child(field), value, problems.join(','))]
  return [
    ...(resource === ''
      ? [required(at.child('resource'), 'resource is required to be set')]
      : joined('resource', resource, dns1035Label(resource))),
    ...(group === '' ? [] : joined('group', group, dns1123Subdomain(group))),
  ]
}

const NOT_A_VERSION = 'resource version is not well formed: '

function statusErrors(status: StorageVersionMigrationStatus, old: StorageVersionMigrationStatus): FieldError[] {
  const at = path('status')
  const { resourceVersion = '', conditions } = status
  const versionAt = at.child('resourceVersion')
  const conditionsAt = at.child('conditions')
  // kube-apiserver prints absent conditions as null
  const shown = conditions?.map((condition) => writtenJson(CONDITION_TYPE, condition)) ?? null
  const wrong = (why: string) => invalidValue(conditionsAt, shown, why)
  const wasTrue = (type: string) => isTrue(old, type) && !isTrue(status, type)
  return [
    ...(resourceVersion === '' || /^[1-9]\d*$/.test(resourceVersion)
      ? []
      : [invalidValue(versionAt, resourceVersion, `${NOT_A_VERSION}${resourceVersion}`)]),
    ...validateConditions(conditionsAt, conditions ?? []),
    ...(old.resourceVersion && old.resourceVersion !== resourceVersion
      ? [invalidValue(versionAt, resourceVersion, FIELD_IS_IMMUTABLE)]
      : []),
    ...(isTrue(status, 'Succeeded') && isTrue(status, 'Failed')
      ? [wrong('Both success and failed conditions cannot be true at the same time')]
      : []),
    ...(wasTrue('Succeeded') ? [wrong('Success condition cannot be set to false once it is true')] : []),
    ...(wasTrue('Failed') ? [wrong('Failed condition cannot be set to false once it is true')] : []),
  ]
}

const isTrue = ({ conditions }: StorageVersionMigrationStatus, type: string): boolean =>
  (conditions ?? []).find((condition) => condition.type === type)?.status === 'True'
