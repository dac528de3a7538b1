import type { FieldError, FieldPath } from '../../api/field.ts'
import { notSupported, required } from '../../api/field.ts'

const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never']

export function validatePullPolicy(at: FieldPath, policy = ''): FieldError[] {
  if (policy === '') return [required(at)]
  return PULL_POLICIES.includes(policy) ? [] : [notSupported(at, policy, PULL_POLICIES)]
}
