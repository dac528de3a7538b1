import type { ClusterRole, Role } from '../../api/rbac/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { invalidValue, path, required } from '../../api/field.ts'
import type { KubeObject } from '../../api/object.ts'
import { isUsableSelector, validateLabelSelector } from '../../validation/label-selectors.ts'
import { metadataErrors } from './metadata-errors.ts'
import type { Strategy } from '../strategy.ts'
import { rulesErrors } from './policy-rules.ts'

export const roles: Strategy<Role & KubeObject> = {
  validate: ({ rules }) => rulesErrors(rules, 'namespace'),
  validateUpdate: ({ rules, metadata }) => [...metadataErrors(metadata, true), ...rulesErrors(rules, 'namespace')],
}

export const clusterRoles: Strategy<ClusterRole & KubeObject> = {
  validate: clusterRoleErrors,
  validateUpdate: (role) => [...metadataErrors(role.metadata, false), ...clusterRoleErrors(role)],
}

function clusterRoleErrors({ rules, aggregationRule }: ClusterRole): FieldError[] {
  const errors = rulesErrors(rules, 'cluster')
  if (aggregationRule === undefined) return errors
  const at = path('aggregationRule', 'clusterRoleSelectors')
  const { clusterRoleSelectors: selectors = [] } = aggregationRule
  if (selectors.length === 0)
    errors.push(required(at, 'at least one clusterRoleSelector required if aggregationRule is non-nil'))
  selectors.forEach((selector, index) => {
    const here = at.index(index)
    errors.push(...validateLabelSelector(here, selector))
    if (!isUsableSelector(selector)) errors.push(invalidValue(here, null, 'invalid label selector.'))
  })
  return errors
}
