/** Validation that the workloads of apps/v1 share. */
import type { PodTemplateSpec } from '../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { invalidValue, required } from '../../api/field.ts'
import type { LabelSelector } from '../../api/meta/v1.ts'
import { nonNegative } from '../../validation/field-rules.ts'
import { isEmptySelector, isUsableSelector, validateLabelSelector } from '../../validation/label-selectors.ts'
import { validateRunningTemplate } from '../../validation/pod/pod-template.ts'
import { selectorJson } from '../../validation/pod/internal-json.ts'
import type { PodRules } from '../../validation/pod/rules.ts'

interface Selecting {
  readonly selector?: LabelSelector
  readonly template?: PodTemplateSpec
}

/** Validates Deployments and ReplicaSets. The messages say deployment for both, and ReplicaSet for the template. */
export function validateSelectorAndTemplate(
  at: FieldPath,
  { selector, template = {} }: Selecting,
  rules: PodRules,
): FieldError[] {
  const here = at.child('selector')
  const errors = selector === undefined ? [required(here)] : validateLabelSelector(here, selector)
  if (selector !== undefined && isEmptySelector(selector))
    errors.push(invalidValue(here, selectorJson(selector), 'empty selector is invalid for deployment'))
  return [
    ...errors,
    ...(selector !== undefined && !isUsableSelector(selector)
      ? [invalidValue(here, selectorJson(selector), 'invalid label selector')]
      : validateRunningTemplate(at.child('template'), template, selector ?? NOTHING, rules, 'ReplicaSet')),
  ]
}

/** An absent selector selects nothing. */
const NOTHING: LabelSelector = { matchExpressions: [{ key: '', operator: 'In', values: [] }] }

/** Checks counts that may not exceed another count. */
export function notMoreThan<S extends object>(
  at: FieldPath,
  status: S,
  fields: readonly (keyof S & string)[],
  whole: keyof S & string,
  shown: string,
): FieldError[] {
  const count = (field: keyof S) => (status[field] ?? 0) as number // own key: the caller names the field
  return fields
    .filter((field) => count(field) > count(whole))
    .map((field) => invalidValue(at.child(field), count(field), `cannot be greater than ${shown}`))
}

const REPLICA_COUNTS = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'observedGeneration',
  'terminatingReplicas',
] as const

/** For ReplicaSets and ReplicationControllers, which do not count terminating Pods. */
export function validateReplicaCounts(
  at: FieldPath,
  status: { readonly [Count in (typeof REPLICA_COUNTS)[number]]?: number | bigint },
): FieldError[] {
  const parts = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'] as const
  return [
    ...REPLICA_COUNTS.flatMap((field) => nonNegative(at.child(field), status[field])),
    ...notMoreThan(at, status, parts, 'replicas', 'status.replicas'),
    ...notMoreThan(at, status, ['availableReplicas'], 'readyReplicas', 'readyReplicas'),
  ]
}

export function validateCollisionCount(
  at: FieldPath,
  status: { readonly collisionCount?: number } = {},
  old: { readonly collisionCount?: number } = {},
): FieldError[] {
  if (old.collisionCount === undefined) return []
  const count = status.collisionCount ?? 0
  const isLess = status.collisionCount === undefined || count < old.collisionCount
  return isLess ? [invalidValue(at.child('collisionCount'), count, 'cannot be decremented')] : []
}
