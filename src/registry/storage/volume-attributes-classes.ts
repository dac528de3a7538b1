import type { PersistentVolume, PersistentVolumeClaim } from '../../api/core/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { forbiddenField, path, required } from '../../api/field.ts'
import type { VolumeAttributesClass } from '../../api/storage/v1.ts'
import { subdomainName } from '../../validation/names.ts'
import { validateObjectMeta } from '../../validation/object-meta.ts'
import { volumeAttributesClassPrinter } from '../../codec/table/storage.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { isEmpty } from '../../base/own.ts'
import { sameSentTexts } from '../../validation/same-value.ts'
import { attributesClassRules } from '../core/volumes/volume-work.ts'
import { driverErrors, parameterErrors } from './class-rules.ts'

export const volumeAttributesClasses: BuiltInDefinition<VolumeAttributesClass> = {
  printer: volumeAttributesClassPrinter,
  workloadWork: attributesClassRules,
  protection: {
    finalizer: 'kubernetes.io/vac-protection',
    account: 'volumeattributesclass-protection-controller',
    isUsed: async ({ metadata: { name } }, some) =>
      (await some<PersistentVolume>(
        { group: '', resource: 'persistentvolumes' },
        '',
        ({ spec }) => spec?.volumeAttributesClassName === name,
      )) ||
      (await some<PersistentVolumeClaim>(
        { group: '', resource: 'persistentvolumeclaims' },
        '',
        ({ spec, status }) =>
          spec?.volumeAttributesClassName === name || status?.currentVolumeAttributesClassName === name,
      )),
  },
  validate: classErrors,
  validateUpdate: (now, old) => [
    ...(now.driverName === old.driverName
      ? []
      : [forbiddenField(path('driverName'), 'updates to driverName are forbidden.')]),
    ...(sameSentTexts(now, old, 'parameters')
      ? []
      : [forbiddenField(path('parameters'), 'updates to parameters are forbidden.')]),
    ...validateObjectMeta(now.metadata, false, subdomainName),
    ...classErrors(now),
  ],
}

function classErrors({ driverName, parameters = {} }: VolumeAttributesClass): FieldError[] {
  return [
    ...driverErrors(path('driverName'), driverName),
    ...parameterErrors(path('parameters'), parameters),
    ...(isEmpty(parameters) ? [required(path('parameters'), 'must contain at least one key/value pair')] : []),
  ]
}
