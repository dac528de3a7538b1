import type { ClusterRole, Role } from '../../api/rbac/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { invalidValue, path, required } from '../../api/field.ts'
import { labelValueErrors } from '../../api/label-syntax.ts'
import type { LabelSelector } from '../../api/meta/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { metadataErrors } from './metadata-errors.ts'
import { labelRequirementErrors } from '../authorization/selector-requirements.ts'
import type { Strategy } from '../strategy.ts'
import { labelKeyErrors } from '../../api/label-syntax.ts'
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
    const problems = [
      ...Object.entries(selector.matchLabels ?? {}).flatMap(([key, value]) => [
        ...labelKeyErrors(key).map((problem) => invalidValue(here.child('matchLabels'), key, problem)),
        ...labelValueErrors(value).map((problem) => invalidValue(here.child('matchLabels'), value, problem)),
      ]),
      ...(selector.matchExpressions ?? []).flatMap((requirement, number) =>
        labelRequirementErrors(requirement, here.child('matchExpressions').index(number), {
          unknownOperators: 'refused',
        }),
      ),
    ]
    errors.push(...problems)
    if (!isReadable(selector)) errors.push(invalidValue(here, null, 'invalid label selector.'))
  })
  return errors
}

/** What can be turned into a selector at all; texts of the parts are told already. */
function isReadable({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  const labels = Object.entries(matchLabels)
  return (
    labels.every(([key, value]) => labelKeyErrors(key).length === 0 && labelValueErrors(value).length === 0) &&
    matchExpressions.every(
      (requirement) => labelRequirementErrors(requirement, path('x'), { unknownOperators: 'refused' }).length === 0,
    )
  )
}
