/** What PodGroups and the templates of them in Workloads have in common. All of it is declared by the types. */
import type { PodGroupSchedulingPolicy } from '../../api/scheduling/v1alpha2.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { invalidValue, required } from '../../api/field.ts'
import { FIELD_IS_IMMUTABLE } from '../../validation/object-meta.ts'
import { sameValue } from '../../validation/same-value.ts'

export function policyErrors({ basic, gang }: PodGroupSchedulingPolicy, at: FieldPath): FieldError[] {
  const ONE = '`basic`, `gang`'
  const minCountAt = at.child('gang', 'minCount')
  const { minCount = 0 } = gang ?? {}
  return [
    ...(basic === undefined && gang === undefined
      ? [invalidValue(at, '', `must specify one of: ${ONE}`)]
      : basic !== undefined && gang !== undefined
        ? [invalidValue(at, '{basic, gang}', `must specify exactly one of: ${ONE}`)]
        : []),
    ...(gang === undefined
      ? []
      : minCount === 0
        ? [required(minCountAt)]
        : minCount < 0
          ? [invalidValue(minCountAt, minCount, 'must be greater than or equal to 1')]
          : []),
  ]
}

/** @param type name of the model in scheduling.k8s.io/v1alpha2 */
export function unchangedErrors<T extends object>(
  type: string,
  value: T | undefined,
  old: T | undefined,
  at: FieldPath,
): FieldError[] {
  const same =
    value === undefined || old === undefined
      ? value === old
      : sameValue(`io.k8s.api.scheduling.v1alpha2.${type}`, value, old)
  return same ? [] : [invalidValue(at, null, FIELD_IS_IMMUTABLE)]
}
