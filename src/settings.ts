/**
 * The settings of the Worker, parsed and checked once for each environment. Code reads `settingsOf(env)`, never a
 * variable of the environment. The server never ignores a setting: a bad one makes every request fail with 503, makes
 * Durable Objects refuse their work, and keeps the local server from starting.
 */
import * as z from 'zod/mini'
import { parseFeatureGates } from './api/feature-gates.ts'
import type { FeatureGates } from './api/feature-gates.ts'
import { cidrText } from './api/ip-addresses.ts'
import type { IpRange } from './api/ip-addresses.ts'
import type { AdmissionSetting } from './configuration/admission.ts'
import type { ControllerSelection } from './configuration/controllers.ts'
import { parseControllers } from './configuration/controllers.ts'
import type { SchedulerSetting } from './configuration/scheduler/configuration.ts'
import { defaultScheduler } from './configuration/scheduler/configuration.ts'
import { serviceRanges } from './settings/addresses.ts'
import type { PortRange } from './settings/addresses.ts'
import type { AuditSettings } from './settings/audit.ts'
import { schema } from './settings/schema.ts'
import type { Workloads } from './settings/schema.ts'
import type { Problem } from './settings/setting.ts'
import { admissionOf, contradictionsIn, unmetNeeds } from './settings/together.ts'
import type { TokenWebhookSetting } from './settings/tokens.ts'
import type { EncryptionSetting } from './storage/encryption/encryption-setting.ts'
import type { HistorySetting } from './storage/history.ts'
import { parseHistory } from './storage/history.ts'

export interface Settings {
  readonly administratorToken: string | undefined
  /** PEM. */
  readonly authority: string | undefined
  /** PEM, PKCS #8. It is set only together with `authority`. */
  readonly authorityKey: string | undefined
  /** PEM: all authorities whose client certificates are accepted. */
  readonly clientAuthorities: string | undefined
  /** PEM: published, so that pods can verify the server. */
  readonly rootAuthorities: string | undefined
  /** PEM. */
  readonly requestHeaderAuthority: string | undefined
  /** Base64. */
  readonly frontKey: string | undefined
  /** Ids of Durable Objects. */
  readonly databases: ReadonlySet<string>
  /** Text of a private JWK. */
  readonly serviceAccountKey: string | undefined
  /** Text of a JWKS: public keys whose tokens are still valid. */
  readonly retiredServiceAccountKeys: string | undefined
  /** The server issues tokens of the first issuer and accepts tokens of all. */
  readonly issuers: readonly [string, ...string[]]
  /** Names of this server in tokens. */
  readonly audiences: readonly string[]
  /** Patterns of the origins whose pages may read answers; undefined: none may. */
  readonly allowedOrigins: readonly string[] | undefined
  /** The WebhookConnection of the external token signer, checked where it is used; undefined: this server signs. */
  readonly tokenSigner: unknown
  /** The longest lifetime of a token, in seconds; undefined: no limit on the lifetime that a request asks for. */
  readonly maxTokenSeconds: number | undefined
  /** Whether tokens get a year where the request asks for the lifetime that kubelets ask for. */
  readonly extendsTokens: boolean
  /** One range, or one of each IP family. A Service that names no family gets that of the first. */
  readonly serviceRanges: readonly IpRange[]
  /** The ranges as text, separated by commas. */
  readonly serviceRange: string
  readonly nodePorts: PortRange
  /** Milliseconds; undefined: Events never expire. */
  readonly eventLifetime: number | undefined
  /** Seconds that pods stay on a node by default. */
  readonly tolerationSeconds: { readonly notReady: number | bigint; readonly unreachable: number | bigint }
  /** The shortest time of a watch that asks for none. */
  readonly watchSeconds: number
  /** Milliseconds that a request may take which is no watch, log or the like. */
  readonly requestTime: number
  /** Validated text: configuration/runtime-config.ts parses it. */
  readonly runtimeConfig: string
  /** The text that `gates` is parsed from. */
  readonly featureGates: string
  readonly gates: FeatureGates
  /** Whether a start of an isolate puts right what kube-apiserver does at its start. */
  readonly repairsAtStart: boolean
  readonly countsWakes: boolean
  readonly history: HistorySetting
  /** '' for none. */
  readonly streamEncoding: string
  /** How many requests an isolate serves concurrently. */
  readonly seats: number
  /** How many watches of an isolate, and of one resource, are open at once. */
  readonly watches: number
  /** How many subrequests the controllers make in one invocation. */
  readonly subrequests: number
  /** The local engine has one isolate, and limits no subrequests. Elsewhere other isolates may serve the same control plane. */
  readonly mayHaveOtherIsolates: boolean
  /** Bytes that controllers may hold in large lists, about. */
  readonly controllerMemory: number
  /** HOST or HOST:PORT. */
  readonly advertise: string | undefined
  readonly rootTenant: string
  /** Undefined: auditing is off. */
  readonly audit: AuditSettings | undefined
  /** Whether the access log has a line for every request. */
  readonly logsRequests: boolean
  /** Whether the audit log or the access log is on. */
  readonly recordsRequests: boolean
  readonly encryption: EncryptionSetting
  readonly admission: AdmissionSetting
  /** URLs of Services, by `NAMESPACE/NAME:PORT`. */
  readonly serviceUrls: ReadonlyMap<string, string>
  /** PEM of the authority of kubelets' serving certificates; undefined: the server does not verify them. */
  readonly kubeletAuthority: string | undefined
  /** The types of nodes' addresses by which kubelets are called, in order of preference. */
  readonly kubeletAddressTypes: readonly string[]
  readonly unpinnedHosts: ReadonlySet<string>
  /** Text of an AuthenticationConfiguration, checked where it is parsed (authorization/configuration-problem.ts). */
  readonly authenticationConfig: string | undefined
  /** Undefined: all algorithms that the server knows. */
  readonly oidcSigningAlgorithms: readonly string[] | undefined
  /** Undefined: not set. */
  readonly anonymousAuth: boolean | undefined
  /** Whether an authentication configuration may say otherwise. */
  readonly anonymousAuthIsDefault: boolean
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
  /** WebhookConnections by the kubeconfig names in the configuration; checked where they are used. */
  readonly webhookConnections: Readonly<Record<string, unknown>>
}

/** The workload controllers that run. A control plane may override them (tenancy/workload-switches.ts). */
export type WorkloadSwitches = Pick<Settings, 'workloads' | 'controllers'>

/** kube-apiserver logs each request from this verbosity on. */
const REQUESTS_VERBOSITY = 3

/** The problems of all settings. The message has names and rules, never values. */
export class BadSettings extends Error {
  override readonly name = 'BadSettings'

  /** The message with the errors of parsers, for operators. It may have values of settings that are no secrets. */
  readonly details: string

  constructor(problems: readonly Problem[]) {
    super(problems.map(({ text }) => text).join('; '))
    this.details = problems.map(({ text, why }) => (why === '' ? text : `${text}: ${why}`)).join('; ')
  }
}

/** The environment of a Worker, with settings and bindings. */
type Environment = object

const known = new WeakMap<Environment, Settings | BadSettings>()

/** @throws BadSettings */
export function settingsOf(env: Environment): Settings {
  let settings = known.get(env)
  if (settings === undefined) known.set(env, (settings = parseSettings(env)))
  if (settings instanceof BadSettings) throw settings
  return settings
}

/** @returns undefined where all settings are valid */
export function problemOf(env: Environment): BadSettings | undefined {
  try {
    settingsOf(env)
    return undefined
  } catch (error) {
    if (error instanceof BadSettings) return error
    throw error
  }
}

/** With these words every request is refused, and no other one. The reason follows. */
export const WRONG_SETTINGS = 'the settings of this server are wrong: '

export const DEFAULT_SERVICE_RANGE = '10.96.0.0/16'
const HOUR_MS = 3_600_000
const ADDRESS_TYPES = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP']
const DEFAULT_ISSUER = 'https://kubernetes.default.svc.cluster.local'

function parseSettings(env: Environment): Settings | BadSettings {
  const named = Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('KEDGE_')))
  const result = schema.safeParse(named)
  const problems = [
    ...(result.success ? [] : result.error.issues.map(problemOfIssue)),
    ...Object.keys(named)
      .filter((name) => !Object.hasOwn(schema.shape, name))
      .map((name) => ({ text: `${name} is no setting`, why: '' })),
    ...unmetNeeds(named),
    ...(result.success ? contradictionsIn(result.data) : []),
  ]
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
    clientAuthorities: joined(values.KEDGE_CA, values.KEDGE_CLIENT_CA),
    rootAuthorities: values.KEDGE_ROOT_CA ?? values.KEDGE_CA,
    requestHeaderAuthority: values.KEDGE_REQUESTHEADER_CA,
    frontKey: values.KEDGE_FRONT_KEY,
    databases: new Set((values.KEDGE_DATABASES ?? '').split(',')),
    serviceAccountKey: values.KEDGE_SA_KEY,
    retiredServiceAccountKeys: values.KEDGE_SA_RETIRED_KEYS,
    issuers: values.KEDGE_ISSUER ?? [DEFAULT_ISSUER],
    audiences: values.KEDGE_API_AUDIENCES ?? values.KEDGE_ISSUER ?? [DEFAULT_ISSUER],
    allowedOrigins: values.KEDGE_CORS_ALLOWED_ORIGINS,
    tokenSigner: values.KEDGE_SA_SIGNER,
    maxTokenSeconds: values.KEDGE_SA_MAX_TOKEN_SECONDS,
    extendsTokens: values.KEDGE_SA_EXTEND_TOKENS !== '0',
    serviceRanges: ranges,
    serviceRange: ranges.map(cidrText).join(','),
    nodePorts: values.KEDGE_NODE_PORT_RANGE ?? { first: 30_000, last: 32_767 },
    eventLifetime: values.KEDGE_EVENT_TTL === 0 ? undefined : (values.KEDGE_EVENT_TTL ?? HOUR_MS),
    tolerationSeconds: {
      notReady: values.KEDGE_DEFAULT_NOT_READY_TOLERATION_SECONDS ?? 300,
      unreachable: values.KEDGE_DEFAULT_UNREACHABLE_TOLERATION_SECONDS ?? 300,
    },
    watchSeconds: values.KEDGE_MIN_REQUEST_TIMEOUT ?? 1800,
    requestTime: values.KEDGE_REQUEST_TIMEOUT ?? 60_000,
    runtimeConfig,
    featureGates,
    gates: parseFeatureGates(featureGates),
    repairsAtStart: values.KEDGE_REPAIR_AT_START === '1',
    countsWakes: values.KEDGE_COUNT_WAKES === '1',
    history: values.KEDGE_HISTORY_SECONDS ?? parseHistory(),
    seats: (values.KEDGE_MAX_REQUESTS_INFLIGHT ?? 400) + (values.KEDGE_MAX_MUTATING_REQUESTS_INFLIGHT ?? 200),
    watches: values.KEDGE_MAX_WATCHES ?? 3_000,
    subrequests: values.KEDGE_SUBREQUESTS ?? 1_000,
    mayHaveOtherIsolates: values.KEDGE_SUBREQUESTS !== Infinity,
    controllerMemory: values.KEDGE_CONTROLLER_MEMORY ?? 40 * 1024 * 1024,
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
    kubeletAddressTypes: values.KEDGE_KUBELET_PREFERRED_ADDRESS_TYPES ?? ADDRESS_TYPES,
    unpinnedHosts: values.KEDGE_UNPINNED_HOSTS ?? new Set(),
    authenticationConfig: values.KEDGE_AUTHENTICATION_CONFIG,
    oidcSigningAlgorithms: values.KEDGE_OIDC_SIGNING_ALGS,
    anonymousAuth: values.KEDGE_ANONYMOUS_AUTH === undefined ? undefined : values.KEDGE_ANONYMOUS_AUTH === '1',
    anonymousAuthIsDefault: values.KEDGE_ANONYMOUS_AUTH === 'default-0',
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

/** PEM texts one after the other; undefined where there is none. */
const joined = (...texts: readonly (string | undefined)[]): string | undefined => {
  const all = texts.filter((text) => text !== undefined)
  return all.length === 0 ? undefined : all.join('\n')
}

function problemOfIssue(issue: z.core.$ZodIssue): Problem {
  // only `setting` makes custom issues, and it sets these params
  const { why = '' } = (issue.code === 'custom' ? issue.params : {}) as { why?: string }
  return { text: `${String(issue.path[0])} ${issue.message}`, why }
}
