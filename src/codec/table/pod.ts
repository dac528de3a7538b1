/** Makes the cells of Pods. The column STATUS needs a small state machine. */
import type { Container, ContainerStatus, Pod, PodCondition } from '../../api/core/v1.ts'
import type { TableRowCondition } from '../../api/meta/v1.ts'
import { ownValue } from '../../base/own.ts'
import { age, nameOf, printer } from './cells.ts'
import { since } from './age.ts'

const completed = (reason: string, message: string): readonly TableRowCondition[] => [
  { type: 'Completed', status: 'True', reason, message },
]
const finished: Readonly<Record<string, readonly TableRowCondition[]>> = {
  Succeeded: completed('Succeeded', 'The pod has completed successfully.'),
  Failed: completed('Failed', 'The pod failed.'),
}

export const podPrinter = printer<Pod>(
  (pod, now) => {
    const { ready, total, reason, restarts, lastRestart } = summaryOf(pod)
    const { spec = {}, status = {} } = pod
    const restartText =
      restarts !== 0 && lastRestart !== undefined ? `${restarts} (${since(lastRestart, now)} ago)` : `${restarts}`
    return [
      nameOf(pod),
      `${ready}/${total}`,
      reason,
      restartText,
      age(pod, now),
      status.podIPs?.[0]?.ip || '<none>',
      spec.nodeName || '<none>',
      status.nominatedNodeName || '<none>',
      readinessGates(pod),
    ]
  },
  { conditions: ({ status }) => ownValue(finished, status?.phase ?? '') },
)

interface Summary {
  readonly ready: number
  readonly total: number
  readonly reason: string
  readonly restarts: number
  /** The time at which the last restarted container had terminated. */
  readonly lastRestart: string | undefined
}

function summaryOf(pod: Pod): Summary {
  const { spec = {}, status = {} } = pod
  const { conditions = [] } = status
  let reason = status.reason || (status.phase ?? '')
  if (conditions.some(({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated'))
    reason = 'SchedulingGated'
  const initial = initContainers(pod)
  let { ready } = initial
  let counted = initial.all
  if (initial.reason !== undefined) reason = initial.reason
  if (initial.reason === undefined || isTrue(conditions, 'Initialized')) {
    const main = mainContainers(status.containerStatuses ?? [], initial.sidecars)
    ready += main.ready
    counted = main.counted
    reason = settledReason(main, main.reason ?? reason, conditions)
  }
  return {
    ready,
    total: (spec.containers ?? []).length + initial.sidecarCount,
    reason: deletedReason(pod) ?? reason,
    restarts: counted.restarts,
    lastRestart: counted.last,
  }
}

/** A pod with running containers is not Completed, even if another container has completed. */
function settledReason(
  { hasRunning, errorReason }: MainContainers,
  reason: string,
  conditions: readonly PodCondition[],
): string {
  if (reason !== 'Completed') return reason
  if (hasRunning && conditions.some(({ type, status }) => type === 'Ready' && status === 'True')) return 'Running'
  if (errorReason !== undefined) return errorReason
  return hasRunning ? 'NotReady' : reason
}

function deletedReason({ metadata, status }: Pod): string | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined
  if (status?.reason === 'NodeLost') return 'Unknown'
  return Object.hasOwn(finished, status?.phase ?? '') ? undefined : 'Terminating'
}

interface Restarts {
  readonly restarts: number
  readonly last: string | undefined
}

const none: Restarts = { restarts: 0, last: undefined }

function plus({ restarts, last }: Restarts, container: ContainerStatus): Restarts {
  const ended = container.lastState?.terminated?.finishedAt
  const later = !!ended && (last === undefined || Date.parse(ended) > Date.parse(last))
  return { restarts: restarts + (container.restartCount ?? 0), last: later ? ended : last }
}

interface InitContainers {
  readonly sidecarCount: number
  readonly ready: number
  /** The reason why init containers have not completed; undefined when they have. */
  readonly reason: string | undefined
  readonly all: Restarts
  /** The restarts of sidecars only. */
  readonly sidecars: Restarts
}

function initContainers({ spec = {}, status = {} }: Pod): InitContainers {
  const { initContainers: declared = [] } = spec
  // the last of several containers with one name wins
  const byName = new Map(declared.map((container) => [container.name, container]))
  const isSidecar = ({ restartPolicy }: Container) => restartPolicy === 'Always'
  let ready = 0
  let all = none
  let sidecars = none
  let reason: string | undefined
  for (const [index, container] of (status.initContainerStatuses ?? []).entries()) {
    all = plus(all, container)
    const known = byName.get(container.name)
    const sidecar = known !== undefined && isSidecar(known)
    if (sidecar) sidecars = plus(sidecars, container)
    const { terminated } = container.state ?? {}
    if (terminated !== undefined && (terminated.exitCode ?? 0) === 0) continue
    if (sidecar && container.started === true) {
      if (container.ready === true) ready++
      continue
    }
    reason = initReason(container) ?? `Init:${index}/${declared.length}`
    break
  }
  return { sidecarCount: declared.filter(isSidecar).length, ready, reason, all, sidecars }
}

function initReason({ state = {} }: ContainerStatus): string | undefined {
  const { terminated, waiting } = state
  if (terminated !== undefined) return `Init:${endReason(terminated)}`
  const why = waiting?.reason ?? ''
  return why !== '' && why !== 'PodInitializing' ? `Init:${why}` : undefined
}

const endReason = ({ reason, signal, exitCode }: { reason?: string; signal?: number; exitCode?: number }): string =>
  reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode ?? 0}`)

interface MainContainers {
  readonly ready: number
  readonly counted: Restarts
  readonly reason: string | undefined
  readonly hasRunning: boolean
  readonly errorReason: string | undefined
}

/** The first waiting or terminated container gives the reason, because the loop runs from the last to the first. */
function mainContainers(statuses: readonly ContainerStatus[], sidecars: Restarts): MainContainers {
  let counted = sidecars
  let ready = 0
  let reason: string | undefined
  let errorReason: string | undefined
  let hasRunning = false
  for (const container of statuses.toReversed()) {
    counted = plus(counted, container)
    const { waiting, terminated, running } = container.state ?? {}
    if (waiting?.reason) reason = waiting.reason
    else if (terminated !== undefined) {
      reason = endReason(terminated)
      if ((terminated.exitCode ?? 0) !== 0) errorReason = reason
    } else if (container.ready === true && running !== undefined) {
      hasRunning = true
      ready++
    }
  }
  return { ready, counted, reason, hasRunning, errorReason }
}

/** The first condition of a type decides. */
const isTrue = (conditions: readonly PodCondition[], wanted: string): boolean =>
  conditions.find(({ type }) => type === wanted)?.status === 'True'

function readinessGates({ spec = {}, status = {} }: Pod): string {
  const { readinessGates: gates = [] } = spec
  if (gates.length === 0) return '<none>'
  const open = gates.filter(({ conditionType }) => isTrue(status.conditions ?? [], conditionType ?? ''))
  return `${open.length}/${gates.length}`
}
