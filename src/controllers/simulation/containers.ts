/** The life of a simulated container: it waits, runs, ends, and restarts after longer and longer pauses. */
import { leastOf } from '../../base/extremes.ts'
import type { Container, ContainerRestartRule, ContainerState, ContainerStatus, Pod } from '../../api/core/v1.ts'
import { timeText } from '../../schema/time.ts'
import type { News } from '../workloads/events/events.ts'
import type { Script } from './annotations.ts'
import { healthOf, killing, stopping } from './probes.ts'
import { replacementOf, SIMULATED_ID } from './replacement.ts'
import { subPathProblem } from './sub-paths.ts'

const FIRST_BACK_OFF_MS = 10_000
const LONGEST_BACK_OFF_MS = 300_000

/** The next action of a kubelet for one container. */
export interface Advanced {
  readonly status: ContainerStatus
  /** Milliseconds until the kubelet acts again without a change of the pod. */
  readonly after: number | undefined
  readonly isDone: boolean
  readonly news?: readonly News[]
}

export type RestartPolicy = 'Always' | 'OnFailure' | 'Never'

export interface Running {
  readonly script: Script
  readonly now: Date
  readonly pod: Pod
  readonly policy: RestartPolicy
  /** Milliseconds; undefined: forever. */
  readonly duration: number | undefined
}

export const waiting = (container: Container, reason: string, message?: string): ContainerStatus => ({
  ...identity(container),
  state: { waiting: { reason, ...(message === undefined ? {} : { message }) } },
  lastState: {},
  ready: false,
  restartCount: 0,
  imageID: '',
  started: false,
})

const identity = ({ name = '', image = '' }: Container) => ({ name, image })

export function advanceContainer(container: Container, known: ContainerStatus | undefined, running: Running): Advanced {
  const { script, pod, policy } = running
  const name = container.name ?? ''
  if (script.pullsFail(name, container.image ?? '')) {
    const message = `Back-off pulling image "${container.image}": ErrImagePull: pull access denied (simulated)`
    return { status: waiting(container, 'ImagePullBackOff', message), after: undefined, isDone: false }
  }
  const state = known?.state ?? {}
  const isMade = state.running !== undefined || state.terminated !== undefined
  const problem = isMade ? undefined : subPathProblem(container, pod)
  if (problem !== undefined)
    return { status: waiting(container, 'CreateContainerConfigError', problem), after: undefined, isDone: false }
  if (state.terminated !== undefined && known !== undefined) {
    if (!isRestarted(container, policy, state.terminated.exitCode ?? 0))
      return { status: known, after: undefined, isDone: true }
    const count = known.restartCount ?? 0
    const pause = count === 0 ? 0 : Math.min(FIRST_BACK_OFF_MS * 2 ** (count - 1), LONGEST_BACK_OFF_MS)
    const since = Date.parse(state.terminated.finishedAt ?? '')
    return backOff(container, { ...known, lastState: state }, since, pause, running)
  }
  if (state.waiting?.reason === 'CrashLoopBackOff' && known !== undefined) {
    const finishedAt = Date.parse(known.lastState?.terminated?.finishedAt ?? '')
    const pause = Math.min(FIRST_BACK_OFF_MS * 2 ** ((known.restartCount ?? 1) - 1), LONGEST_BACK_OFF_MS)
    return backOff(container, known, finishedAt, pause, running)
  }
  if (state.running === undefined || known === undefined) return started(container, known, running)
  const why = replacementOf(container, known)
  return why === undefined ? ran(container, known, running) : replaced(container, known, running, why)
}

/**
 * The restart rules for the exit code come first, then the policy of the container, then the pod's policy (KEP-5307).
 */
function isRestarted(container: Container, policy: RestartPolicy, exitCode: number): boolean {
  const rules = container.restartPolicyRules ?? []
  const isMeant = ({ exitCodes }: ContainerRestartRule): boolean => {
    // few: a rule has 255 codes at most
    const isListed = (exitCodes?.values ?? []).includes(exitCode)
    return exitCodes?.operator === 'NotIn' ? !isListed : isListed
  }
  if (container.restartPolicy !== undefined && rules.some(isMeant)) return true
  const own = (container.restartPolicy as RestartPolicy | undefined) ?? policy // validated
  return own === 'Always' || (own === 'OnFailure' && exitCode !== 0)
}

const idOf = (container: Container, pod: Pod, restarts: number): string =>
  `${SIMULATED_ID}${pod.metadata.uid}/${container.name}/${restarts}`

/** Restarts a container when its back-off is over. */
function backOff(
  container: Container,
  known: ContainerStatus,
  since: number,
  pause: number,
  { pod, script, now }: Running,
): Advanced {
  const left = since + pause - now.getTime()
  if (left > 0) {
    const text = `back-off ${pause / 1000}s restarting failed container=${container.name}`
    const state: ContainerState = { waiting: { reason: 'CrashLoopBackOff', message: text } }
    return { status: { ...known, state, ready: false, started: false }, after: left, isDone: false }
  }
  const status: ContainerStatus = {
    ...known,
    state: { running: { startedAt: timeText(now) } },
    restartCount: (known.restartCount ?? 0) + 1,
    containerID: idOf(container, pod, (known.restartCount ?? 0) + 1),
    ...condition(container, pod, script, 0).shown,
  }
  return { status, after: 0, isDone: false }
}

function started(container: Container, known: ContainerStatus | undefined, running: Running): Advanced {
  const { pod, script, now } = running
  const status: ContainerStatus = {
    ...identity(container),
    state: { running: { startedAt: timeText(now) } },
    lastState: known?.lastState ?? {},
    ready: false,
    restartCount: known?.restartCount ?? 0,
    imageID: `simulated://${container.image}`,
    containerID: idOf(container, pod, known?.restartCount ?? 0),
    started: false,
  }
  // a container with duration 0 ends before any status shows it running
  return ran(container, { ...status, ...condition(container, pod, script, 0).shown }, running, 0)
}

function ran(
  container: Container,
  known: ContainerStatus,
  running: Running,
  age = ageOf(known, running.now),
): Advanced {
  const { pod, script, duration, policy } = running
  const hasEnded = duration !== undefined && age >= duration
  if (hasEnded) return ended(known, running.now, script.exitCode(known.name ?? ''))
  const { shown, health, after } = condition(container, pod, script, age)
  if (health.failed !== undefined) {
    const isRestarted = (container.restartPolicy ?? policy) !== 'Never'
    const news = [...health.news, killing(container, pod, health.failed, isRestarted)]
    return { ...ended(known, running.now, 137), news }
  }
  const waits = [after, ...(duration === undefined ? [] : [duration - age])].filter((wait) => wait !== undefined)
  return {
    status: { ...known, ...shown },
    after: waits.length === 0 ? undefined : Math.max(0, leastOf(waits)),
    isDone: false,
    news: health.news,
  }
}

/** Stops a container whose definition has changed and starts the next one, without a back-off. */
function replaced(container: Container, known: ContainerStatus, running: Running, why: string): Advanced {
  const { state: lastState = {} } = ended(known, running.now, 0).status
  const next = { ...known, lastState, restartCount: (known.restartCount ?? 0) + 1, state: {} }
  const step = started(container, next, running)
  return { ...step, news: [stopping(container, running.pod, why), ...(step.news ?? [])] }
}

const ageOf = ({ state }: ContainerStatus, now: Date): number =>
  now.getTime() - Date.parse(state?.running?.startedAt ?? '')

function ended(known: ContainerStatus, now: Date, exitCode: number): Advanced {
  const terminated = {
    exitCode,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    startedAt: known.state?.running?.startedAt ?? '',
    finishedAt: timeText(now),
    containerID: known.containerID ?? '',
  }
  return { status: { ...known, state: { terminated }, ready: false, started: false }, after: 0, isDone: false }
}

/** The readiness of a running container, by its probes. Annotations may delay it. */
function condition(container: Container, pod: Pod, script: Script, age: number) {
  const health = healthOf(container, pod, script, age)
  const readyDelay = script.readyDelay(container.name ?? '')
  const isReady = readyDelay !== undefined && age >= readyDelay && health.isReady
  const waits = [
    ...(health.after === undefined ? [] : [health.after]),
    ...(readyDelay === undefined || age >= readyDelay ? [] : [readyDelay - age]),
  ]
  const after = waits.length === 0 ? undefined : leastOf(waits)
  return { shown: { ready: isReady, started: health.isStarted }, health, after }
}
