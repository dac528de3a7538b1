import type { ControllerRevision } from '../../api/apps/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { path, required } from '../../api/field.ts'
import { immutable, nonNegative } from '../../validation/field-rules.ts'
import { subdomainName } from '../../validation/names.ts'
import { validateObjectMeta } from '../../validation/object-meta.ts'
import { sameValue } from '../../validation/same-value.ts'
import { controllerRevisionPrinter } from '../../codec/table/apps.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { dependentWork } from '../work/work.ts'

const data = path('data')

export const controllerRevisions: BuiltInDefinition<ControllerRevision> = {
  printer: controllerRevisionPrinter,
  workloadWork: [dependentWork],
  validate: (revision) => [...nonNegative(path('revision'), revision.revision), ...validateData(revision)],
  validateUpdate: (revision, old) => [
    ...validateObjectMeta(revision.metadata, true, subdomainName),
    ...nonNegative(path('revision'), revision.revision),
    ...immutable(data, revision.data ?? null, sameData(revision, old)),
  ],
}

function validateData({ data: value }: ControllerRevision): FieldError[] {
  if (value === undefined || value === null) return [required(data, 'data is mandatory')]
  const isObject = typeof value === 'object' && !Array.isArray(value)
  return isObject ? [] : [required(data, 'data must be a valid JSON object')]
}

const sameData = (a: ControllerRevision, b: ControllerRevision): boolean =>
  sameValue('io.k8s.api.apps.v1.ControllerRevision', { data: a.data }, { data: b.data })
