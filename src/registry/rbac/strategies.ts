import type { KubeObject } from '../../api/object.ts'
import type { Strategy } from '../strategy.ts'
import { clusterRoleBindings, roleBindings } from './role-bindings.ts'
import { clusterRoles, roles } from './roles.ts'

export const rbacStrategies: Readonly<Record<string, Strategy>> = {
  'roles.rbac.authorization.k8s.io': untyped(roles),
  'clusterroles.rbac.authorization.k8s.io': untyped(clusterRoles),
  'rolebindings.rbac.authorization.k8s.io': untyped(roleBindings),
  'clusterrolebindings.rbac.authorization.k8s.io': untyped(clusterRoleBindings),
}

/** The store hands a strategy only objects of its own kind, decoded by that kind's schema. */
function untyped<O extends KubeObject>(strategy: Strategy<O>): Strategy {
  return strategy as unknown as Strategy
}
