import type { FieldError } from '../../api/field.ts'
import { forbiddenField, path, required } from '../../api/field.ts'
import type { VolumeAttributesClass } from '../../api/storage/v1.ts'
import { subdomainName } from '../../validation/names.ts'
import { validateObjectMeta } from '../../validation/object-meta.ts'
import type { Strategy } from '../strategy.ts'
import { driverErrors, parameterErrors, sameMap } from './class-rules.ts'

export const volumeAttributesClasses: Strategy<VolumeAttributesClass> = {
  deleteAnswersObject: true,
  validate: classErrors,
  validateUpdate: (now, old) => [
    ...(now.driverName === old.driverName
      ? []
      : [forbiddenField(path('driverName'), 'updates to driverName are forbidden.')]),
    ...(sameMap(now.parameters, old.parameters)
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
    ...(Object.keys(parameters).length === 0
      ? [required(path('parameters'), 'must contain at least one key/value pair')]
      : []),
  ]
}
