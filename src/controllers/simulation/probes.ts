/**
 * The results of the probes of a running container. No probe connects to anything. Each succeeds, unless an annotation
 * says when it fails or its command is simple and fails. So the result depends only on the age of the container, and
 * nothing is written while nothing changes.
 */
import type { Container, Pod, Probe } from '../../api/core/v1.ts'
import { leastOf } from '../../base/extremes.ts'
import type { News } from '../workloads/events/events.ts'
import type { Script } from './annotations.ts'
import { outcomeOf } from './commands.ts'

export interface Health {
  readonly isStarted: boolean
  readonly isReady: boolean
  /** The probe that failed, so that the kubelet stops the container. */
  readonly failed?: 'liveness' | 'startup'
  readonly news: readonly News[]
  /** Milliseconds until a result changes; undefined: never. */
  readonly after: number | undefined
}

/** When a probe reaches its success threshold and its failure threshold, in milliseconds of the container's age. */
interface Course {
  readonly goodAt: number
  /** The age at the first probe that fails. */
  readonly firstFailureAt: number
  readonly badAt: number
}

const NEVER = Infinity

/** @param age milliseconds for which the container has run */
export function healthOf(container: Container, pod: Pod, script: Script, age: number): Health {
  const { startupProbe, readinessProbe, livenessProbe, name = '' } = container
  const courseOf = (kind: 'startup' | 'readiness' | 'liveness', probe: Probe | undefined, from: number) =>
    probe && course(probe, failsFrom(kind, probe, script, name), from, kind === 'readiness')
  const startup = courseOf('startup', startupProbe, 0)
  const startedAt = startup?.goodAt ?? 0
  const readiness = startedAt === NEVER ? undefined : courseOf('readiness', readinessProbe, startedAt)
  const liveness = startedAt === NEVER ? undefined : courseOf('liveness', livenessProbe, startedAt)
  const isStarted = age >= startedAt
  const isReady =
    isStarted &&
    (readinessProbe === undefined || (readiness !== undefined && age >= readiness.goodAt && age < readiness.badAt))
  const failed = over(startup, age) ? 'startup' : over(liveness, age) ? 'liveness' : undefined
  const times = [startup, readiness, liveness].flatMap((one) =>
    one === undefined ? [] : [one.goodAt, one.firstFailureAt, one.badAt],
  )
  const coming = times.filter((time) => time > age && time !== NEVER)
  const unhealthy: News[] = []
  const tell = (kind: string, probe: Probe | undefined, found: Course | undefined): void => {
    if (probe === undefined || found === undefined || age < found.firstFailureAt) return
    const message = `${kind} probe failed: ${outputOf(probe, container, pod)}`
    unhealthy.push({ type: 'Warning', reason: 'Unhealthy', message, fieldPath: fieldPathOf(container, pod) })
  }
  tell('Startup', startupProbe, startup)
  tell('Readiness', readinessProbe, readiness)
  tell('Liveness', livenessProbe, liveness)
  return {
    isStarted,
    isReady,
    ...(failed === undefined ? {} : { failed }),
    news: unhealthy,
    after: coming.length === 0 ? undefined : leastOf(coming) - age,
  }
}

const over = (course: Course | undefined, age: number): boolean => course !== undefined && age >= course.badAt

/** The Event of a kubelet that stops a container because of a probe. */
export function killing(container: Container, pod: Pod, failed: 'liveness' | 'startup', isRestarted: boolean): News {
  const message = `Container ${container.name} failed ${failed} probe${isRestarted ? ', will be restarted' : ''}`
  return stopping(container, pod, message)
}

/** The Event of a kubelet that stops a container. */
export const stopping = (container: Container, pod: Pod, message: string): News => ({
  type: 'Normal',
  reason: 'Killing',
  message,
  fieldPath: fieldPathOf(container, pod),
})

/**
 * @param fails age from which the probe fails
 * @param from age at which the container had started
 * @param isTriggered whether the kubelet also probes as soon as the container has started
 */
function course(probe: Probe, fails: number, from: number, isTriggered: boolean): Course {
  const { initialDelaySeconds = 0, periodSeconds = 10, successThreshold = 1, failureThreshold = 3 } = probe
  const [delay, period] = [initialDelaySeconds * 1000, Math.max(1, periodSeconds) * 1000]
  const first = isTriggered && delay <= from ? from : Math.ceil(Math.max(delay, from) / period) * period
  const succeeded = first + (Math.max(1, successThreshold) - 1) * period
  const firstFailureAt = fails === NEVER ? NEVER : first + Math.ceil(Math.max(0, fails - first) / period) * period
  return {
    goodAt: fails <= succeeded ? NEVER : succeeded,
    firstFailureAt,
    badAt: firstFailureAt + (Math.max(1, failureThreshold) - 1) * period,
  }
}

function failsFrom(kind: 'startup' | 'readiness' | 'liveness', { exec }: Probe, script: Script, name: string): number {
  const said = script.probeFailsFrom(kind, name)
  if (said !== undefined) return said
  const outcome = exec && outcomeOf({ command: [...(exec.command ?? [])] })
  return outcome !== undefined && outcome.exitCode !== 0 ? 0 : NEVER
}

function outputOf({ httpGet, tcpSocket, grpc }: Probe, { ports = [] }: Container, { status = {} }: Pod): string {
  if (httpGet !== undefined) return 'HTTP probe failed with statuscode: 500'
  if (grpc !== undefined) return 'service unhealthy (responded with "NOT_SERVING")'
  if (tcpSocket === undefined) return ''
  // few: the ports of one container
  const port = ports.find((one) => one.name === tcpSocket.port)?.containerPort ?? tcpSocket.port
  const host = tcpSocket.host ?? status.podIP ?? ''
  return `dial tcp ${host.includes(':') ? `[${host}]` : host}:${port}: connect: connection refused`
}

function fieldPathOf({ name }: Container, { spec = {} }: Pod): string {
  // few: the containers of one pod
  const isInit = (spec.initContainers ?? []).some((one) => one.name === name)
  return `spec.${isInit ? 'initContainers' : 'containers'}{${name}}`
}
