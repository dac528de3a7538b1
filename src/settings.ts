/**
 * The settings of the Worker, parsed and checked once for each environment. Code reads `settingsOf(env)`, never a
 * variable of the environment. A setting that is there is in force or refused: with a bad one every request is answered
 * with 503, the objects refuse their work, and the local server does not start.
 */
import * as z from 'zod/mini'
import { parsePolicy } from './configuration/audit-policy.ts'
import type { Policy } from './configuration/audit-policy.ts'
import { parseRuntimeConfig } from './configuration/runtime-config.ts'
import { parseFeatureGates } from './api/feature-gates.ts'
import type { FeatureGates } from './api/feature-gates.ts'
import { ownValue } from './api/own.ts'
import { base64ToBytes } from './api/base64.ts'
import type { ControllerSelection } from './configuration/controllers.ts'
import { parseControllers } from './configuration/controllers.ts'
import type { SchedulerSetting } from './configuration/scheduler/configuration.ts'
import { defaultScheduler, readSchedulerConfiguration } from './configuration/scheduler/configuration.ts'
import type { AdmissionSetting } from './configuration/admission.ts'
import { admissionSetting, readAdmissionConfiguration } from './configuration/admission.ts'
import { pluginsThatRun } from './configuration/admission-plugins.ts'
import { isControlText } from './storage/collections.ts'
import type { EncryptionKey, EncryptionSetting } from './storage/encryption-setting.ts'
import type { HistorySetting } from './storage/history.ts'
import { parseHistory } from './storage/history.ts'
import { cidrText, parseCidr, widthOf } from './api/ip-addresses.ts'
import type { IpRange } from './api/ip-addresses.ts'
import { isAuthority } from './x509/authority.ts'
import type { Certificate } from './x509/certificate.ts'
import { isKeyOf, publicHalfOf } from './x509/key-pair.ts'
import { readAuthorities } from './x509/client-chain.ts'
import { privateJwk } from './x509/private-jwk.ts'
import { pemBlocks } from './x509/pem.ts'

const auditModes = ['batch', 'blocking', 'blocking-strict'] as const
/** As kube-apiserver's --audit-log-mode. `blocking-strict` refuses requests whose reception cannot be written down. */
export type AuditMode = (typeof auditModes)[number]

export interface Settings {
  readonly administratorToken: string | undefined
  /** PEM. */
  readonly authority: string | undefined
  /** PEM, PKCS #8. There is an authority where this is. */
  readonly authorityKey: string | undefined
  /** PEM. */
  readonly requestHeaderAuthority: string | undefined
  /** Base64. */
  readonly frontKey: string | undefined
  /** Ids of objects. */
  readonly databases: ReadonlySet<string>
  /** Text of a private JWK. */
  readonly serviceAccountKey: string | undefined
  /** Text of a JWKS: public keys whose tokens are still good. */
  readonly retiredServiceAccountKeys: string | undefined
  /** Not empty: the first one's tokens are made, those of all are taken. */
  readonly issuers: readonly [string, ...string[]]
  /** A WebhookConnection of the external signer of tokens, which its user checks; undefined: this server signs. */
  readonly tokenSigner: unknown
  /** The longest time that a token may live, in seconds. Undefined: what a request says. */
  readonly maxTokenSeconds: number | undefined
  /** Tokens of kubelets that ask for as long as kubelets do live for a year. */
  readonly extendsTokens: boolean
  /** One, or one of each family; the first is that of Services that name no family. */
  readonly serviceRanges: readonly IpRange[]
  /** The ranges as text, with a comma between. */
  readonly serviceRange: string
  /** Text that can be read: configuration/runtime-config.ts. */
  readonly runtimeConfig: string
  /** Text of `gates`. */
  readonly featureGates: string
  readonly gates: FeatureGates
  readonly countsWakes: boolean
  readonly history: HistorySetting
  /** '' for none. */
  readonly streamEncoding: string
  /** How many requests an isolate serves at once. */
  readonly seats: number
  /** HOST or HOST:PORT. */
  readonly advertise: string | undefined
  readonly rootTenant: string
  /** Undefined where nothing is audited. */
  readonly audit: AuditSettings | undefined
  /** A line is logged of every request. */
  readonly logsRequests: boolean
  /** One of both. */
  readonly recordsRequests: boolean
  readonly encryption: EncryptionSetting
  readonly admission: AdmissionSetting
  /** URLs by `NAMESPACE/NAME:PORT`. */
  readonly serviceUrls: ReadonlyMap<string, string>
  /** PEM of who signs kubelets' serving certificates; undefined: they are not looked at. */
  readonly kubeletAuthority: string | undefined
  readonly unpinnedHosts: ReadonlySet<string>
  /** Text of an AuthenticationConfiguration, which its readers check (authorization/configuration-problem.ts). */
  readonly authenticationConfig: string | undefined
  /** Undefined: all that are known. */
  readonly oidcSigningAlgorithms: readonly string[] | undefined
  /** Undefined: not said. */
  readonly anonymousAuth: boolean | undefined
  /** Rows of `token,user,uid,"group,group"`. */
  readonly tokenFile: string | undefined
  readonly workloads: Workloads
  readonly controllers: ControllerSelection
  readonly scheduler: SchedulerSetting
  /** Images that simulated nodes cannot pull. */
  readonly missingImages: { isMissing(image: string): boolean }
  readonly tokenWebhook: TokenWebhookSetting | undefined
  /** Text of an AuthorizationConfiguration; undefined: Node, then RBAC. */
  readonly authorizationConfig: string | undefined
  /** WebhookConnections by the names that the configuration gives their kubeconfigs; their users check them. */
  readonly webhookConnections: Readonly<Record<string, unknown>>
}

export interface TokenWebhookSetting {
  /** A WebhookConnection (webhooks/connection.ts), which its user checks. */
  readonly connection: unknown
  readonly version: 'v1' | 'v1beta1'
  readonly cacheSeconds: number
}

export const workloadModes = ['off', 'controllers', 'simulated'] as const
/** `controllers`: those of kube-controller-manager. `simulated`: also a scheduler and simulated nodes. */
export type Workloads = (typeof workloadModes)[number]
/** Which workload controllers run. A control plane may have others (tenancy/workload-switches.ts). */
export type WorkloadSwitches = Pick<Settings, 'workloads' | 'controllers'>

export interface AuditSettings {
  readonly policy: Policy
  readonly logMode: AuditMode
  readonly webhook: { readonly url: string; readonly token?: string | undefined; readonly mode: AuditMode } | undefined
  readonly console: boolean
}

/** From here on, as in kube-apiserver, each request has its line. */
const REQUESTS_VERBOSITY = 3

interface Problem {
  readonly text: string
  /** '' where the parser's reason is not to be shown. */
  readonly why: string
}

/** What is wrong, setting by setting. The message has names and rules, never values. */
export class BadSettings extends Error {
  override readonly name = 'BadSettings'

  /** The same with what the parsers said, which may show values of settings that are no secrets: for operators. */
  readonly details: string

  constructor(problems: readonly Problem[]) {
    super(problems.map(({ text }) => text).join('; '))
    this.details = problems.map(({ text, why }) => (why === '' ? text : `${text}: ${why}`)).join('; ')
  }
}

/** What a setting is read from: a Worker's environment, bindings and all. */
type Environment = object

const known = new WeakMap<Environment, Settings | BadSettings>()

/** @throws BadSettings */
export function settingsOf(env: Environment): Settings {
  let settings = known.get(env)
  if (settings === undefined) known.set(env, (settings = parseSettings(env)))
  if (settings instanceof BadSettings) throw settings
  return settings
}

/** Undefined where all are good. */
export function problemOf(env: Environment): BadSettings | undefined {
  try {
    settingsOf(env)
    return undefined
  } catch (error) {
    if (error instanceof BadSettings) return error
    throw error
  }
}

type Parse<T> = (text: string) => T | undefined

/** @param parse undefined, or throws, for what is against the rule. @param explained its reason may be shown to operators */
const setting = <T>(rule: string, parse: Parse<T>, { explained = false } = {}) =>
  z.pipe(
    z.string('must be text'),
    z.transform((text: string, context): T => {
      let why = ''
      try {
        const value = parse(text)
        if (value !== undefined) return value
      } catch (error) {
        if (explained) why = error instanceof Error ? error.message : String(error)
      }
      context.issues.push({ code: 'custom', message: rule, input: undefined, params: { why } })
      return z.NEVER
    }),
  )

const matching = (pattern: RegExp, rule: string) => setting(rule, (text) => (pattern.test(text) ? text : undefined))

const authority = setting('must be certificates in PEM', (text) =>
  readAuthorities(text).length > 0 ? text : undefined,
)

const privateKey = setting(
  'must be one private key in PEM (PKCS #8): RSA of at least 2048 bits, or EC on P-256, P-384 or P-521 with its public key',
  (text) => {
    const [block, ...more] = pemBlocks(text)
    const isKey = block?.type === 'PRIVATE KEY' && more.length === 0 && publicHalfOf(block.bytes) !== undefined
    return isKey ? text : undefined
  },
)

/** Base64url of 2048 bits. */
const SHORTEST_MODULUS = 342
const publicJwk = z.union([
  z.object({
    kty: z.literal('RSA'),
    kid: z.string(),
    n: z.string().check(z.minLength(SHORTEST_MODULUS)),
    e: z.string(),
  }),
  z.object({ kty: z.literal('EC'), kid: z.string(), crv: z.string(), x: z.string(), y: z.string() }),
])
const MAX_RETIRED = 32

/** What verifies alone is no secret, and must not have one in it. */
const retiredKeys = setting('must be a JWKS of public keys with ids, 32 at most', (text) => {
  const { keys } = z.object({ keys: z.array(z.looseObject({})) }).parse(JSON.parse(text))
  const fit = keys.every((key) => publicJwk.safeParse(key).success && key['d'] === undefined)
  return fit && keys.length <= MAX_RETIRED ? text : undefined
})

const serviceAccountKey = setting(
  'must be a private JWK, whole: RSA of at least 2048 bits, or EC on P-256, P-384 or P-521; its alg must fit',
  (text) => (privateJwk.safeParse(JSON.parse(text)).success ? text : undefined),
)

/** As kube-apiserver wants: bits for eight addresses at least. */
const HOST_BITS = 3

const serviceRanges = setting(
  'must be a CIDR, or one of IPv4 and one of IPv6 with a comma between, of 8 addresses at least',
  (text) => {
    const ranges = text.split(',').flatMap((part) => parseCidr(part.trim()) ?? [])
    const families = new Set(ranges.map(({ address }) => address.family))
    const isLarge = ranges.every(({ address, length }) => widthOf(address.family) - length >= HOST_BITS)
    return isLarge && ranges.length === text.split(',').length && families.size === ranges.length ? ranges : undefined
  },
)

const isIssuer = (text: string): boolean =>
  text !== '' && !/\s/.test(text) && (!text.includes(':') || URL.canParse(text))

const issuers = setting(
  'must be a URL, or a name without colons and blanks; more of them behind commas, each once',
  (text): readonly [string, ...string[]] | undefined => {
    const [first = '', ...others] = text.split(',')
    const all = new Set([first, ...others])
    return [...all].every(isIssuer) && all.size === others.length + 1 ? [first, ...others] : undefined
  },
)

const LEAST_TOKEN_SECONDS = 3600
const MOST_TOKEN_SECONDS = 2 ** 32

const tokenSeconds = setting('must be seconds, between 1 hour and 2^32 seconds', (text) => {
  const seconds = /^\d{1,10}$/.test(text) ? Number(text) : 0
  return seconds >= LEAST_TOKEN_SECONDS && seconds <= MOST_TOKEN_SECONDS ? seconds : undefined
})

const json = setting('must be JSON: {"url": "https://…", …}', (text) => z.looseObject({}).parse(JSON.parse(text)))

const requestCount = setting('must be a number of requests, at least 1', (text) =>
  /^[1-9]\d{0,5}$/.test(text) ? Number(text) : undefined,
)

const webhook = z.strictObject({
  url: z.string().check(z.refine((url) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))),
  token: z.optional(z.string().check(z.regex(/^[\x21-\x7e]+$/))),
  mode: z._default(z.enum(auditModes), 'batch'),
})

const auditWebhook = setting('must be JSON: {"url": …, "token": …, "mode": …}, of which url is needed', (text) =>
  webhook.parse(JSON.parse(text)),
)

const auditMode = setting(`must be one of ${auditModes.join(', ')}`, (text) => auditModes.find((mode) => mode === text))

const UNREADABLE = 'cannot be read'

const KEY_BYTES = 32
const encryptionKeys = setting(
  'must be ID:BASE64 of 32 bytes, with commas between, under different names; identity first stores in the open',
  (text) => {
    const [first, ...others] = text.split(',')
    const keys = (first === 'identity' ? others : text.split(',')).map(encryptionKey)
    const known = keys.filter((key) => key !== undefined)
    const ids = new Set(known.map(({ id }) => id))
    if (keys.length === 0 || ids.size < keys.length) return undefined
    return { sealing: first === 'identity' ? undefined : known[0], keys: known }
  },
)

function encryptionKey(text: string): EncryptionKey | undefined {
  const [, id, secret] = /^([A-Za-z0-9._-]{1,63}):([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
  if (id === undefined || secret === undefined || id === 'identity') return undefined
  const bytes = new Uint8Array(base64ToBytes(secret))
  return bytes.length === KEY_BYTES ? { id, secret: bytes } : undefined
}

const encryptedResources = setting(
  'must be resources, as secrets or things.example.com, with commas between',
  (text) => {
    const resources = text.split(',').map((name) => name.trim())
    // the control shard is read as a whole, by every request
    const fits = resources.every((name) => /^[a-z0-9-]+(?:\.[a-z0-9.-]+)?$/.test(name) && !isControlText(name))
    return fits ? new Set(resources) : undefined
  },
)

const serviceUrls = setting(
  'must be NAMESPACE/NAME:PORT=https://HOST, with commas between, each Service once',
  (text) => {
    const services = text.split(',').map((row) => /^([a-z0-9-]+\/[a-z0-9-]+:[1-9]\d*)=(https:\/\/.+)$/.exec(row.trim()))
    const urls = new Map(services.map((row) => [row?.[1] ?? '', row?.[2] ?? '']))
    const areUrls = [...urls.values()].every((url) => URL.canParse(url) && !/[?#@]/.test(url))
    // few: the operator writes them
    if (![...urls.keys()].every((service) => isPort(service.slice(service.indexOf(':') + 1)))) return undefined
    return areUrls && urls.size === services.length ? urls : undefined
  },
)

const isPort = (text: string): boolean => /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535

const pluginList = (list: 'enable' | 'disable') =>
  setting(UNREADABLE, (names) => pluginsThatRun({ [list]: names }) && names, { explained: true })

const hosts = setting('must be names of hosts with commas between', (text) => {
  const names = text.split(',').map((name) => name.trim())
  return names.every((name) => /^[a-z0-9.-]+$/.test(name)) ? new Set(names) : undefined
})

const advertised = setting('must be HOST or HOST:PORT', (text) => {
  const [, port] = /^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?$/.exec(text) ?? [undefined, '']
  // 0: any free one
  return port === undefined || port === '0' || isPort(port) ? text : undefined
})

const signingAlgorithms = setting(
  'must be of RS256, RS384, RS512, ES256, ES384, ES512, PS256, PS384, PS512',
  (text) => {
    const names = text.split(',').map((name) => name.trim())
    return names.every((name) => /^(?:RS|ES|PS)(?:256|384|512)$/.test(name)) ? names : undefined
  },
)

const missingImages = setting('must be images with commas between, each whole or a beginning and a star', (text) => {
  const names = text.split(',').map((name) => name.trim())
  if (!names.every((name) => /^[A-Za-z0-9][^*\s]*\*?$/.test(name))) return undefined
  const whole = new Set(names)
  const beginnings = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))
  return {
    isMissing: (image: string) => whole.has(image) || beginnings.some((beginning) => image.startsWith(beginning)),
  }
})

const something = setting('must not be empty', (text) => (text.trim() === '' ? undefined : text))

const tokenWebhookShape = z.strictObject({
  connection: z.unknown(),
  version: z._default(z.enum(['v1', 'v1beta1']), 'v1beta1'),
  cacheSeconds: z._default(z.number().check(z.nonnegative()), 120),
})

const tokenWebhook = setting(
  'must be JSON: {"connection": …, "version": "v1" or "v1beta1", "cacheSeconds": …}, of which connection is needed',
  (text) => tokenWebhookShape.parse(JSON.parse(text)),
)

const webhookConnections = setting('must be a JSON object of connections by name', (text) =>
  z.record(z.string(), z.unknown()).parse(JSON.parse(text)),
)

/** By name: each setting of env.ts has a row. */
const schema = z.object({
  KEDGE_ADMIN_TOKEN: z.optional(
    matching(/^[\x21-\x7e]{32,}$/, 'must have at least 32 characters, printable ASCII without blanks'),
  ),
  KEDGE_CA: z.optional(authority),
  KEDGE_ENCRYPTION_KEYS: z.optional(encryptionKeys),
  KEDGE_ENCRYPTION_RESOURCES: z.optional(encryptedResources),
  KEDGE_CA_KEY: z.optional(privateKey),
  KEDGE_REQUESTHEADER_CA: z.optional(authority),
  KEDGE_FRONT_KEY: z.optional(matching(/^[A-Za-z0-9+/]{43}=$/, 'must be 32 bytes in base64')),
  KEDGE_DATABASES: z.optional(
    matching(/^(?:[0-9a-f]{64}(?:,[0-9a-f]{64})*)?$/, 'must be ids of objects with commas between'),
  ),
  KEDGE_SA_KEY: z.optional(serviceAccountKey),
  KEDGE_SA_RETIRED_KEYS: z.optional(retiredKeys),
  KEDGE_SA_SIGNER: z.optional(json),
  KEDGE_SA_MAX_TOKEN_SECONDS: z.optional(tokenSeconds),
  KEDGE_SA_EXTEND_TOKENS: z.optional(matching(/^[01]$/, 'must be 0 or 1')),
  KEDGE_ISSUER: z.optional(issuers),
  KEDGE_SERVICE_RANGE: z.optional(serviceRanges),
  KEDGE_RUNTIME_CONFIG: z.optional(
    setting(UNREADABLE, (text) => parseRuntimeConfig(text) && text, { explained: true }),
  ),
  KEDGE_FEATURE_GATES: z.optional(setting(UNREADABLE, (text) => parseFeatureGates(text) && text, { explained: true })),
  KEDGE_COUNT_WAKES: z.optional(matching(/^[01]?$/, 'must be 0 or 1')),
  KEDGE_HISTORY_SECONDS: z.optional(setting(UNREADABLE, parseHistory, { explained: true })),
  KEDGE_MAX_REQUESTS_INFLIGHT: z.optional(requestCount),
  KEDGE_MAX_MUTATING_REQUESTS_INFLIGHT: z.optional(requestCount),
  KEDGE_STREAM_ENCODING: z.optional(matching(/^(?:identity)?$/, 'must be identity or nothing')),
  KEDGE_ADVERTISE: z.optional(advertised),
  KEDGE_AUDIT_POLICY: z.optional(setting(UNREADABLE, parsePolicy, { explained: true })),
  KEDGE_AUDIT_LOG_MODE: z.optional(auditMode),
  KEDGE_AUDIT_WEBHOOK: z.optional(auditWebhook),
  KEDGE_AUDIT_CONSOLE: z.optional(matching(/^[01]?$/, 'must be 0 or 1')),
  KEDGE_VERBOSITY: z.optional(matching(/^(?:\d|10)$/, 'must be a number from 0 to 10')),
  KEDGE_ENABLE_ADMISSION_PLUGINS: z.optional(pluginList('enable')),
  KEDGE_DISABLE_ADMISSION_PLUGINS: z.optional(pluginList('disable')),
  KEDGE_ADMISSION_CONFIG: z.optional(setting(UNREADABLE, readAdmissionConfiguration, { explained: true })),
  KEDGE_SERVICES: z.optional(serviceUrls),
  KEDGE_KUBELET_CA: z.optional(authority),
  KEDGE_UNPINNED_HOSTS: z.optional(hosts),
  KEDGE_AUTHENTICATION_CONFIG: z.optional(something),
  KEDGE_OIDC_SIGNING_ALGS: z.optional(signingAlgorithms),
  KEDGE_ANONYMOUS_AUTH: z.optional(matching(/^[01]$/, 'must be 0 or 1')),
  KEDGE_TOKEN_AUTH_FILE: z.optional(something),
  KEDGE_WORKLOADS: z.optional(
    setting(`must be one of ${workloadModes.join(', ')}`, (text) => workloadModes.find((mode) => mode === text)),
  ),
  KEDGE_MISSING_IMAGES: z.optional(missingImages),
  KEDGE_CONTROLLERS: z.optional(setting(UNREADABLE, parseControllers, { explained: true })),
  KEDGE_SCHEDULER_CONFIG: z.optional(setting(UNREADABLE, readSchedulerConfiguration, { explained: true })),
  KEDGE_AUTHENTICATION_TOKEN_WEBHOOK: z.optional(tokenWebhook),
  KEDGE_AUTHORIZATION_CONFIG: z.optional(something),
  KEDGE_WEBHOOK_CONNECTIONS: z.optional(webhookConnections),
  // a part of the names of objects, before a slash
  KEDGE_ROOT_TENANT: z.optional(
    matching(/^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/, 'must be of letters, digits and dashes, 63 at most'),
  ),
})

export const DEFAULT_SERVICE_RANGE = '10.96.0.0/16'

type Values = z.infer<typeof schema>

/** What each of two settings may be, and both together not. */
const contradictions: readonly { readonly text: string; readonly isThere: (values: Values) => boolean }[] = [
  {
    text: 'KEDGE_CA_KEY is not the key of the first certificate of KEDGE_CA',
    isThere: ({ KEDGE_CA, KEDGE_CA_KEY }) => {
      const [certificate] = authoritiesIn(KEDGE_CA)
      const [block] = pemBlocks(KEDGE_CA_KEY ?? '')
      return certificate !== undefined && block !== undefined && !isKeyOf(block.bytes, certificate)
    },
  },
  {
    text: 'KEDGE_CA_KEY signs for the first certificate of KEDGE_CA, which is no authority',
    isThere: ({ KEDGE_CA, KEDGE_CA_KEY }) => {
      const [block] = pemBlocks(KEDGE_CA ?? '').filter(({ type }) => type === 'CERTIFICATE')
      return KEDGE_CA_KEY !== undefined && block !== undefined && !isAuthority(block.bytes)
    },
  },
  {
    text: 'KEDGE_SA_SIGNER, which has the keys, and KEDGE_SA_KEY or KEDGE_SA_RETIRED_KEYS exclude each other',
    isThere: ({ KEDGE_SA_SIGNER, KEDGE_SA_KEY, KEDGE_SA_RETIRED_KEYS }) =>
      KEDGE_SA_SIGNER !== undefined && (KEDGE_SA_KEY ?? KEDGE_SA_RETIRED_KEYS) !== undefined,
  },
  {
    text: 'KEDGE_SCHEDULER_CONFIG is for a scheduler that does not run: KEDGE_WORKLOADS is not simulated, or KEDGE_CONTROLLERS leaves it out',
    isThere: ({ KEDGE_SCHEDULER_CONFIG, KEDGE_WORKLOADS, KEDGE_CONTROLLERS }) =>
      KEDGE_SCHEDULER_CONFIG !== undefined &&
      (KEDGE_WORKLOADS !== 'simulated' || KEDGE_CONTROLLERS?.isEnabled('kube-scheduler') === false),
  },
  {
    // every client could name another one for whom it asks
    text: 'KEDGE_REQUESTHEADER_CA and KEDGE_CA have an authority in common: clients would be front proxies',
    isThere: ({ KEDGE_CA, KEDGE_REQUESTHEADER_CA }) => {
      const keys = new Set(authoritiesIn(KEDGE_CA).map(publicKeyText))
      return authoritiesIn(KEDGE_REQUESTHEADER_CA).some((proxies) => keys.has(publicKeyText(proxies)))
    },
  },
]

const authoritiesIn = (pem: string | undefined): readonly Certificate[] =>
  pem === undefined ? [] : readAuthorities(pem)

const publicKeyText = ({ publicKey }: Certificate): string => publicKey.join()

/** A setting that means nothing without another one. */
const needs: Readonly<Record<string, readonly [setting: string, why: string]>> = {
  KEDGE_CA_KEY: ['KEDGE_CA', ', whose key it is'],
  KEDGE_AUDIT_WEBHOOK: ['KEDGE_AUDIT_POLICY', ', which says what is sent'],
  KEDGE_AUDIT_LOG_MODE: ['KEDGE_AUDIT_POLICY', ', which says what is written'],
  KEDGE_AUDIT_CONSOLE: ['KEDGE_AUDIT_POLICY', ', which says what is written'],
  KEDGE_ENCRYPTION_RESOURCES: ['KEDGE_ENCRYPTION_KEYS', ''],
  KEDGE_CONTROLLERS: ['KEDGE_WORKLOADS', ', whose controllers it names'],
}

const isOff = (value: unknown): boolean => value === undefined || value === '' || value === '0'

/** What one setting says of admission the others have to agree with. */
function admissionOf(values: z.infer<typeof schema>): AdmissionSetting | Problem {
  const { KEDGE_ENABLE_ADMISSION_PLUGINS: enable, KEDGE_DISABLE_ADMISSION_PLUGINS: disable } = values
  try {
    return admissionSetting({ enable, disable }, values.KEDGE_ADMISSION_CONFIG)
  } catch (error) {
    const names = 'KEDGE_ENABLE_ADMISSION_PLUGINS, KEDGE_DISABLE_ADMISSION_PLUGINS and KEDGE_ADMISSION_CONFIG'
    return { text: `${names} do not go together`, why: error instanceof Error ? error.message : String(error) }
  }
}

function parseSettings(env: Environment): Settings | BadSettings {
  const named = Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('KEDGE_')))
  const result = schema.safeParse(named)
  const problems = result.success ? [] : result.error.issues.map(problemOfIssue)
  for (const name of Object.keys(named))
    if (!Object.hasOwn(schema.shape, name)) problems.push({ text: `${name} is no setting`, why: '' })
  for (const [name, [needed, why]] of Object.entries(needs))
    if (!isOff(ownValue(named, name)) && !Object.hasOwn(named, needed))
      problems.push({ text: `${name} needs ${needed}${why}`, why: '' })
  if (result.success)
    for (const { text, isThere } of contradictions) if (isThere(result.data)) problems.push({ text, why: '' })
  const admission = result.success ? admissionOf(result.data) : undefined
  if (admission !== undefined && 'text' in admission) problems.push(admission)
  if (!result.success || admission === undefined || 'text' in admission || problems.length > 0)
    return new BadSettings(problems)
  const {
    KEDGE_SERVICE_RANGE: ranges = serviceRanges.parse(DEFAULT_SERVICE_RANGE),
    KEDGE_RUNTIME_CONFIG: runtimeConfig = '',
    KEDGE_FEATURE_GATES: featureGates = '',
    ...values
  } = result.data
  const policy = values.KEDGE_AUDIT_POLICY
  const logsRequests = Number(values.KEDGE_VERBOSITY ?? 0) >= REQUESTS_VERBOSITY
  return {
    administratorToken: values.KEDGE_ADMIN_TOKEN,
    authority: values.KEDGE_CA,
    authorityKey: values.KEDGE_CA_KEY,
    requestHeaderAuthority: values.KEDGE_REQUESTHEADER_CA,
    frontKey: values.KEDGE_FRONT_KEY,
    databases: new Set((values.KEDGE_DATABASES ?? '').split(',')),
    serviceAccountKey: values.KEDGE_SA_KEY,
    retiredServiceAccountKeys: values.KEDGE_SA_RETIRED_KEYS,
    issuers: values.KEDGE_ISSUER ?? ['https://kubernetes.default.svc.cluster.local'],
    tokenSigner: values.KEDGE_SA_SIGNER,
    maxTokenSeconds: values.KEDGE_SA_MAX_TOKEN_SECONDS,
    extendsTokens: values.KEDGE_SA_EXTEND_TOKENS !== '0',
    serviceRanges: ranges,
    serviceRange: ranges.map(cidrText).join(','),
    runtimeConfig,
    featureGates,
    gates: parseFeatureGates(featureGates),
    countsWakes: values.KEDGE_COUNT_WAKES === '1',
    history: values.KEDGE_HISTORY_SECONDS ?? parseHistory(),
    seats: (values.KEDGE_MAX_REQUESTS_INFLIGHT ?? 400) + (values.KEDGE_MAX_MUTATING_REQUESTS_INFLIGHT ?? 200),
    streamEncoding: values.KEDGE_STREAM_ENCODING ?? '',
    advertise: values.KEDGE_ADVERTISE,
    rootTenant: values.KEDGE_ROOT_TENANT ?? 'root',
    audit: policy && {
      policy,
      logMode: values.KEDGE_AUDIT_LOG_MODE ?? 'batch',
      webhook: values.KEDGE_AUDIT_WEBHOOK,
      console: values.KEDGE_AUDIT_CONSOLE === '1',
    },
    admission,
    logsRequests,
    recordsRequests: logsRequests || policy !== undefined,
    serviceUrls: values.KEDGE_SERVICES ?? new Map(),
    kubeletAuthority: values.KEDGE_KUBELET_CA,
    unpinnedHosts: values.KEDGE_UNPINNED_HOSTS ?? new Set(),
    authenticationConfig: values.KEDGE_AUTHENTICATION_CONFIG,
    oidcSigningAlgorithms: values.KEDGE_OIDC_SIGNING_ALGS,
    anonymousAuth: values.KEDGE_ANONYMOUS_AUTH === undefined ? undefined : values.KEDGE_ANONYMOUS_AUTH === '1',
    tokenFile: values.KEDGE_TOKEN_AUTH_FILE,
    workloads: values.KEDGE_WORKLOADS ?? 'off',
    missingImages: values.KEDGE_MISSING_IMAGES ?? { isMissing: () => false },
    controllers: values.KEDGE_CONTROLLERS ?? parseControllers('*'),
    scheduler: values.KEDGE_SCHEDULER_CONFIG ?? defaultScheduler,
    tokenWebhook: values.KEDGE_AUTHENTICATION_TOKEN_WEBHOOK,
    authorizationConfig: values.KEDGE_AUTHORIZATION_CONFIG,
    webhookConnections: values.KEDGE_WEBHOOK_CONNECTIONS ?? {},
    encryption: {
      sealing: values.KEDGE_ENCRYPTION_KEYS?.sealing,
      keys: values.KEDGE_ENCRYPTION_KEYS?.keys ?? [],
      prefixes:
        values.KEDGE_ENCRYPTION_KEYS === undefined
          ? new Set()
          : (values.KEDGE_ENCRYPTION_RESOURCES ?? new Set(['secrets'])),
    },
  }
}

function problemOfIssue(issue: z.core.$ZodIssue): Problem {
  // only `setting` has custom issues, and gives them this
  const { why = '' } = (issue.code === 'custom' ? issue.params : {}) as { why?: string }
  return { text: `${String(issue.path[0])} ${issue.message}`, why }
}
