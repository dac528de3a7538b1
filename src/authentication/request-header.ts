/**
 * Front proxies: whoever presents a certificate of their authority may say in X-Remote-* headers for whom it asks
 * (kube-apiserver's --requestheader-* flags with their usual values).
 */
import type { Env } from '../env.ts'
import { isIssuedBy } from './certificate-issuer.ts'
import { presentedCertificate } from './client-certificate.ts'
import type { UserInfo } from './user-info.ts'
import { authenticated } from './user-info.ts'

/** As the flags are set, and as the ConfigMap extension-apiserver-authentication tells extension servers. */
export const REQUEST_HEADERS = {
  allowedNames: ['front-proxy-client'],
  username: 'X-Remote-User',
  uid: 'X-Remote-Uid',
  group: 'X-Remote-Group',
  extraPrefix: 'X-Remote-Extra-',
} as const

/** Whether there may be a front proxy, and the request names a user as one would. */
export const saysForWhom = (headers: Headers, { KEDGE_REQUESTHEADER_CA: authority = '' }: Env): boolean =>
  authority !== '' && (headers.get(REQUEST_HEADERS.username) ?? '').trim() !== ''

/** Undefined: no front proxy asks, or it does not say for whom. */
export async function requestHeaderUser(request: Request, env: Env, now = new Date()): Promise<UserInfo | undefined> {
  if (!saysForWhom(request.headers, env)) return undefined
  const { KEDGE_REQUESTHEADER_CA: authority = '' } = env
  const name = request.headers.get(REQUEST_HEADERS.username) ?? ''
  const certificate = presentedCertificate(request)
  if (certificate?.certRaw === undefined || !isAllowed(certificate.commonName)) return undefined
  if (!(await isIssuedBy(certificate.certRaw, authority, now))) return undefined
  return authenticated({
    name,
    uid: request.headers.get(REQUEST_HEADERS.uid) ?? '',
    groups: headerValues(request.headers, REQUEST_HEADERS.group),
    extra: extraOf(request.headers),
  })
}

const isAllowed = (commonName = ''): boolean => REQUEST_HEADERS.allowedNames.some((name) => name === commonName)

/** Headers given several times arrive joined with a comma and a blank, which values may therefore not contain. */
export const headerValues = (headers: Headers, name: string): string[] => headers.get(name)?.split(', ') ?? []

function extraOf(headers: Headers): Record<string, string[]> {
  const prefix = REQUEST_HEADERS.extraPrefix.toLowerCase()
  const keys = [...headers.keys()].filter((key) => key.startsWith(prefix))
  return Object.fromEntries(keys.map((key) => [extraKey(key.slice(prefix.length)), headerValues(headers, key)]))
}

/** Keys are lower case and percent-decoded; what cannot be decoded stays. */
export function extraKey(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}
