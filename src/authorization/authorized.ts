/**
 * The proof that a request was authorized, and the comparison of what was authorized with what is about to run. Every
 * verb runs behind it (endpoints/serve-resource.ts): a route that leads elsewhere is a fault of the server, answered
 * with 500 and logged, and nothing of it runs.
 */
import type { AuthorizationAttributes } from './attributes.ts'
import type { UserInfo } from '../request/user-info.ts'

declare const granted: unique symbol
/** Attributes that an authorizer allowed. Only `authorize` makes them. */
export type Authorized = AuthorizationAttributes & { readonly [granted]: true }

/** The action that is about to run: the verb, and the place in storage that its handler was given. */
export interface Action {
  readonly user: UserInfo
  readonly verb: string
  readonly apiGroup: string
  readonly apiVersion: string
  readonly resource: string
  readonly subresource: string
  readonly namespaced: boolean
  /** '' for a cluster-scoped resource and for all namespaces. */
  readonly namespace: string
  /** '' for a collection. */
  readonly name: string
}

const acrossNamespaces: ReadonlySet<string> = new Set(['list', 'watch'])

/** @throws Error where the action is not the authorized one */
export function assertAuthorized(authorized: Authorized, action: Action): void {
  const difference = differenceOf(authorized, action)
  if (difference === undefined) return
  const what = (one: Omit<Action, 'user' | 'namespaced'>): string =>
    [one.verb, one.apiGroup, one.apiVersion, one.namespace, one.resource, one.name, one.subresource].join('|')
  throw new Error(`assertion failed: ${difference}: authorized ${what(authorized)}, about to run ${what(action)}`)
}

function differenceOf(authorized: Authorized, action: Action): string | undefined {
  if (!authorized.isResourceRequest) return 'a path was authorized, no resource'
  if (authorized.user !== action.user) return 'another user was authorized'
  if (authorized.verb !== action.verb) return 'another verb was authorized'
  if (authorized.apiGroup !== action.apiGroup || authorized.apiVersion !== action.apiVersion)
    return 'another group or version was authorized'
  if (authorized.resource !== action.resource || authorized.subresource !== action.subresource)
    return 'another resource was authorized'
  if (namespaceIsOther(authorized, action)) return 'another namespace was authorized'
  // a list or watch of a collection may have been authorized for the one name that its field selector lets through
  if (authorized.name !== action.name && !(acrossNamespaces.has(action.verb) && action.name === ''))
    return 'another name was authorized'
  return undefined
}

function namespaceIsOther(authorized: Authorized, { namespaced, namespace, name, resource, verb }: Action): boolean {
  // a Namespace is authorized within itself
  if (!namespaced) return authorized.namespace !== '' && !(resource === 'namespaces' && authorized.namespace === name)
  return authorized.namespace !== namespace || (namespace === '' && !acrossNamespaces.has(verb))
}
