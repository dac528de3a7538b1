/** The status of a Deployment, and the progress of its rollout (kube-controller-manager's deployment controller). */
import type { Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet } from '../../../api/apps/v1.ts'
import { timeText } from '../../../schema/time.ts'
import { maxUnavailable, replicasOf, sumOfReplicas, sumOfStatus, sumOfTerminating } from './numbers.ts'

const FOREVER = 2 ** 31 - 1
export const PROGRESSING = 'Progressing'
const NEW_AVAILABLE = 'NewReplicaSetAvailable'
const TIMED_OUT = 'ProgressDeadlineExceeded'

export const hasProgressDeadline = ({ spec }: Deployment): boolean =>
  spec?.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== FOREVER

export const historyLimit = ({ spec }: Deployment): number => {
  const limit = spec?.revisionHistoryLimit ?? FOREVER
  return limit === FOREVER ? Infinity : limit
}

export const conditionOf = (status: DeploymentStatus | undefined, type: string): DeploymentCondition | undefined =>
  status?.conditions?.find((condition) => condition.type === type)

export function newCondition(
  type: string,
  status: 'True' | 'False' | 'Unknown',
  reason: string,
  message: string,
  now: Date,
): DeploymentCondition {
  const time = timeText(now)
  return { type, status, lastUpdateTime: time, lastTransitionTime: time, reason, message }
}

/** Sets the condition and moves it to the end, unless its status and reason are unchanged. */
export function setCondition(status: DeploymentStatus, condition: DeploymentCondition): void {
  const known = conditionOf(status, condition.type ?? '')
  if (known?.status === condition.status && known?.reason === condition.reason) return
  const time = known?.status === condition.status ? known?.lastTransitionTime : undefined
  removeCondition(status, condition.type ?? '')
  status.conditions = [
    ...(status.conditions ?? []),
    { ...condition, ...(time === undefined ? {} : { lastTransitionTime: time }) },
  ]
}

export function removeCondition(status: DeploymentStatus, type: string): void {
  if (conditionOf(status, type) === undefined) return
  status.conditions = (status.conditions ?? []).filter((condition) => condition.type !== type)
}

export function deploymentStatus(
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  current: ReplicaSet | undefined,
  now: Date,
): DeploymentStatus {
  const available = sumOfStatus(sets, 'availableReplicas')
  const collisionCount = deployment.status?.collisionCount
  const terminatingReplicas = sumOfTerminating(sets)
  const status: DeploymentStatus = {
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: sumOfStatus(sets, 'replicas'),
    updatedReplicas: current?.status?.replicas ?? 0,
    readyReplicas: sumOfStatus(sets, 'readyReplicas'),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, sumOfReplicas(sets) - available),
    ...(terminatingReplicas === undefined ? {} : { terminatingReplicas }),
    ...(collisionCount === undefined ? {} : { collisionCount }),
    conditions: [...(deployment.status?.conditions ?? [])],
  }
  const isEnough = available >= replicasOf(deployment) - maxUnavailable(deployment)
  setCondition(
    status,
    isEnough
      ? newCondition('Available', 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.', now)
      : newCondition(
          'Available',
          'False',
          'MinimumReplicasUnavailable',
          'Deployment does not have minimum availability.',
          now,
        ),
  )
  return status
}

export const isComplete = (deployment: Deployment, status: DeploymentStatus = {}): boolean =>
  (status.updatedReplicas ?? 0) === replicasOf(deployment) &&
  (status.replicas ?? 0) === replicasOf(deployment) &&
  (status.availableReplicas ?? 0) === replicasOf(deployment) &&
  (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)

function isProgressing({ status: old = {} }: Deployment, status: DeploymentStatus): boolean {
  const outdated = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus) => replicas - updatedReplicas
  return (
    (status.updatedReplicas ?? 0) > (old.updatedReplicas ?? 0) ||
    outdated(status) < outdated(old) ||
    (status.readyReplicas ?? 0) > (old.readyReplicas ?? 0) ||
    (status.availableReplicas ?? 0) > (old.availableReplicas ?? 0)
  )
}

/** Milliseconds until the progress deadline; undefined where the Deployment has none. */
export function untilDeadline(deployment: Deployment, status: DeploymentStatus, now: Date): number | undefined {
  const condition = conditionOf(status, PROGRESSING)
  if (!hasProgressDeadline(deployment) || condition === undefined) return undefined
  if (condition.reason === NEW_AVAILABLE || condition.reason === TIMED_OUT || isComplete(deployment, status))
    return undefined
  const deadline = (deployment.spec?.progressDeadlineSeconds ?? 0) * 1000
  return Date.parse(condition.lastUpdateTime ?? '') + deadline - now.getTime()
}

/** The status with the conditions of a rollout: that it progresses, is complete or has timed out. */
export function rolloutStatus(
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  current: ReplicaSet | undefined,
  now: Date,
): DeploymentStatus {
  const status = deploymentStatus(deployment, sets, current, now)
  const hasDeadline = hasProgressDeadline(deployment)
  if (!hasDeadline) removeCondition(status, PROGRESSING)
  const known = conditionOf(deployment.status, PROGRESSING)
  const isOver = status.replicas === status.updatedReplicas && known?.reason === NEW_AVAILABLE
  if (hasDeadline && !isOver) progress(deployment, status, current, now)
  const failure = [...(current === undefined ? [] : [current]), ...sets]
    .flatMap((set) => set.status?.conditions ?? [])
    .find(({ type }) => type === 'ReplicaFailure')
  if (failure === undefined) removeCondition(status, 'ReplicaFailure')
  else setCondition(status, { ...failure, lastUpdateTime: failure.lastTransitionTime ?? timeText(now) })
  return status
}

function progress(deployment: Deployment, status: DeploymentStatus, current: ReplicaSet | undefined, now: Date): void {
  const subject =
    current === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${current.metadata.name}"`
  const known = conditionOf(deployment.status, PROGRESSING)
  if (isComplete(deployment, status)) {
    const message = `${subject} has successfully progressed.`
    setCondition(status, newCondition(PROGRESSING, 'True', NEW_AVAILABLE, message, now))
  } else if (isProgressing(deployment, status)) {
    const message = `${subject} is progressing.`
    const condition = newCondition(PROGRESSING, 'True', 'ReplicaSetUpdated', message, now)
    if (known?.status === 'True' && known.lastTransitionTime !== undefined)
      condition.lastTransitionTime = known.lastTransitionTime
    removeCondition(status, PROGRESSING)
    status.conditions = [...(status.conditions ?? []), condition]
  } else if ((untilDeadline(deployment, status, now) ?? 0) < 0) {
    const message = `${subject} has timed out progressing.`
    setCondition(status, newCondition(PROGRESSING, 'False', TIMED_OUT, message, now))
  }
}

/** The condition for a paused or resumed Deployment; undefined where it does not change. */
export function pauseCondition(deployment: Deployment, now: Date): DeploymentCondition | undefined {
  const known = conditionOf(deployment.status, PROGRESSING)
  if (!hasProgressDeadline(deployment) || known?.reason === TIMED_OUT) return undefined
  const isPaused = deployment.spec?.paused === true
  if (isPaused === (known?.reason === 'DeploymentPaused')) return undefined
  return isPaused
    ? newCondition(PROGRESSING, 'Unknown', 'DeploymentPaused', 'Deployment is paused', now)
    : newCondition(PROGRESSING, 'Unknown', 'DeploymentResumed', 'Deployment is resumed', now)
}
