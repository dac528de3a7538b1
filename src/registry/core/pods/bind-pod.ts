/** Binds a pod to a node, as a Binding requests it (kube-apiserver's BindingREST). */
import type { Binding, Pod } from '../../../api/core/v1.ts'
import { conflict } from '../../../api/status.ts'
import { checkKeyName } from '../../key-name.ts'
import type { ResourceScope } from '../../resource-scope.ts'
import { referenceKey } from '../../store.ts'
import { changeStored } from '../../write/change-stored.ts'
import { setPodCondition } from './pod-conditions.ts'

/**
 * @throws StatusError 400 if no pod can have the name; Conflict if the pod has a node, is terminating or has scheduling
 * gates, or if its UID or version differs from that of the Binding
 */
export async function bindPod(scope: ResourceScope, binding: Binding, dryRun: boolean, known?: Pod): Promise<void> {
  checkKeyName(scope.place.name)
  await changeStored<Pod>(scope, scope.place.name, { dryRun, known }, (pod) => bind(scope, pod, binding, dryRun))
}

function bind(scope: ResourceScope, pod: Pod, { metadata, target }: Binding, dryRun: boolean): void {
  checkPreconditions(scope, pod, metadata, dryRun)
  const name = pod.metadata.name ?? ''
  const refuse = (why: string) => conflict({ group: '', resource: 'pods/binding' }, name, why)
  const spec = (pod.spec ??= {})
  if (pod.metadata.deletionTimestamp !== undefined)
    throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`)
  if (spec.nodeName) throw refuse(`pod ${name} is already assigned to node ${JSON.stringify(spec.nodeName)}`)
  if ((spec.schedulingGates ?? []).length > 0) throw refuse(`pod ${name} has non-empty .spec.schedulingGates`)
  spec.nodeName = target?.name ?? ''
  delete pod.status?.nominatedNodeName
  for (const field of ['annotations', 'labels'] as const)
    if (metadata[field] !== undefined) pod.metadata[field] = { ...pod.metadata[field], ...metadata[field] }
  setPodCondition(pod, { type: 'PodScheduled', status: 'True' }, scope.request.now)
}

/** A Binding may name UID and resourceVersion of its pod. They must be those of the stored pod. */
function checkPreconditions(
  scope: ResourceScope,
  pod: Pod,
  { uid, resourceVersion }: Binding['metadata'],
  dryRun: boolean,
): void {
  const failed = (why: string) =>
    conflict(
      scope.resource.gvr,
      scope.place.name,
      `StorageError: invalid object, Code: 4, Key: ${dryRun ? '' : '/registry'}${referenceKey(scope, scope.place.name)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ${why}`,
    )
  if (uid && uid !== pod.metadata.uid)
    throw failed(`UID in precondition: ${uid}, UID in object meta: ${pod.metadata.uid}`)
  if (resourceVersion && resourceVersion !== pod.metadata.resourceVersion)
    throw failed(
      `ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${pod.metadata.resourceVersion}`,
    )
}
