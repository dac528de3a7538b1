/**
 * The proof that a request was authorized, and the check that it is what runs. endpoints/serve-resource.ts checks
 * every verb: a route that leads elsewhere is a fault of the server. It is answered with 500 and logged, and nothing
 * runs.
 */
import type { AuthorizationAttributes } from './attributes.ts'
import type { UserInfo } from '../request/user-info.ts'

declare const granted: unique symbol
/** Attributes that an authorizer has allowed. Only `authorize` makes them. */
export type Authorized = AuthorizationAttributes & { readonly [granted]: true }

/** What is about to run: the verb, and the place in storage for its handler. */
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
  // a list or watch of a collection may be authorized for the one name that its field selector requires
  if (authorized.name !== action.name && !(acrossNamespaces.has(action.verb) && action.name === ''))
    return 'another name was authorized'
  return undefined
}

function namespaceIsOther(authorized: Authorized, { namespaced, namespace, name, resource, verb }: Action): boolean {
  // a Namespace is authorized within the namespace of its own name
  if (!namespaced) return authorized.namespace !== '' && !(resource === 'namespaces' && authorized.namespace === name)
  return authorized.namespace !== namespace || (namespace === '' && !acrossNamespaces.has(verb))
}
