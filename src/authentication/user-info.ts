/** Who makes a request (authentication.k8s.io UserInfo). */
export interface UserInfo {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

export const SYSTEM_MASTERS = 'system:masters'
export const AUTHENTICATED = 'system:authenticated'
export const UNAUTHENTICATED = 'system:unauthenticated'
export const ANONYMOUS: UserInfo = { name: 'system:anonymous', uid: '', groups: [UNAUTHENTICATED], extra: {} }
