/** The user of a request (authentication.k8s.io UserInfo). */
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

/** The key of `extra` with the certificate or token that authenticated the user. */
export const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id'

/**
 * The result of authenticators. Every user belongs to system:authenticated, as the last group, except system:anonymous,
 * for whom a front proxy may ask, and users of system:unauthenticated.
 */
export function authenticated(user: Pick<UserInfo, 'name'> & Partial<UserInfo>): UserInfo {
  const { name, uid = '', groups = [], extra = {} } = user
  const isSaid = name === ANONYMOUS.name || groups.includes(AUTHENTICATED) || groups.includes(UNAUTHENTICATED)
  return { name, uid, groups: isSaid ? groups : [...groups, AUTHENTICATED], extra }
}

/** The user of kube-apiserver itself: for its own writes beside requests, and for its controllers. */
export const API_SERVER: UserInfo = authenticated({ name: 'system:apiserver', groups: [SYSTEM_MASTERS] })

const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):/
/** A user who may create accounts here may do anything. */
const OF_THE_SYSTEM = 'kube-system'

/**
 * Whose watches, bodies and heavy steps count together. A user who may create one ServiceAccount of a namespace may
 * create any number of them, so they all count as one.
 */
export function countedAs({ name }: Pick<UserInfo, 'name'>): string {
  const [beginning, namespace] = SERVICE_ACCOUNT.exec(name) ?? []
  return beginning === undefined || namespace === OF_THE_SYSTEM ? name : beginning
}
