import type { FieldError } from '../../api/field.ts'
import { forbiddenField, notSupported, path, required } from '../../api/field.ts'
import { ownValue } from '../../base/own.ts'
import type { PriorityClass } from '../../api/scheduling/v1.ts'
import { immutableNamed } from '../../validation/field-rules.ts'
import { priorityClassPrinter } from '../../codec/table/cluster.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'

const SYSTEM = 'system-'
const HIGHEST = 1_000_000_000
/** The system's classes, which every server has, and their values. */
const systemClasses: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
}
const preemptionPolicies = ['PreemptLowerPriority', 'Never']

export const priorityClasses: BuiltInDefinition<PriorityClass> = {
  printer: priorityClassPrinter,
  keepsName: (name) =>
    Object.hasOwn(systemClasses, name) ? 'this is a system priority class and cannot be deleted' : undefined,
  hasGeneration: true,
  generationStays: true,
  validate: (one) => [...valueErrors(one), ...preemptionErrors(one)],
  validateUpdate: (one, old) => [
    ...((one.value ?? 0) === (old.value ?? 0)
      ? []
      : [forbiddenField(path('value'), 'may not be changed in an update.')]),
    ...immutableNamed(path('preemptionPolicy'), one.preemptionPolicy, old.preemptionPolicy),
  ],
}

function valueErrors({ metadata, value = 0, globalDefault = false }: PriorityClass): FieldError[] {
  const name = metadata.name ?? ''
  if (!name.startsWith(SYSTEM))
    return value > HIGHEST
      ? [forbiddenField(path('value'), `maximum allowed value of a user defined priority is ${HIGHEST}`)]
      : []
  const known = ownValue(systemClasses, name)
  const problem =
    known === undefined
      ? `${name} is not a known system priority class`
      : known !== value
        ? `value of ${name} PriorityClass must be ${known}`
        : globalDefault
          ? `globalDefault of ${name} PriorityClass must be false`
          : undefined
  const reserved = `priority class names with '${SYSTEM}' prefix are reserved for system use only. error: `
  return problem === undefined ? [] : [forbiddenField(path('metadata', 'name'), reserved + problem)]
}

function preemptionErrors({ preemptionPolicy: policy }: PriorityClass): FieldError[] {
  const at = path('preemptionPolicy')
  if (policy === undefined || preemptionPolicies.includes(policy)) return []
  return policy === '' ? [required(at)] : [notSupported(at, policy, preemptionPolicies)]
}
