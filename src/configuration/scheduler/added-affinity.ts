/** The affinity that a profile adds to that of its pods (NodeAffinityArgs). */
import * as z from 'zod/mini'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { invalidValue, notSupported } from '../../api/field.ts'
import { labelKeyErrors, labelValueErrors } from '../../api/label-syntax.ts'
import { parseInt64 } from '../../go/int.ts'
import { list, optional, orElse } from './optional.ts'

const requirement = z.strictObject({
  key: orElse(z.string(), ''),
  operator: orElse(z.string(), ''),
  values: optional(z.array(z.string())),
})
const term = z.strictObject({ matchExpressions: list(requirement), matchFields: list(requirement) })

export const affinitySchema = z.strictObject({
  requiredDuringSchedulingIgnoredDuringExecution: optional(z.strictObject({ nodeSelectorTerms: list(term) })),
  preferredDuringSchedulingIgnoredDuringExecution: list(
    z.strictObject({
      weight: orElse(z.int32(), 0),
      preference: orElse(term, { matchExpressions: [], matchFields: [] }),
    }),
  ),
})

type Requirement = z.infer<typeof requirement>
type Term = z.infer<typeof term>

export function affinityErrors(
  {
    requiredDuringSchedulingIgnoredDuringExecution: needed,
    preferredDuringSchedulingIgnoredDuringExecution: preferred = [],
  }: Partial<z.infer<typeof affinitySchema>>,
  at: FieldPath,
): FieldError[] {
  const terms = at.child('requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms')
  const preferredAt = at.child('preferredDuringSchedulingIgnoredDuringExecution')
  return [
    ...(needed?.nodeSelectorTerms ?? []).flatMap((one, index) => termErrors(one, terms.index(index))),
    ...preferred.flatMap(({ weight, preference }, index) =>
      weight === 0 ? [] : termErrors(preference, preferredAt.index(index)),
    ),
  ]
}

const termErrors = ({ matchExpressions, matchFields }: Term, at: FieldPath): FieldError[] => [
  ...matchExpressions.flatMap((one, index) => expressionErrors(one, at.child('matchExpressions').index(index))),
  ...matchFields.flatMap((one, index) => fieldErrors(one, at.child('matchFields').index(index))),
]

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']
const FIELD_OPERATORS = ['In', 'NotIn']

function expressionErrors({ key, operator, values }: Requirement, at: FieldPath): FieldError[] {
  if (!OPERATORS.includes(operator)) return [notSupported(at.child('operator'), operator, OPERATORS)]
  const all = values ?? []
  const valuesAt = at.child('values')
  const errors: FieldError[] = labelKeyErrors(key).map((why) => invalidValue(at.child('key'), key, why))
  const wrong = (why: string) => errors.push(invalidValue(valuesAt, values, why))
  if (operator === 'In' || operator === 'NotIn') {
    if (all.length === 0) wrong("for 'in', 'notin' operators, values set can't be empty")
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (all.length > 0) wrong('values set must be empty for exists and does not exist')
  } else {
    if (all.length !== 1) wrong("for 'Gt', 'Lt' operators, exactly one value is required")
    for (const [index, value] of all.entries())
      if (parseInt64(value) === undefined)
        errors.push(
          invalidValue(valuesAt.index(index), value, "for 'Gt', 'Lt' operators, the value must be an integer"),
        )
  }
  for (const [index, value] of all.entries())
    for (const why of labelValueErrors(value)) errors.push(invalidValue(valuesAt.index(index).key(key), value, why))
  return errors
}

function fieldErrors({ operator, values }: Requirement, at: FieldPath): FieldError[] {
  if (!FIELD_OPERATORS.includes(operator)) return [notSupported(at.child('operator'), operator, FIELD_OPERATORS)]
  return values?.length === 1 ? [] : [invalidValue(at.child('values'), values, 'must have one element')]
}
