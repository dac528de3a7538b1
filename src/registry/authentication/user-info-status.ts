import type { UserInfo as ApiUserInfo } from '../../api/authentication/v1.ts'
import { ownValue } from '../../base/own.ts'
import type { UserInfo } from '../../request/user-info.ts'

/** The UserInfo of an answer, without empty fields. */
export function userInfoStatus({ name, uid, groups, extra }: UserInfo): ApiUserInfo {
  const keys = Object.keys(extra).sort()
  return {
    ...(name === '' ? {} : { username: name }),
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
    ...(keys.length === 0 ? {} : { extra: Object.fromEntries(keys.map((key) => [key, [...ownValue(extra, key)!]])) }),
  }
}
