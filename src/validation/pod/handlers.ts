/** Validates probes and lifecycle hooks. Each has exactly one handler. */
import { append } from '../../base/append.ts'
import type * as CoreV1 from '../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { forbiddenField, invalidValue, notSupported, required } from '../../api/field.ts'
import { nonNegative, problems, requiredText, validatePort } from '../field-rules.ts'
import { regexText } from '../names.ts'
import type { PodRules } from './rules.ts'
import { errorsOf } from '../errors-of.ts'

type Handler = CoreV1.LifecycleHandler & Pick<CoreV1.Probe, 'grpc'>
type Kind = 'exec' | 'httpGet' | 'tcpSocket' | 'grpc' | 'sleep'

interface HandlerContext {
  readonly gracePeriod: number | bigint | undefined
  readonly rules: PodRules
}

const handlerRules: {
  readonly [K in Kind]: (at: FieldPath, action: NonNullable<Handler[K]>, context: HandlerContext) => FieldError[]
} = {
  exec: (at, { command = [] }) => (command.length === 0 ? [required(at.child('command'))] : []),
  httpGet: (at, { path, port = 0, scheme = '', httpHeaders = [] }) => [
    ...requiredText(at.child('path'), path),
    ...validatePort(at.child('port'), port),
    ...(scheme === 'HTTP' || scheme === 'HTTPS' ? [] : [notSupported(at.child('scheme'), scheme, ['HTTP', 'HTTPS'])]),
    ...errorsOf(httpHeaders, ({ name = '' }) => problems(at.child('httpHeaders'), name, headerNameProblems(name))),
  ],
  tcpSocket: (at, { port = 0 }) => validatePort(at.child('port'), port),
  grpc: (at, { port = 0 }) => validatePort(at.child('port'), port),
  sleep(at, { seconds = 0 }, { gracePeriod, rules }) {
    if (gracePeriod === undefined) return []
    const fromZero = rules.enabled('PodLifecycleSleepActionAllowZero')
    if (seconds <= gracePeriod && (fromZero ? seconds >= 0 : seconds > 0)) return []
    return [
      invalidValue(
        at,
        seconds,
        fromZero
          ? `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriod})`
          : `must be greater than 0 and less than terminationGracePeriodSeconds (${gracePeriod}). Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep.`,
      ),
    ]
  },
}

const handlerOrder: readonly Kind[] = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep']

function headerNameProblems(name: string): string[] {
  const text = "a valid HTTP header must consist of alphanumeric characters or '-'"
  return /^[-A-Za-z0-9]+$/.test(name) ? [] : [regexText(text, '[-A-Za-z0-9]+', 'X-Header-Name')]
}

function validateHandler(at: FieldPath, handler: Handler, context: HandlerContext): FieldError[] {
  const errors: FieldError[] = []
  let handlers = 0
  for (const kind of handlerOrder) {
    const action = handler[kind]
    if (action === undefined) continue
    const rule = handlerRules[kind] as (at: FieldPath, action: object, context: HandlerContext) => FieldError[]
    if (handlers++ > 0) errors.push(forbiddenField(at.child(kind), 'may not specify more than 1 handler type'))
    else append(errors, rule(at.child(kind), action, context))
  }
  if (handlers === 0) errors.push(required(at, 'must specify a handler type'))
  return errors
}

const COUNTS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const

export type ProbeKind = 'livenessProbe' | 'readinessProbe' | 'startupProbe'
export const PROBE_KINDS: readonly ProbeKind[] = ['livenessProbe', 'readinessProbe', 'startupProbe']

export function validateProbe(
  at: FieldPath,
  kind: ProbeKind,
  probe: CoreV1.Probe | undefined,
  context: HandlerContext,
): FieldError[] {
  if (probe === undefined) return []
  const grace = probe.terminationGracePeriodSeconds
  const errors = [
    ...validateHandler(at, probe, context),
    ...COUNTS.flatMap((field) => nonNegative(at.child(field), probe[field])),
  ]
  const graceAt = at.child('terminationGracePeriodSeconds')
  if (grace !== undefined && grace <= 0) errors.push(invalidValue(graceAt, grace, 'must be greater than 0'))
  if (kind === 'readinessProbe') {
    if (grace !== undefined) errors.push(invalidValue(graceAt, grace, 'must not be set for readinessProbes'))
  } else if (probe.successThreshold !== 1)
    errors.push(invalidValue(at.child('successThreshold'), probe.successThreshold ?? 0, 'must be 1'))
  return errors
}

export function validateLifecycle(
  at: FieldPath,
  { postStart, preStop, stopSignal }: CoreV1.Lifecycle,
  os: CoreV1.PodOS | undefined,
  context: HandlerContext,
): FieldError[] {
  return [
    ...(postStart ? validateHandler(at.child('postStart'), postStart, context) : []),
    ...(preStop ? validateHandler(at.child('preStop'), preStop, context) : []),
    ...(stopSignal === undefined ? [] : validateStopSignal(at.child('stopSignal'), stopSignal, os)),
  ]
}

const realTime = (from: string, count: number) => Array.from({ length: count }, (_, index) => `${from}${index + 1}`)

const LINUX_SIGNALS = [
  ...'ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ RTMIN RTMAX'
    .split(' ')
    .map((name) => `SIG${name}`),
  ...realTime('SIGRTMIN+', 15),
  ...realTime('SIGRTMAX-', 14),
].sort()
const WINDOWS_SIGNALS = ['SIGKILL', 'SIGTERM']

function validateStopSignal(at: FieldPath, signal: string, os: CoreV1.PodOS | undefined): FieldError[] {
  if (os === undefined) return [forbiddenField(at, 'may not be set for containers with empty `spec.os.name`')]
  const known = os.name === 'windows' ? WINDOWS_SIGNALS : os.name === 'linux' ? LINUX_SIGNALS : [signal]
  return known.includes(signal) ? [] : [notSupported(at, signal, known)]
}
