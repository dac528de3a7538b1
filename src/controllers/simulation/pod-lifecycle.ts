/**
 * The actions of a simulated node's kubelet for a pod. This file writes nothing. The pod holds all the state, so it can
 * run again at any time, and the platform may evict the object between two runs.
 */
import { leastOf } from '../../base/extremes.ts'
import type { Container, ContainerStatus, Pod, PodCondition, PodStatus } from '../../api/core/v1.ts'
import { durationOf } from '../../go/duration.ts'
import { timeText } from '../../schema/time.ts'
import type { News } from '../workloads/events/events.ts'
import { sameJson } from '../workloads/same-json.ts'
import { Script } from './annotations.ts'
import type { Advanced, RestartPolicy } from './containers.ts'
import { advanceContainer, waiting } from './containers.ts'

export interface Step {
  /** The new status; undefined: no change. */
  readonly status?: PodStatus
  /** The pod has ended and can be deleted, after its last status is written. */
  readonly isGone?: true
  /** Milliseconds until the kubelet acts again without a change of the pod. */
  readonly after?: number
  /** Events that the kubelet records. */
  readonly news?: readonly News[]
}

export interface NodeFacts {
  /** The addresses of the node, one for each family. */
  readonly hostIPs: readonly string[]
  /** Allocates an address for a pod that has none. */
  readonly allocateIP: () => string | undefined
  /** All addresses of a pod with this first one; absent: it has no other. */
  readonly podIPs?: (first: string) => readonly string[]
  /** Whether an image cannot be pulled; absent: all can. */
  readonly isMissing?: (image: string) => boolean
}

const isOver = (phase: string | undefined): boolean => phase === 'Succeeded' || phase === 'Failed'

export function advance(pod: Pod, facts: NodeFacts, now: Date): Step {
  const script = new Script(pod, facts.isMissing)
  if (pod.metadata.deletionTimestamp !== undefined) return leave(pod, script, now)
  if (isOver(pod.status?.phase)) return {}
  const bound = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.lastTransitionTime
  const wait = script.startDelay - (bound === undefined ? 0 : now.getTime() - Date.parse(bound))
  if (script.startDelay > 0 && wait > 0 && pod.status?.startTime === undefined) return { after: wait }
  const left = timeLeft(pod, now)
  const next = left === 0 ? killed(run(pod, script, now), now) : run(pod, script, now)
  const status = withAddresses({ ...statusOf(pod, next, now), ...(left === 0 ? PAST_DEADLINE : {}) }, pod, facts)
  const after = isOver(next.phase) ? undefined : least([next.after, left].filter((wait) => wait !== undefined))
  return {
    ...(sameJson(status, pod.status ?? {}) ? {} : { status }),
    ...(after === undefined ? {} : { after }),
    ...(next.news.length === 0 ? {} : { news: next.news }),
  }
}

const PAST_DEADLINE = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
}

/** Milliseconds until activeDeadlineSeconds are over; undefined: there is no deadline. */
function timeLeft({ spec, status }: Pod, now: Date): number | undefined {
  const seconds = spec?.activeDeadlineSeconds
  if (seconds === undefined) return undefined
  const age = status?.startTime === undefined ? 0 : now.getTime() - Date.parse(status.startTime)
  return Math.max(0, durationOf(seconds) - age)
}

/** The status of a pod that its kubelet kills at once. */
export function endedByForce(pod: Pod, now: Date): PodStatus {
  return statusOf(pod, killed(run(pod, new Script(pod), now), now), now)
}

/** Kills the containers that still run. */
function killed({ init, regular, ephemeral, isInitialized }: Containers, now: Date): Containers {
  const end = (status: ContainerStatus) => stopped(status, now, { exitCode: 137, reason: 'Error' })
  return {
    init: init.map(end),
    regular: regular.map(end),
    ephemeral: ephemeral.map(end),
    isInitialized,
    phase: 'Failed',
    after: undefined,
    news: [],
  }
}

/**
 * Ends a deleted pod. Its deletionTimestamp is the end of the grace period, which began deletionGracePeriodSeconds
 * before. A pod that finalizers keep shows that it has ended: a Job may wait for that. Others are gone with the write.
 */
function leave(pod: Pod, script: Script, now: Date): Step {
  const { deletionTimestamp = '', deletionGracePeriodSeconds = 0, finalizers = [] } = pod.metadata
  const ends = Date.parse(deletionTimestamp)
  const stops = Math.min(ends, ends - durationOf(deletionGracePeriodSeconds) + script.stopDelay)
  const wait = stops - now.getTime()
  if (wait > 0 && script.stopDelay > 0) return { after: wait }
  const isKept = finalizers.length > 0 && !isOver(pod.status?.phase)
  return { ...(isKept ? { status: endedByForce(pod, now) } : {}), isGone: true }
}

interface Containers {
  readonly init: readonly ContainerStatus[]
  readonly regular: readonly ContainerStatus[]
  readonly ephemeral: readonly ContainerStatus[]
  readonly isInitialized: boolean
  /** Succeeded or Failed only when nothing runs any more. */
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed'
  readonly after: number | undefined
  readonly news: readonly News[]
}

const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always'

/** Advances all containers. A container with duration 0 ends at once, so the run goes on with the next one. */
function run(pod: Pod, script: Script, now: Date): Containers {
  const { initContainers = [], containers = [], restartPolicy = 'Always' } = pod.spec ?? {}
  const policy = restartPolicy as RestartPolicy // validated
  const find = (statuses: readonly ContainerStatus[] | undefined, { name }: Container) =>
    statuses?.find((status) => status.name === name)
  const init: ContainerStatus[] = []
  const waits: number[] = []
  const news: News[] = []
  let isInitialized = true
  let hasFailed = false
  for (const container of initContainers) {
    const known = find(pod.status?.initContainerStatuses, container)
    if (!isInitialized) {
      init.push(known ?? waiting(container, 'PodInitializing'))
      continue
    }
    const name = container.name ?? ''
    const step = settled(container, known, {
      script,
      now,
      pod,
      policy: isSidecar(container) ? 'Always' : policy === 'Never' ? 'Never' : 'OnFailure',
      duration: isSidecar(container) ? undefined : script.initDuration(name),
    })
    const failed = step.isDone && step.status.state?.terminated?.exitCode !== 0
    init.push(
      isSidecar(container)
        ? withResources(step.status, container.resources)
        : { ...step.status, ready: step.isDone && !failed },
    )
    if (step.after !== undefined) waits.push(step.after)
    for (const one of step.news ?? []) news.push(one)
    const isStarted = isSidecar(container) ? step.status.started === true : step.isDone
    if (!isStarted || failed) isInitialized = false
    hasFailed ||= failed
  }
  if (!isInitialized) {
    const regular = containers.map(
      (container) => find(pod.status?.containerStatuses, container) ?? waiting(container, 'PodInitializing'),
    )
    const phase = hasFailed ? 'Failed' : 'Pending'
    const ended = hasFailed ? init.map((status) => stopped(status, now)) : init
    return { init: ended, regular, ephemeral: [], isInitialized, phase, after: least(waits), news }
  }
  const steps = containers.map((container) =>
    settled(container, find(pod.status?.containerStatuses, container), {
      script,
      now,
      pod,
      policy,
      duration: script.duration(container.name ?? ''),
    }),
  )
  // ephemeral containers join a running pod, which does not wait for them
  const guests = ((pod.spec?.ephemeralContainers ?? []) as readonly Container[]).map((container) =>
    settled(container, find(pod.status?.ephemeralContainerStatuses, container), {
      script,
      now,
      pod,
      policy: 'Never',
      duration: script.ownDuration(container.name ?? ''),
    }),
  )
  for (const { after, news: told = [] } of [...steps, ...guests]) {
    if (after !== undefined) waits.push(after)
    for (const one of told) news.push(one)
  }
  const regular = steps.map(({ status }, index) => withResources(status, containers[index]?.resources))
  const phase = phaseOf(steps)
  return {
    init: isOver(phase) ? init.map((status) => stopped(status, now)) : init,
    regular,
    ephemeral: guests.map(({ status }) => ({ ...status, ready: false })),
    isInitialized,
    phase,
    after: isOver(phase) ? undefined : least(waits),
    news,
  }
}

/** Stops a running container, for example a sidecar after the other containers have ended. */
function stopped(status: ContainerStatus, now: Date, how = { exitCode: 0, reason: 'Completed' }): ContainerStatus {
  const { startedAt } = status.state?.running ?? {}
  if (startedAt === undefined) return status
  const end = { ...how, startedAt, finishedAt: timeText(now) }
  const terminated = { ...end, ...(status.containerID === undefined ? {} : { containerID: status.containerID }) }
  return { ...status, state: { terminated }, ready: false, started: false }
}

/** Sets the allocated resources to the requested ones, because a simulated node resizes a pod at once. */
function withResources(status: ContainerStatus, resources: Container['resources']): ContainerStatus {
  if (status.state?.running === undefined || resources === undefined) return status
  const { claims: _, ...given } = resources
  if (Object.keys(given).length === 0) return status
  return { ...status, resources: given, ...(given.requests && { allocatedResources: given.requests }) }
}

const least = (waits: readonly number[]): number | undefined => (waits.length === 0 ? undefined : leastOf(waits))

function settled(
  container: Container,
  known: ContainerStatus | undefined,
  running: Parameters<typeof advanceContainer>[2],
): Advanced {
  let step = advanceContainer(container, known, running)
  // a container that ended is handled in the same run; a restarted one waits for the next run
  if (step.after === 0 && step.status.state?.terminated !== undefined)
    step = { ...advanceContainer(container, step.status, running), news: step.news ?? [] }
  return step
}

function phaseOf(steps: readonly Advanced[]): Containers['phase'] {
  if (steps.every(({ isDone }) => isDone))
    return steps.every(({ status }) => status.state?.terminated?.exitCode === 0) ? 'Succeeded' : 'Failed'
  // another program may have written the status without a container ID
  const wasStarted = ({ status: { containerID, state } }: Advanced) =>
    containerID !== undefined || state?.running !== undefined
  return steps.every(wasStarted) ? 'Running' : 'Pending'
}

function statusOf(pod: Pod, { init, regular, ephemeral, isInitialized, phase }: Containers, now: Date): PodStatus {
  const time = timeText(now)
  const unready = regular.flatMap(({ name = '', ready }) => (ready ? [] : [name]))
  const ended = isOver(phase)
  const notReady = ended
    ? { reason: phase === 'Succeeded' ? 'PodCompleted' : 'PodFailed' }
    : { reason: 'ContainersNotReady', message: `containers with unready status: [${unready.join(' ')}]` }
  const areReady = unready.length === 0 && !ended
  const gates = (pod.spec?.readinessGates ?? []).map(({ conditionType = '' }) => conditionType)
  // few: the conditions of one pod
  const closed = gates.filter((gate) => pod.status?.conditions?.find(({ type }) => type === gate)?.status !== 'True')
  const pendingInit = init.flatMap(({ name = '', ready, started }, index) => {
    const isWaitedFor = isSidecar(pod.spec?.initContainers?.[index] ?? {}) ? started !== true : ready !== true
    return isWaitedFor ? [name] : []
  })
  const isReady: Partial<PodCondition> =
    areReady && closed.length > 0
      ? { reason: 'ReadinessGatesNotReady', message: `the status of pod readiness gate "${closed[0]}" is not "True"` }
      : notReady
  const own: PodCondition[] = [
    { type: 'PodReadyToStartContainers', status: ended ? 'False' : 'True' },
    isInitialized
      ? { type: 'Initialized', status: 'True', ...(phase === 'Succeeded' ? { reason: 'PodCompleted' } : {}) }
      : {
          type: 'Initialized',
          status: 'False',
          reason: 'ContainersNotInitialized',
          message: `containers with incomplete status: [${pendingInit.join(' ')}]`,
        },
    areReady && closed.length === 0
      ? { type: 'Ready', status: 'True' }
      : { type: 'Ready', status: 'False', ...isReady },
    areReady ? { type: 'ContainersReady', status: 'True' } : { type: 'ContainersReady', status: 'False', ...notReady },
    { type: 'PodScheduled', status: 'True' },
  ]
  const before = pod.status?.conditions ?? []
  const names = new Set(own.map(({ type }) => type))
  const conditions = own.map((condition) => {
    // few: the conditions of one pod
    const known = before.find(({ type }) => type === condition.type)
    const since = known?.status === condition.status ? known?.lastTransitionTime : undefined
    return {
      ...condition,
      ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
      lastTransitionTime: since ?? time,
    }
  })
  return {
    ...pod.status,
    ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
    phase,
    conditions: [...conditions, ...before.filter(({ type }) => !names.has(type))],
    startTime: pod.status?.startTime ?? time,
    ...(init.length === 0 ? {} : { initContainerStatuses: [...init] }),
    containerStatuses: [...regular],
    ...(ephemeral.length === 0 ? {} : { ephemeralContainerStatuses: [...ephemeral] }),
  }
}

function withAddresses(status: PodStatus, pod: Pod, facts: NodeFacts): PodStatus {
  const { hostIPs } = facts
  const [hostIP = ''] = hostIPs
  const podIPs = podIPsOf(pod, status.podIP, facts)
  const [podIP] = podIPs
  return {
    ...status,
    hostIP,
    hostIPs: hostIPs.map((ip) => ({ ip })),
    ...(podIP === undefined ? {} : { podIP, podIPs: podIPs.map((ip) => ({ ip })) }),
  }
}

/** The addresses of a pod. @param known its first one; undefined: it has none yet */
export function podIPsOf(
  { spec, status }: Pod,
  known: string | undefined,
  { hostIPs, allocateIP, podIPs = (ip) => [ip] }: Pick<NodeFacts, 'hostIPs' | 'allocateIP' | 'podIPs'>,
): readonly string[] {
  if (spec?.hostNetwork === true && (known === undefined || known === hostIPs[0])) return hostIPs
  // a pod keeps the addresses that it has
  if (known !== undefined && known === status?.podIP && status.podIPs !== undefined)
    return status.podIPs.map(({ ip = '' }) => ip)
  const first = known ?? allocateIP()
  return first === undefined ? [] : podIPs(first)
}
