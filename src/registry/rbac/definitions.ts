import type { BuiltInDefinition } from '../built-in-definition.ts'
import { untyped } from '../untyped.ts'
import { clusterRoleBindings, roleBindings } from './role-bindings.ts'
import { clusterRoles, roles } from './roles.ts'

export const rbacDefinitions: Readonly<Record<string, BuiltInDefinition>> = {
  'roles.rbac.authorization.k8s.io': untyped(roles),
  'clusterroles.rbac.authorization.k8s.io': untyped(clusterRoles),
  'rolebindings.rbac.authorization.k8s.io': untyped(roleBindings),
  'clusterrolebindings.rbac.authorization.k8s.io': untyped(clusterRoleBindings),
}
