import { append } from '../../base/append.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { invalidValue, notSupportedString, path, required } from '../../api/field.ts'
import type { ClusterRoleBinding, RoleBinding, RoleRef, Subject } from '../../api/rbac/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { RBAC_GROUP } from '../../authorization/rbac.ts'
import { pathSegmentName, rbacName, subdomainName } from '../../validation/names.ts'
import { validateKindMetaUpdate } from '../../validation/object-meta.ts'
import { bindingPrinter } from '../../codec/table/policies.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { metadataErrors } from './metadata-errors.ts'
import { errorsOf } from '../../validation/errors-of.ts'

type Binding = (RoleBinding | ClusterRoleBinding) & KubeObject
type Scope = 'namespace' | 'cluster'

export const roleBindings: BuiltInDefinition<RoleBinding & KubeObject> = bindings('namespace')
export const clusterRoleBindings: BuiltInDefinition<ClusterRoleBinding & KubeObject> = bindings('cluster')

function bindings(scope: Scope): BuiltInDefinition<Binding> {
  return {
    printer: bindingPrinter,
    nameRule: rbacName,
    allowCreateOnUpdate: true,
    validate: (binding) => bindingErrors(binding, scope),
    metadataOnUpdate: 'by strategy',
    validateUpdate: (binding, old) => [
      ...metadataErrors(binding.metadata, scope === 'namespace'),
      ...bindingErrors(binding, scope),
      ...validateKindMetaUpdate(binding.metadata, old.metadata),
      ...changedRoleErrors(binding, old),
    ],
  }
}

const REF = path('roleRef')

function bindingErrors({ roleRef = {}, subjects = [] }: Binding, scope: Scope): FieldError[] {
  const { apiGroup = '', kind = '', name = '' } = roleRef
  const kinds = scope === 'namespace' ? ['Role', 'ClusterRole'] : ['ClusterRole']
  return [
    ...(apiGroup === RBAC_GROUP ? [] : [notSupportedString(REF.child('apiGroup'), apiGroup, [RBAC_GROUP])]),
    ...(kinds.includes(kind) ? [] : [notSupportedString(REF.child('kind'), kind, kinds)]),
    ...(name === '' ? [required(REF.child('name'))] : []),
    ...pathSegmentName(name, false).map((problem) => invalidValue(REF.child('name'), name, problem)),
    ...errorsOf(subjects, (subject, index) => subjectErrors(subject, scope, path('subjects').index(index))),
  ]
}

function subjectErrors(subject: Subject, scope: Scope, at: FieldPath): FieldError[] {
  const { kind = '', apiGroup = '', name = '', namespace = '' } = subject
  const errors = name === '' ? [required(at.child('name'))] : []
  const groupMustBe = (group: string): void => {
    if (apiGroup !== group) errors.push(notSupportedString(at.child('apiGroup'), apiGroup, [group]))
  }
  switch (kind) {
    case 'ServiceAccount':
      if (name !== '')
        append(
          errors,
          subdomainName(name, false).map((problem) => invalidValue(at.child('name'), name, problem)),
        )
      groupMustBe('')
      if (scope === 'cluster' && namespace === '') errors.push(required(at.child('namespace')))
      return errors
    case 'User':
    case 'Group':
      groupMustBe(RBAC_GROUP)
      return errors
    default:
      return [...errors, notSupportedString(at.child('kind'), kind, ['ServiceAccount', 'User', 'Group'])]
  }
}

/** The roleRef of a binding is immutable. Another role needs a new binding. */
function changedRoleErrors({ roleRef = {} }: Binding, { roleRef: old = {} }: Binding): FieldError[] {
  const same = roleRef.apiGroup === old.apiGroup && roleRef.kind === old.kind && roleRef.name === old.name
  return same ? [] : [invalidValue(REF, goRef(roleRef), 'cannot change roleRef')]
}

/** kube-apiserver prints the Go names of the fields. */
const goRef = ({ apiGroup = '', kind = '', name = '' }: RoleRef) => ({ APIGroup: apiGroup, Kind: kind, Name: name })
