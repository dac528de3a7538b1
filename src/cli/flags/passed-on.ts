// Flags whose text is a setting of the Worker, which checks it.
import * as z from 'zod/mini'

/** By flag. Those that kube-apiserver has mean the same. A flag that is given more than once makes one list. */
export const settingOfFlag = {
  'api-audiences': 'KEDGE_API_AUDIENCES',
  controllers: 'KEDGE_CONTROLLERS',
  'cors-allowed-origins': 'KEDGE_CORS_ALLOWED_ORIGINS',
  'default-not-ready-toleration-seconds': 'KEDGE_DEFAULT_NOT_READY_TOLERATION_SECONDS',
  'default-unreachable-toleration-seconds': 'KEDGE_DEFAULT_UNREACHABLE_TOLERATION_SECONDS',
  'encryption-resources': 'KEDGE_ENCRYPTION_RESOURCES',
  'event-ttl': 'KEDGE_EVENT_TTL',
  'feature-gates': 'KEDGE_FEATURE_GATES',
  history: 'KEDGE_HISTORY_SECONDS',
  'kubelet-preferred-address-types': 'KEDGE_KUBELET_PREFERRED_ADDRESS_TYPES',
  'max-mutating-requests-inflight': 'KEDGE_MAX_MUTATING_REQUESTS_INFLIGHT',
  'max-requests-inflight': 'KEDGE_MAX_REQUESTS_INFLIGHT',
  'min-request-timeout': 'KEDGE_MIN_REQUEST_TIMEOUT',
  'missing-images': 'KEDGE_MISSING_IMAGES',
  'request-timeout': 'KEDGE_REQUEST_TIMEOUT',
  'runtime-config': 'KEDGE_RUNTIME_CONFIG',
  'service-cluster-ip-range': 'KEDGE_SERVICE_RANGE',
  'service-node-port-range': 'KEDGE_NODE_PORT_RANGE',
  services: 'KEDGE_SERVICES',
  v: 'KEDGE_VERBOSITY',
} as const

type Flag = keyof typeof settingOfFlag
type Setting = (typeof settingOfFlag)[Flag]

const flags = Object.keys(settingOfFlag) as Flag[] // its own keys

const ofEach = <Value>(value: (flag: Flag) => Value) =>
  Object.fromEntries(flags.map((flag) => [flag, value(flag)])) as Record<Flag, Value>

/** Flags with one value; the last one counts. */
const SINGLE: ReadonlySet<Flag> = new Set([
  'default-not-ready-toleration-seconds',
  'default-unreachable-toleration-seconds',
  'event-ttl',
  'max-mutating-requests-inflight',
  'max-requests-inflight',
  'min-request-timeout',
  'request-timeout',
  'v',
])

export const passedOnFlags = {
  ...ofEach(() => ({ type: 'string', multiple: true }) as const),
  v: { type: 'string', short: 'v', multiple: true },
} as const

const joined = (flag: Flag) =>
  z.pipe(
    z.optional(z.array(z.string())),
    z.transform((all) => (SINGLE.has(flag) ? all?.at(-1) : all?.join(','))),
  )

export const passedOnSchema = ofEach(joined)

export type PassedOn = Readonly<Partial<Record<Setting, string>>>

/** The settings of the flags that are given. */
export const passedOnSettings = (given: Readonly<Partial<Record<Flag, string | undefined>>>): PassedOn =>
  Object.fromEntries(flags.flatMap((flag) => (given[flag] === undefined ? [] : [[settingOfFlag[flag], given[flag]]])))
