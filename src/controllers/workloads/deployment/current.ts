/** Finds the ReplicaSet of a Deployment's current template and updates it, or creates it. */
import type { DeploymentCondition, ReplicaSet } from '../../../api/apps/v1.ts'
import { cloneJson } from '../../../json/clone-json.ts'
import { StatusError } from '../../../api/status.ts'
import type { Rollout } from './deployment.ts'
import { newReplicas, replicasOf } from './numbers.ts'
import {
  annotated,
  findNew,
  latestRevision,
  POD_TEMPLATE_HASH,
  revisionText,
  sameTemplate,
  sizeAnnotations,
  withRevision,
} from './revisions.ts'
import { conditionOf, hasProgressDeadline, newCondition, PROGRESSING, setCondition } from './status.ts'
import { controllerRefTo } from '../pods/pod-control.ts'
import { templateHash } from '../templates/hash.ts'
import { controllerRefOf } from '../../../registry/work/work.ts'

const LONGEST_NAME = 253

/** @returns undefined where there is none and `mayCreate` is false */
export async function currentReplicaSet(
  rollout: Rollout,
  sets: readonly ReplicaSet[],
  mayCreate: boolean,
): Promise<ReplicaSet | undefined> {
  const found = findNew(rollout.deployment, sets)
  const old = sets.filter(({ metadata }) => metadata.uid !== found?.metadata.uid)
  const revision = latestRevision(old) + 1n
  if (found !== undefined) return upToDate(rollout, found, revision)
  return mayCreate ? create(rollout, old, revision) : undefined
}

async function upToDate(rollout: Rollout, found: ReplicaSet, revision: bigint): Promise<ReplicaSet> {
  const { deployment, sets } = rollout
  const annotations = found.metadata.annotations ?? {}
  const wanted = annotated(annotations, deployment, revision)
  const minReadySeconds = deployment.spec?.minReadySeconds ?? 0
  let current = found
  if (wanted !== annotations || (found.spec?.minReadySeconds ?? 0) !== minReadySeconds) {
    const changed = cloneJson(found)
    changed.metadata.annotations = { ...wanted }
    changed.spec = { ...changed.spec, minReadySeconds }
    current = await sets.update(changed)
  }
  setRevision(rollout, revisionText(current))
  if (hasProgressDeadline(deployment) && conditionOf(deployment.status, PROGRESSING) === undefined)
    say(rollout, 'True', 'FoundNewReplicaSet', `Found new replica set "${current.metadata.name}"`)
  return current
}

function setRevision({ deployment }: Rollout, revision: string): void {
  deployment.metadata.annotations = withRevision(deployment.metadata.annotations, revision)
}

function say(
  { deployment, now }: Rollout,
  status: Parameters<typeof newCondition>[1],
  reason: string,
  message: string,
): void {
  const condition: DeploymentCondition = newCondition(PROGRESSING, status, reason, message, now)
  setCondition((deployment.status ??= {}), condition)
}

async function create(rollout: Rollout, old: readonly ReplicaSet[], revision: bigint): Promise<ReplicaSet | undefined> {
  const { deployment, sets, events } = rollout
  const wanted = await newReplicaSet(rollout, old, revision)
  const { name = '' } = wanted.metadata
  let created: ReplicaSet
  try {
    created = await sets.create(wanted)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    if (error.status.reason === 'AlreadyExists') return taken(rollout, name, error)
    const isEnding = error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating')
    if (!isEnding) {
      const message = `Failed to create new replica set "${name}": ${error.message}`
      if (hasProgressDeadline(deployment)) {
        say(rollout, 'False', 'ReplicaSetCreateError', message)
        await rollout.deployments.updateStatus(deployment)
      }
      await events.warning(deployment, 'ReplicaSetCreateError', message)
    }
    throw error
  }
  const size = replicasOf(created)
  if (size > 0) await events.normal(deployment, 'ScalingReplicaSet', `Scaled up replica set ${name} from 0 to ${size}`)
  setRevision(rollout, String(revision))
  if (hasProgressDeadline(deployment)) say(rollout, 'True', 'NewReplicaSetCreated', `Created new replica set "${name}"`)
  return created
}

/** The existing ReplicaSet of the name, if it is this Deployment's; otherwise the next attempt uses another hash. */
async function taken(rollout: Rollout, name: string, error: StatusError): Promise<ReplicaSet> {
  const { deployment, sets, deployments } = rollout
  const there = await sets.get(name)
  const isOurs = there !== undefined && controllerRefOf(there)?.uid === deployment.metadata.uid
  if (isOurs && sameTemplate(there.spec?.template, deployment.spec?.template)) return there
  const status = (deployment.status ??= {})
  status.collisionCount = (status.collisionCount ?? 0) + 1
  await deployments.updateStatus(deployment)
  throw error
}

async function newReplicaSet(rollout: Rollout, old: readonly ReplicaSet[], revision: bigint): Promise<ReplicaSet> {
  const { deployment } = rollout
  const { name = '', namespace = '' } = deployment.metadata
  const { selector, template, minReadySeconds = 0 } = deployment.spec ?? {}
  const hash = await templateHash(template ?? {}, deployment.status?.collisionCount)
  const labels = { ...template?.metadata?.labels, [POD_TEMPLATE_HASH]: hash }
  const matchLabels = { ...selector?.matchLabels, [POD_TEMPLATE_HASH]: hash }
  return cloneJson({
    kind: 'ReplicaSet',
    apiVersion: 'apps/v1',
    metadata: {
      name: `${name.slice(0, LONGEST_NAME - 1 - hash.length)}-${hash}`,
      namespace,
      ownerReferences: [controllerRefTo(deployment, { group: 'apps', version: 'v1', kind: 'Deployment' })],
      labels,
      annotations: { ...annotated({}, deployment, revision), ...sizeAnnotations(deployment) },
    },
    spec: {
      replicas: newReplicas(deployment, old, 0),
      minReadySeconds,
      selector: { ...selector, matchLabels },
      template: { ...template, metadata: { ...template?.metadata, labels } },
    },
  })
}
