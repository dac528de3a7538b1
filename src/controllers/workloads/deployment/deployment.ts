/**
 * Rolls out a Deployment's template over ReplicaSets, one for each revision (kube-controller-manager's deployment
 * controller). Key: NAMESPACE/NAME. Each reconciliation does one step, and its writes queue the next one.
 */
import type { Deployment, DeploymentStatus, ReplicaSet } from '../../../api/apps/v1.ts'
import type { GroupVersionKind } from '../../../api/group-version.ts'
import { cloneJson } from '../../../json/clone-json.ts'
import { ownValue } from '../../../base/own.ts'
import { clientsetFor, typedResource } from '../../client/clientset.ts'
import type { Clientset } from '../../client/clientset.ts'
import type { Controller } from '../../controller.ts'
import type { ResourceClient } from '../../client/resource-client.ts'
import { isScaledByHand, reconcileRolling, scaleAll } from './scaling.ts'
import { olderFirst, replicasOf, sumOfStatus } from './numbers.ts'
import { currentReplicaSet } from './current.ts'
import {
  annotationsOfRollback,
  findNew,
  formerRevision,
  revisionOf,
  ROLLBACK_TO,
  sameTemplate,
  withoutHash,
} from './revisions.ts'
import {
  deploymentStatus,
  historyLimit,
  isComplete,
  pauseCondition,
  rolloutStatus,
  setCondition,
  untilDeadline,
} from './status.ts'
import { parseInt64 } from '../../../go/int.ts'
import { EventRecorder } from '../events/events.ts'
import { keyParts } from '../key.ts'
import { controllerRefTo, dependentsOf, PODS } from '../pods/pod-control.ts'
import { isFinished } from '../pods/pod-state.ts'
import { REPLICA_SETS } from '../replica-set.ts'
import { sameJson } from '../same-json.ts'

export const DEPLOYMENTS = typedResource<Deployment>('apps', 'deployments')
export const DEPLOYMENT: GroupVersionKind = { group: 'apps', version: 'v1', kind: 'Deployment' }
const COMPONENT = 'deployment-controller'

/** The data of one reconciliation of a Deployment. */
export interface Rollout {
  /** The object in memory: its status may be newer than the stored one. */
  readonly deployment: Deployment
  readonly clients: Clientset
  readonly deployments: ResourceClient<Deployment>
  readonly sets: ResourceClient<ReplicaSet>
  readonly events: EventRecorder
  readonly now: Date
}

export const deploymentController: Controller = {
  async reconcile(key, context) {
    const [namespace, name] = keyParts(key)
    const clients = clientsetFor(context, COMPONENT)
    const deployments = clients.resource(DEPLOYMENTS, namespace)
    const found = await deployments.get(name)
    if (found?.spec?.selector === undefined) return undefined
    const now = context.now()
    const rollout: Rollout = {
      deployment: cloneJson(found),
      clients,
      deployments,
      sets: clients.resource(REPLICA_SETS, namespace),
      events: new EventRecorder(clients, COMPONENT, context.now),
      now,
    }
    const { matchLabels = {}, matchExpressions = [] } = found.spec.selector
    if (Object.keys(matchLabels).length === 0 && matchExpressions.length === 0) return selectsAll(rollout)
    const status = await step(rollout)
    if (status === undefined) return undefined
    await writeStatus(rollout, found, status)
    const { spec, metadata } = rollout.deployment
    const rolls = spec?.paused !== true && metadata.deletionTimestamp === undefined
    const wait = rolls ? untilDeadline(rollout.deployment, status, now) : undefined
    return wait === undefined ? undefined : Math.max(wait, 0) + 1_000
  },
}

async function selectsAll({ deployment, deployments, events }: Rollout): Promise<undefined> {
  const message = 'This deployment is selecting all pods. A non-empty selector is required.'
  await events.warning(deployment, 'SelectingAll', message)
  const observedGeneration = deployment.metadata.generation ?? 0
  if ((deployment.status?.observedGeneration ?? 0) < observedGeneration)
    await deployments.updateStatus({ ...deployment, status: { ...deployment.status, observedGeneration } })
}

async function writeStatus(rollout: Rollout, found: Deployment, status: DeploymentStatus): Promise<void> {
  const isSameRevision = sameJson(rollout.deployment.metadata.annotations, found.metadata.annotations)
  if (isSameRevision && sameJson(status, found.status ?? {})) return
  // this also writes changed metadata
  await rollout.deployments.putStatus({ ...rollout.deployment, status })
}

/** @returns the new status; undefined where another reconciliation follows in any case */
async function step(rollout: Rollout): Promise<DeploymentStatus | undefined> {
  const { deployment, now } = rollout
  const sets = await ownReplicaSets(rollout)
  const all = (current: ReplicaSet | undefined) => [
    ...sets.filter(({ metadata }) => metadata.uid !== current?.metadata.uid),
    ...(current === undefined ? [] : [current]),
  ]
  if (deployment.metadata.deletionTimestamp !== undefined)
    return deploymentStatus(deployment, sets, findNew(deployment, sets), now)
  const pause = pauseCondition(deployment, now)
  if (pause !== undefined) setCondition((deployment.status ??= {}), pause)
  if (deployment.spec?.paused === true) return resized(rollout, sets)
  if (ownValue(deployment.metadata.annotations, ROLLBACK_TO) !== undefined) return rollBack(rollout, sets)
  if (isScaledByHand(deployment, sets)) return resized(rollout, sets)
  const current = await currentReplicaSet(rollout, sets, deployment.spec?.strategy?.type === 'RollingUpdate')
  const old = sets.filter(({ metadata }) => metadata.uid !== current?.metadata.uid)
  if (deployment.spec?.strategy?.type === 'RollingUpdate' && current !== undefined) {
    const scaled = await reconcileRolling(rollout, old, current)
    if (!scaled && isComplete(deployment, deployment.status)) await cleanUp(rollout, old)
    return rolloutStatus(deployment, all(current), current, now)
  }
  return recreate(rollout, sets, current, old)
}

/** Gives all ReplicaSets their part of the Deployment's size, and changes nothing else. */
async function resized(rollout: Rollout, sets: readonly ReplicaSet[]): Promise<DeploymentStatus> {
  const { deployment, now } = rollout
  const current = await currentReplicaSet(rollout, sets, false)
  const old = sets.filter(({ metadata }) => metadata.uid !== current?.metadata.uid)
  await scaleAll(rollout, old, current)
  if (deployment.spec?.paused === true) await cleanUp(rollout, old)
  return deploymentStatus(deployment, [...old, ...(current === undefined ? [] : [current])], current, now)
}

/** Strategy Recreate: creates new pods only when all old pods are gone. */
async function recreate(
  rollout: Rollout,
  sets: readonly ReplicaSet[],
  found: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
): Promise<DeploymentStatus> {
  const { deployment, now } = rollout
  const running = old.filter((set) => replicasOf(set) > 0)
  await scaleAll(rollout, running, undefined, 0)
  const all = [...old, ...(found === undefined ? [] : [found])]
  if (running.length > 0 || (await oldPodsRun(rollout, old))) return rolloutStatus(deployment, all, found, now)
  const current = found ?? (await currentReplicaSet(rollout, sets, true))
  if (current !== undefined) await scaleAll(rollout, [], current)
  if (isComplete(deployment, deployment.status)) await cleanUp(rollout, old)
  return rolloutStatus(deployment, [...old, ...(current === undefined ? [] : [current])], current, now)
}

async function oldPodsRun({ clients, deployment }: Rollout, old: readonly ReplicaSet[]): Promise<boolean> {
  if (sumOfStatus(old, 'replicas') > 0) return true
  const pods = clients.resource(PODS, deployment.metadata.namespace)
  for (const { metadata } of old) {
    const owned = await pods.list({ owner: metadata.uid ?? '' })
    if (owned.some((pod) => !isFinished(pod))) return true
  }
  return false
}

/** The ReplicaSets that the Deployment owns or adopts. */
async function ownReplicaSets({ clients, deployment }: Rollout): Promise<readonly ReplicaSet[]> {
  return dependentsOf(clients, REPLICA_SETS, deployment, controllerRefTo(deployment, DEPLOYMENT), deployment, {
    isMissing: (owned) => findNew(deployment, owned) === undefined,
  })
}

/** Deletes revisions beyond the limit, the oldest first. */
async function cleanUp({ deployment, sets }: Rollout, old: readonly ReplicaSet[]): Promise<void> {
  const alive = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const excess = alive.length - historyLimit(deployment)
  if (excess <= 0) return
  const byRevision = alive.toSorted(byRevisionAndAge)
  for (const set of byRevision.slice(0, excess)) {
    const { generation = 0 } = set.metadata
    const isEmpty = (set.status?.replicas ?? 0) === 0 && replicasOf(set) === 0
    if (!isEmpty || generation > (set.status?.observedGeneration ?? 0)) continue
    await sets.delete(set)
  }
}

function byRevisionAndAge(a: ReplicaSet, b: ReplicaSet): number {
  const [one, other] = [revisionOf(a) ?? 0n, revisionOf(b) ?? 0n]
  return one === other ? olderFirst(a, b) : one < other ? -1 : 1
}

/** Does the rollback that the deprecated annotation requests. kubectl undoes a rollout without this annotation. */
async function rollBack(rollout: Rollout, sets: readonly ReplicaSet[]): Promise<undefined> {
  const { deployment, deployments, events } = rollout
  const current = await currentReplicaSet(rollout, sets, true)
  const all = [...sets.filter(({ metadata }) => metadata.uid !== current?.metadata.uid), ...(current ? [current] : [])]
  const text = ownValue(deployment.metadata.annotations, ROLLBACK_TO) ?? ''
  const asked = parseInt64(text) ?? 0n
  const revision = asked === 0n ? formerRevision(all) : asked
  const target = revision === 0n ? undefined : all.find((set) => revisionOf(set) === revision)
  const isSame = target !== undefined && sameTemplate(target.spec?.template, deployment.spec?.template)
  const { name = '' } = deployment.metadata
  if (target === undefined) {
    const message = revision === 0n ? 'Unable to find last revision.' : 'Unable to find the revision to rollback to.'
    await events.warning(deployment, 'DeploymentRollbackRevisionNotFound', message)
  } else if (isSame) {
    const message = `The rollback revision contains the same template as current deployment "${name}"`
    await events.warning(deployment, 'DeploymentRollbackTemplateUnchanged', message)
  }
  await deployments.updateWithRetries(deployment, (object) => {
    const { [ROLLBACK_TO]: _, ...annotations } = object.metadata.annotations ?? {}
    object.metadata.annotations = annotations
    if (target === undefined || isSame || object.spec === undefined) return
    object.spec.template = cloneJson(withoutHash(target.spec?.template))
    object.metadata.annotations = annotationsOfRollback(object, target)
  })
  if (target !== undefined && !isSame)
    await events.normal(deployment, 'DeploymentRollback', `Rolled back deployment "${name}" to revision ${revision}`)
  return undefined
}
