/** User names and groups of ServiceAccounts (apiserver's pkg/authentication/serviceaccount). */
import { dns1123Label, dns1123Subdomain } from '../validation/names.ts'

export interface ServiceAccountName {
  readonly namespace: string
  readonly name: string
}

const PREFIX = 'system:serviceaccount:'
/** The key of `extra` with the node of the pod to which a token is bound. */
export const NODE_NAME = 'authentication.kubernetes.io/node-name'
export const SERVICE_ACCOUNTS = 'system:serviceaccounts'

export const serviceAccountUser = ({ namespace, name }: ServiceAccountName): string => `${PREFIX}${namespace}:${name}`

/** The groups of every ServiceAccount of a namespace, without system:authenticated. */
export const serviceAccountGroups = (namespace: string): string[] => [
  SERVICE_ACCOUNTS,
  `${SERVICE_ACCOUNTS}:${namespace}`,
]

/** Undefined where the user is no ServiceAccount. */
export function parseServiceAccountUser(user: string): ServiceAccountName | undefined {
  if (!user.startsWith(PREFIX)) return undefined
  const parts = user.slice(PREFIX.length).split(':')
  const [namespace = '', name = ''] = parts
  if (parts.length !== 2 || dns1123Label(namespace).length > 0 || dns1123Subdomain(name).length > 0) return undefined
  return { namespace, name }
}
