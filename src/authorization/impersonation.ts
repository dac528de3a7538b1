/**
 * Impersonation by Impersonate-* headers (kubernetes.io/docs/reference/access-authn-authz/user-impersonation). The
 * requesting user needs the right to impersonate that user, groups, uid and extra in general (the verb
 * `impersonate`), or in a constrained mode for this very request (the verbs `impersonate:MODE` and
 * `impersonate-on:MODE:VERB`; KEP 5284).
 */
import { BoundedMap } from '../base/bounded-map.ts'
import { messageOf, path } from '../api/field.ts'
import { goQuote } from '../go/quote.ts'
import { StatusError } from '../api/status.ts'
import type { AuthorizationAttributes } from './attributes.ts'
import { attributesOf, resourceAttributes } from './attributes.ts'
import { verdictOn } from './authorize.ts'
import { forbiddenBy } from './forbidden.ts'
import type { ApiRequest } from '../request/context.ts'
import type { RequestHeaders } from '../request/request-headers.ts'
import { validateDomainPath } from '../validation/field-rules.ts'
import { dns1123Subdomain } from '../validation/names.ts'
import { ownValue, setOwn } from '../base/own.ts'
import { extraKey, headerValues } from '../authentication/request-header.ts'
import { NODE_NAME, parseServiceAccountUser, serviceAccountGroups } from '../authentication/service-account-name.ts'
import { settingsOf } from '../settings.ts'
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

const GENERAL: Mode = { applies: () => true }

/** In the order in which they are tried. Without the feature gate ConstrainedImpersonation there is only the last. */
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
  GENERAL,
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
  const usable = settingsOf(request.env).gates.enabled('ConstrainedImpersonation') ? modes : [GENERAL]
  let refusal: StatusError | undefined
  for (const mode of last === undefined ? usable : [last, ...usable.filter((one) => one !== last)]) {
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
  const checks = new Checks(request, mode, asker)
  if (mode.name !== undefined) {
    const asked = attributesOf(asker, request.info, request.query)
    await checks.all([{ ...asked, verb: `impersonate-on:${mode.name}:${asked.verb}` }])
  }
  await checks.user(wanted)
  return withFixedGroups(mode, wanted)
}

const AUTHENTICATION = { apiGroup: 'authentication.k8s.io', apiVersion: 'v1' }
const CORE = { apiGroup: '', apiVersion: 'v1' }
/** So many parts of one kind are first asked about as a whole, with `*` for the name. */
const MANY = 4

/** The authorization checks of one mode. */
class Checks {
  private readonly constrained: boolean
  /** Of users and groups. */
  private readonly names: typeof CORE

  constructor(
    private readonly request: ApiRequest,
    private readonly mode: Mode,
    private readonly asker: UserInfo,
  ) {
    this.constrained = mode.name !== undefined
    this.names = this.constrained ? AUTHENTICATION : CORE
  }

  /** @throws StatusError 403 at the first refusal */
  async all(questions: readonly AuthorizationAttributes[]): Promise<void> {
    for (const asked of questions) {
      const { allowed, reason } = await verdictOn(this.request, asked)
      if (!allowed) throw forbiddenBy(asked, reason)
    }
  }

  /** Each part of the wanted user. */
  async user({ name, uid, groups, extra }: UserInfo): Promise<void> {
    await this.all([this.ofName(name)])
    if (uid !== '') await this.all([this.ask({ ...AUTHENTICATION, resource: 'uids', name: uid })])
    if (groups.length > 0) await this.groups(groups)
    if (Object.keys(extra).length > 0) await this.extra(extra)
  }

  private ask(resource: Partial<AuthorizationAttributes>): AuthorizationAttributes {
    const { name } = this.mode
    return resourceAttributes(this.asker, name === undefined ? 'impersonate' : `impersonate:${name}`, resource)
  }

  private ofName(name: string): AuthorizationAttributes {
    const { names, mode } = this
    const account = parseServiceAccountUser(name)
    if (account !== undefined) return this.ask({ ...names, resource: 'serviceaccounts', ...account })
    const node = this.constrained ? nodeName(name) : undefined
    if (node === undefined) return this.ask({ ...names, resource: 'users', name })
    return this.ask({ ...names, resource: 'nodes', name: mode.name === 'associated-node' ? '*' : node })
  }

  private async groups(groups: readonly string[]): Promise<void> {
    const ofName = (name: string) => this.ask({ ...this.names, resource: 'groups', name })
    if (this.constrained) {
      if (groups.includes('')) throw forbiddenBy(ofName(''), 'impersonating the empty string group is not allowed')
      if (groups.includes(SYSTEM_MASTERS))
        throw forbiddenBy(ofName(SYSTEM_MASTERS), 'impersonating the system:masters group is not allowed')
    }
    await this.many(ofName('*'), groups.map(ofName))
  }

  private async extra(extra: UserInfo['extra']): Promise<void> {
    const ofValue = (subresource: string, name: string) =>
      this.ask({ ...AUTHENTICATION, resource: 'userextras', subresource, name })
    if (this.constrained) {
      const problem = extraProblem(extra)
      if (problem !== undefined) throw forbiddenBy(ofValue('', ''), problem)
    }
    const keys = Object.keys(extra).sort()
    await this.many(
      ofValue('*', '*'),
      keys.flatMap((key) => ownValue(extra, key)!.map((value) => ofValue(key, value))),
    )
  }

  private async many(whole: AuthorizationAttributes, single: readonly AuthorizationAttributes[]): Promise<void> {
    if (this.constrained && single.length >= MANY && (await verdictOn(this.request, whole)).allowed) return
    await this.all(single)
  }
}

/** The constrained modes allow only some extra; the general mode allows any. */
function extraProblem(extra: UserInfo['extra']): string | undefined {
  for (const [key, values] of Object.entries(extra)) {
    if (key === '') return 'impersonating the empty string key in extra is not allowed'
    const errors = validateDomainPath(path('extra', 'key'), key)
    if (errors.length > 0) return `impersonating an invalid key in extra is not allowed: ${messageOf(errors)}`
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
