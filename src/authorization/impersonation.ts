/**
 * Impersonation by Impersonate-* headers (kubernetes.io/docs/reference/access-authn-authz/user-impersonation). The
 * requesting user needs the right to impersonate that user, groups, uid and extra in general (the verb
 * `impersonate`), or in a constrained mode for this very request (the verbs `impersonate:MODE` and
 * `impersonate-on:MODE:VERB`; KEP 5284).
 */
import { BoundedMap } from '../api/bounded-map.ts'
import { goQuote } from '../go/quote.ts'
import { StatusError } from '../api/status.ts'
import type { AuthorizationAttributes } from './attributes.ts'
import { attributesOf, resourceAttributes } from './attributes.ts'
import { verdictOn } from './authorize.ts'
import { forbiddenBy } from './forbidden.ts'
import type { ApiRequest } from '../request/context.ts'
import type { RequestHeaders } from '../request/request-headers.ts'
import { dns1123Subdomain } from '../validation/names.ts'
import { labelKeyErrors } from '../api/label-syntax.ts'
import { ownValue, setOwn } from '../api/own.ts'
import { extraKey, headerValues } from '../authentication/request-header.ts'
import { NODE_NAME, parseServiceAccountUser, serviceAccountGroups } from '../authentication/service-account-name.ts'
import { perTenant } from '../tenancy/tenant-state.ts'
import type { UserInfo } from '../request/user-info.ts'
import { ANONYMOUS, AUTHENTICATED, SYSTEM_MASTERS, UNAUTHENTICATED } from '../request/user-info.ts'

const USER = 'Impersonate-User'
const GROUP = 'Impersonate-Group'
const UID = 'Impersonate-Uid'
/** The common prefix of the headers. */
const PREFIX = 'impersonate-'
const EXTRA_PREFIX = 'impersonate-extra-'

/**
 * Returns at once where no header asks for impersonation.
 * @throws StatusError 400 where the user's name is missing, 403
 */
export function impersonate(request: ApiRequest): ApiRequest | Promise<ApiRequest> {
  for (const name of request.headers.names()) if (name.startsWith(PREFIX)) return impersonating(request)
  return request
}

async function impersonating(request: ApiRequest): Promise<ApiRequest> {
  const wanted = wantedUser(request.headers)
  return wanted === undefined ? request : { ...request, user: await impersonated(request, wanted) }
}

/** The user of the headers, with nothing added. */
function wantedUser(headers: RequestHeaders): UserInfo | undefined {
  const name = headers.get(USER) ?? ''
  const uid = headers.get(UID) ?? ''
  const groups = headerValues(headers, GROUP)
  const extra: Record<string, string[]> = {}
  for (const header of headers.names())
    if (header.startsWith(EXTRA_PREFIX)) {
      const key = extraKey(header.slice(EXTRA_PREFIX.length))
      setOwn(extra, key, [...(ownValue(extra, key) ?? []), ...headerValues(headers, header)])
    }
  const user = { name, uid, groups, extra }
  if (name !== '') return user
  if (uid === '' && groups.length === 0 && Object.keys(extra).length === 0) return undefined
  const message = `requested ${goUser(user)} without impersonating a user name`
  throw new StatusError(400, 'BadRequest', message, undefined, {}, { 'X-Content-Type-Options': 'nosniff' })
}

/** `&user.DefaultInfo{…}` as Go prints it. */
function goUser({ name, uid, groups, extra }: UserInfo): string {
  const list = (values: readonly string[]) =>
    values.length === 0 ? '[]string(nil)' : `[]string{${values.map(goQuote).join(', ')}}`
  const keys = Object.keys(extra).sort()
  const map =
    keys.length === 0
      ? 'map[string][]string(nil)'
      : `map[string][]string{${keys.map((key) => `${goQuote(key)}:${list(ownValue(extra, key)!)}`).join(', ')}}`
  return `&user.DefaultInfo{Name:${goQuote(name)}, UID:${goQuote(uid)}, Groups:${list(groups)}, Extra:${map}}`
}

interface Mode {
  /** Undefined for the general mode. */
  readonly name?: 'associated-node' | 'arbitrary-node' | 'serviceaccount' | 'user-info'
  applies(wanted: UserInfo, asker: UserInfo): boolean
}

const NODE_PREFIX = 'system:node:'
const NODES_GROUP = 'system:nodes'

const nodeName = (user: string): string | undefined => {
  const name = user.startsWith(NODE_PREFIX) ? user.slice(NODE_PREFIX.length) : ''
  return name !== '' && dns1123Subdomain(name).length === 0 ? name : undefined
}
const onlyName = ({ uid, groups, extra }: UserInfo): boolean =>
  uid === '' && groups.length === 0 && Object.keys(extra).length === 0

/** In the order in which they are tried. */
const modes: readonly Mode[] = [
  {
    name: 'associated-node',
    applies: (wanted, asker) =>
      onlyName(wanted) &&
      nodeName(wanted.name) !== undefined &&
      parseServiceAccountUser(asker.name) !== undefined &&
      asker.extra[NODE_NAME]?.length === 1 &&
      asker.extra[NODE_NAME][0] === nodeName(wanted.name),
  },
  { name: 'arbitrary-node', applies: (wanted) => onlyName(wanted) && nodeName(wanted.name) !== undefined },
  {
    name: 'serviceaccount',
    applies: (wanted) => onlyName(wanted) && parseServiceAccountUser(wanted.name) !== undefined,
  },
  {
    name: 'user-info',
    applies: ({ name }) => nodeName(name) === undefined && parseServiceAccountUser(name) === undefined,
  },
  { applies: () => true },
]

/** The mode that succeeded last for a user. It is tried first, and where all fail the client gets its error. */
const lastModes = perTenant(
  'forgotten',
  () => new BoundedMap<string, Mode>({ entries: 10_000, size: 1024 * 1024, sizeOf: ({ length }) => length }),
)

async function impersonated(request: ApiRequest, wanted: UserInfo): Promise<UserInfo> {
  const asker = request.user
  const lastMode = lastModes(request.tenant)
  const last = lastMode.get(asker.name)
  let refusal: StatusError | undefined
  for (const mode of last === undefined ? modes : [last, ...modes.filter((one) => one !== last)]) {
    if (!mode.applies(wanted, asker)) continue
    try {
      const user = await impersonatedIn(request, mode, wanted)
      lastMode.set(asker.name, mode)
      if (request.record !== undefined)
        request.record.impersonated = { user, constraint: mode.name === undefined ? '' : `impersonate:${mode.name}` }
      return user
    } catch (error) {
      if (!(error instanceof StatusError) || error.code !== 403) throw error
      refusal ??= error
    }
  }
  throw refusal! // the general mode applies to every user
}

async function impersonatedIn(request: ApiRequest, mode: Mode, wanted: UserInfo): Promise<UserInfo> {
  const asker = mode.name === 'associated-node' ? withoutExtra(request.user) : request.user
  const check = async (asked: AuthorizationAttributes): Promise<void> => {
    const { allowed, reason } = await verdictOn(request, asked)
    if (!allowed) throw forbiddenBy(asked, reason)
  }
  if (mode.name !== undefined) {
    const asked = attributesOf(asker, request.info, request.query)
    await check({ ...asked, verb: `impersonate-on:${mode.name}:${asked.verb}` })
  }
  for (const asked of checksOf(mode, asker, wanted)) await check(asked)
  return withFixedGroups(mode, wanted)
}

const AUTHENTICATION = { apiGroup: 'authentication.k8s.io', apiVersion: 'v1' }
const CORE = { apiGroup: '', apiVersion: 'v1' }

/** The authorization checks, one for each part of the wanted user. */
function* checksOf(mode: Mode, asker: UserInfo, wanted: UserInfo): Generator<AuthorizationAttributes> {
  const constrained = mode.name !== undefined
  const verb = constrained ? `impersonate:${mode.name}` : 'impersonate'
  const names = constrained ? AUTHENTICATION : CORE
  const ask = (resource: Partial<AuthorizationAttributes>) => resourceAttributes(asker, verb, resource)

  const account = parseServiceAccountUser(wanted.name)
  const node = constrained ? nodeName(wanted.name) : undefined
  if (account !== undefined) yield ask({ ...names, resource: 'serviceaccounts', ...account })
  else if (node !== undefined)
    yield ask({ ...names, resource: 'nodes', name: mode.name === 'associated-node' ? '*' : node })
  else yield ask({ ...names, resource: 'users', name: wanted.name })

  if (wanted.uid !== '') yield ask({ ...AUTHENTICATION, resource: 'uids', name: wanted.uid })

  for (const group of wanted.groups) {
    const asked = ask({ ...names, resource: 'groups', name: group })
    if (constrained && group === '') throw forbiddenBy(asked, 'impersonating the empty string group is not allowed')
    if (constrained && group === SYSTEM_MASTERS)
      throw forbiddenBy(asked, 'impersonating the system:masters group is not allowed')
    yield asked
  }

  if (constrained) {
    const problem = extraProblem(wanted.extra)
    if (problem !== undefined) throw forbiddenBy(ask({ ...AUTHENTICATION, resource: 'userextras' }), problem)
  }
  for (const key of Object.keys(wanted.extra).sort())
    for (const value of wanted.extra[key]!)
      yield ask({ ...AUTHENTICATION, resource: 'userextras', subresource: key, name: value })
}

/** The constrained modes allow only some extra; the general mode allows any. */
function extraProblem(extra: UserInfo['extra']): string | undefined {
  for (const [key, values] of Object.entries(extra)) {
    if (key === '') return 'impersonating the empty string key in extra is not allowed'
    const problems = key.includes('/')
      ? labelKeyErrors(key)
      : ['must be a domain-prefixed path (such as "acme.io/foo")']
    if (problems.length > 0)
      return `impersonating an invalid key in extra is not allowed: extra.key: Invalid value: ${goQuote(key)}: ${problems[0]}`
    if (key !== key.toLowerCase()) return `impersonating a non-lowercase key in extra is not allowed: ${goQuote(key)}`
    if (values.length === 0) return 'impersonating empty values in extra is not allowed'
    if (values.includes('')) return 'impersonating the empty string value in extra is not allowed'
  }
  return undefined
}

/** Adds the groups of that kind of user, and the group of authenticated or anonymous users. */
function withFixedGroups(mode: Mode, wanted: UserInfo): UserInfo {
  let { groups } = wanted
  const account = parseServiceAccountUser(wanted.name)
  if (account !== undefined && groups.length === 0) groups = serviceAccountGroups(account.namespace)
  if (mode.name !== undefined && nodeName(wanted.name) !== undefined) groups = [NODES_GROUP]
  if (wanted.name === ANONYMOUS.name) groups = including(groups, UNAUTHENTICATED)
  else if (!groups.includes(UNAUTHENTICATED)) groups = including(groups, AUTHENTICATED)
  return { ...wanted, groups }
}

const including = (groups: readonly string[], group: string): readonly string[] =>
  groups.includes(group) ? groups : [...groups, group]

/** For a pod's extra only the keys are checked here, because the mode has checked the values. */
const withoutExtra = (user: UserInfo): UserInfo => ({
  ...user,
  extra: { 'authentication.kubernetes.io/associated-node-keys': Object.keys(user.extra).sort() },
})
