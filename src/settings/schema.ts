/** The schema of each setting, by its name in env.ts. */
import * as z from 'zod/mini'
import { parseFeatureGates } from '../api/feature-gates.ts'
import { readAdmissionConfiguration } from '../configuration/admission.ts'
import { pluginsThatRun } from '../configuration/admission-plugins.ts'
import { parsePolicy } from '../configuration/audit-policy.ts'
import { parseControllers } from '../configuration/controllers.ts'
import { parseRuntimeConfig } from '../configuration/runtime-config.ts'
import { readSchedulerConfiguration } from '../configuration/scheduler/configuration.ts'
import { parseDuration } from '../schema/time.ts'
import { isControlText } from '../storage/collections.ts'
import { parseHistory } from '../storage/history.ts'
import { advertised, hosts, issuers, origins, portRange, serviceRanges, serviceUrls } from './addresses.ts'
import { auditMode, auditWebhook } from './audit.ts'
import { authority, encryptionKeys, privateKey, retiredKeys, serviceAccountKey } from './keys.ts'
import { matching, setting, UNREADABLE } from './setting.ts'
import { audiences, signer, signingAlgorithms, tokenSeconds, tokenWebhook } from './tokens.ts'

export const workloadModes = ['off', 'controllers', 'simulated'] as const
/** `controllers`: kube-controller-manager's controllers. `simulated`: also a scheduler and simulated nodes. */
export type Workloads = (typeof workloadModes)[number]

const DAY_MS = 86_400_000
const YEAR_MS = 366 * DAY_MS

const requestCount = setting('must be a number of requests, at least 1', (text) =>
  /^[1-9]\d{0,5}$/.test(text) ? Number(text) : undefined,
)

const watchCount = setting('must be a number of watches, at least 1', (text) =>
  /^[1-9]\d{0,5}$/.test(text) ? Number(text) : undefined,
)

const eventLifetime = setting('must be a duration of a second to a year, as 1h0m0s, or 0', (text) => {
  const milliseconds = Number(parseDuration(text)) / 1e6
  return milliseconds === 0 || (milliseconds >= 1000 && milliseconds <= YEAR_MS) ? milliseconds : undefined
})

const requestTime = setting('must be a duration of a second to a day, as 1m0s', (text) => {
  const milliseconds = Number(parseDuration(text)) / 1e6
  return milliseconds >= 1000 && milliseconds <= DAY_MS ? milliseconds : undefined
})

const tolerationSeconds = setting('must be a whole number of seconds of 64 bits', (text) => {
  const seconds = /^[+-]?\d{1,20}$/.test(text) ? BigInt(text) : 2n ** 64n
  if (seconds !== BigInt.asIntN(64, seconds)) return undefined
  return Number.isSafeInteger(Number(seconds)) ? Number(seconds) : seconds
})

const watchSeconds = setting('must be a number of seconds, at least 1', (text) =>
  /^[1-9]\d{0,6}$/.test(text) ? Number(text) : undefined,
)

const addressTypes = setting('must be types of addresses, as InternalIP, with commas between', (text) => {
  const types = text.split(',').map((type) => type.trim())
  return types.every((type) => /^[^\s]+$/.test(type)) ? types : undefined
})

const subrequestCount = setting('must be a number of subrequests, at least 100, or unlimited', (text) =>
  text === 'unlimited' ? Infinity : /^[1-9]\d{2,7}$/.test(text) ? Number(text) : undefined,
)

const mebibytes = setting('must be a number of MiB, at least 1', (text) =>
  /^[1-9]\d{0,4}$/.test(text) ? Number(text) * 1024 * 1024 : undefined,
)

const encryptedResources = setting(
  'must be resources, as secrets or things.example.com, with commas between',
  (text) => {
    const resources = text.split(',').map((name) => name.trim())
    // resources of the control shard cannot be encrypted: every request reads that shard as a whole
    const fits = resources.every((name) => /^[a-z0-9-]+(?:\.[a-z0-9.-]+)?$/.test(name) && !isControlText(name))
    return fits ? new Set(resources) : undefined
  },
)

const pluginList = (list: 'enable' | 'disable') =>
  setting(UNREADABLE, (names) => pluginsThatRun({ [list]: names }) && names, { explained: true })

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

const webhookConnections = setting('must be a JSON object of connections by name', (text) =>
  z.record(z.string(), z.unknown()).parse(JSON.parse(text)),
)

export const schema = z.object({
  KEDGE_ADMIN_TOKEN: z.optional(
    matching(/^[\x21-\x7e]{32,}$/, 'must have at least 32 characters, printable ASCII without blanks'),
  ),
  KEDGE_CA: z.optional(authority),
  KEDGE_ENCRYPTION_KEYS: z.optional(encryptionKeys),
  KEDGE_ENCRYPTION_RESOURCES: z.optional(encryptedResources),
  KEDGE_CA_KEY: z.optional(privateKey),
  KEDGE_REQUESTHEADER_CA: z.optional(authority),
  KEDGE_CLIENT_CA: z.optional(authority),
  KEDGE_ROOT_CA: z.optional(authority),
  KEDGE_FRONT_KEY: z.optional(matching(/^[A-Za-z0-9+/]{43}=$/, 'must be 32 bytes in base64')),
  KEDGE_DATABASES: z.optional(
    matching(/^(?:[0-9a-f]{64}(?:,[0-9a-f]{64})*)?$/, 'must be ids of objects with commas between'),
  ),
  KEDGE_SA_KEY: z.optional(serviceAccountKey),
  KEDGE_SA_RETIRED_KEYS: z.optional(retiredKeys),
  KEDGE_SA_SIGNER: z.optional(signer),
  KEDGE_SA_MAX_TOKEN_SECONDS: z.optional(tokenSeconds),
  KEDGE_SA_EXTEND_TOKENS: z.optional(matching(/^[01]$/, 'must be 0 or 1')),
  KEDGE_ISSUER: z.optional(issuers),
  KEDGE_API_AUDIENCES: z.optional(audiences),
  KEDGE_CORS_ALLOWED_ORIGINS: z.optional(origins),
  KEDGE_SERVICE_RANGE: z.optional(serviceRanges),
  KEDGE_NODE_PORT_RANGE: z.optional(portRange),
  KEDGE_EVENT_TTL: z.optional(eventLifetime),
  KEDGE_DEFAULT_NOT_READY_TOLERATION_SECONDS: z.optional(tolerationSeconds),
  KEDGE_DEFAULT_UNREACHABLE_TOLERATION_SECONDS: z.optional(tolerationSeconds),
  KEDGE_MIN_REQUEST_TIMEOUT: z.optional(watchSeconds),
  KEDGE_REQUEST_TIMEOUT: z.optional(requestTime),
  KEDGE_RUNTIME_CONFIG: z.optional(
    setting(UNREADABLE, (text) => parseRuntimeConfig(text) && text, { explained: true }),
  ),
  KEDGE_FEATURE_GATES: z.optional(setting(UNREADABLE, (text) => parseFeatureGates(text) && text, { explained: true })),
  KEDGE_REPAIR_AT_START: z.optional(matching(/^[01]?$/, 'must be 0 or 1')),
  KEDGE_COUNT_WAKES: z.optional(matching(/^[01]?$/, 'must be 0 or 1')),
  KEDGE_HISTORY_SECONDS: z.optional(setting(UNREADABLE, parseHistory, { explained: true })),
  KEDGE_MAX_REQUESTS_INFLIGHT: z.optional(requestCount),
  KEDGE_MAX_MUTATING_REQUESTS_INFLIGHT: z.optional(requestCount),
  KEDGE_MAX_WATCHES: z.optional(watchCount),
  KEDGE_SUBREQUESTS: z.optional(subrequestCount),
  KEDGE_CONTROLLER_MEMORY: z.optional(mebibytes),
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
  KEDGE_KUBELET_PREFERRED_ADDRESS_TYPES: z.optional(addressTypes),
  KEDGE_UNPINNED_HOSTS: z.optional(hosts),
  KEDGE_AUTHENTICATION_CONFIG: z.optional(something),
  KEDGE_OIDC_SIGNING_ALGS: z.optional(signingAlgorithms),
  KEDGE_ANONYMOUS_AUTH: z.optional(matching(/^(?:[01]|default-0)$/, 'must be 0, 1 or default-0')),
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
  // names of Durable Objects begin with it, before a slash
  KEDGE_ROOT_TENANT: z.optional(
    matching(/^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/, 'must be of letters, digits and dashes, 63 at most'),
  ),
})

export type Values = z.infer<typeof schema>
