/** Tokens with which nodes join (Secrets of type bootstrap.kubernetes.io/token in kube-system). */
import type { Secret } from '../api/core/v1.ts'
import { ownValue } from '../base/own.ts'
import type { Env } from '../env.ts'
import { parseTime } from '../schema/time.ts'
import { storedObject } from '../tenancy/stored-object.ts'
import type { Tenant } from '../storage/tenant.ts'
import { sameSecret } from './secret-comparison.ts'
import type { UserInfo } from '../request/user-info.ts'
import { authenticated } from '../request/user-info.ts'

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
const GROUP = 'system:bootstrappers'
const EXTRA_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/

/** Undefined where the token is of another kind or invalid. The client does not learn why. */
export async function authenticateBootstrapToken(
  context: { readonly env: Env; readonly tenant: Tenant; readonly now: Date },
  token: string,
): Promise<UserInfo | undefined> {
  const [, id, value] = TOKEN.exec(token) ?? []
  if (id === undefined || value === undefined) return undefined
  const name = `kube-system/bootstrap-token-${id}`
  const secret = await storedObject<Secret>(context, { group: '', resource: 'secrets' }, name)
  if (secret === undefined || secret.metadata.deletionTimestamp !== undefined || !isBootstrapToken(secret))
    return undefined
  const read = (key: string): string => bootstrapTokenData(secret, key)
  if (!(await sameSecret(read('token-secret'), value)) || read('token-id') !== id) return undefined
  if (hasExpired(read('expiration'), context.now) || read('usage-bootstrap-authentication') !== 'true') return undefined
  const extra = read('auth-extra-groups')
  const groups = extra === '' ? [] : extra.split(',')
  if (!groups.every((group) => EXTRA_GROUP.test(group))) return undefined
  return authenticated({ name: `system:bootstrap:${id}`, groups: [...new Set([GROUP, ...groups])].sort() })
}

export const isBootstrapToken = ({ type }: Secret): boolean => type === 'bootstrap.kubernetes.io/token'

/** '' where the key is absent. */
export const bootstrapTokenData = ({ data = {} }: Secret, key: string): string => textOf(ownValue(data, key) ?? '')

/** A text that is no time counts as expired. */
export function hasExpired(expiration: string, now: Date): boolean {
  if (expiration === '') return false
  try {
    const { seconds, nanos } = parseTime(expiration)
    return seconds * 1000 + nanos / 1e6 <= now.getTime()
  } catch {
    return true
  }
}

const textOf = (base64: string): string =>
  new TextDecoder().decode(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)))
