import { rbacName } from '../../validation/names.ts'
import { append } from '../../base/append.ts'
import type { ClusterRole, Role } from '../../api/rbac/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { invalidValue, path, required } from '../../api/field.ts'
import type { KubeObject } from '../../api/object.ts'
import { isUsableSelector, validateLabelSelector } from '../../validation/label-selectors.ts'
import { validateKindMetaUpdate } from '../../validation/object-meta.ts'
import { metadataErrors } from './metadata-errors.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { rulesErrors } from './policy-rules.ts'
import { work } from '../work/work.ts'
import { errorsOf } from '../../validation/errors-of.ts'

export const roles: BuiltInDefinition<Role & KubeObject> = {
  nameRule: rbacName,
  allowCreateOnUpdate: true,
  validate: ({ rules }) => rulesErrors(rules, 'namespace'),
  metadataOnUpdate: 'by strategy',
  validateUpdate: ({ rules, metadata }, old) => [
    ...metadataErrors(metadata, true),
    ...rulesErrors(rules, 'namespace'),
    ...validateKindMetaUpdate(metadata, old.metadata),
  ],
}

export const clusterRoles: BuiltInDefinition<ClusterRole & KubeObject> = {
  work: () => work('cluster-role-aggregation', ''),
  nameRule: rbacName,
  allowCreateOnUpdate: true,
  validate: clusterRoleErrors,
  metadataOnUpdate: 'by strategy',
  validateUpdate: (role, old) => [
    ...metadataErrors(role.metadata, false),
    ...clusterRoleErrors(role),
    ...validateKindMetaUpdate(role.metadata, old.metadata),
  ],
}

function clusterRoleErrors({ rules, aggregationRule }: ClusterRole): FieldError[] {
  const errors = rulesErrors(rules, 'cluster')
  if (aggregationRule === undefined) return errors
  const at = path('aggregationRule', 'clusterRoleSelectors')
  const { clusterRoleSelectors: selectors = [] } = aggregationRule
  if (selectors.length === 0)
    errors.push(required(at, 'at least one clusterRoleSelector required if aggregationRule is non-nil'))
  append(
    errors,
    errorsOf(selectors, (selector, index) => {
      const errors: FieldError[] = []
      const here = at.index(index)
      append(errors, validateLabelSelector(here, selector))
      if (!isUsableSelector(selector)) errors.push(invalidValue(here, null, 'invalid label selector.'))
      return errors
    }),
  )
  return errors
}
