/** POST pods/NAME/binding: the scheduler puts a pod on a node. POST bindings does the same, the pod named inside. */
import type { Binding, Pod } from '../../api/core/v1.ts'
import { badRequest, conflict, plainError } from '../../api/status.ts'
import { notSupported, messageOf, path, required } from '../../api/field.ts'
import type { FieldError } from '../../api/field.ts'
import { referenceKey } from '../../registry/store.ts'
import { builtInServed } from '../../registry/served.ts'
import { resourceScope } from '../../registry/scope.ts'
import { changeStored } from '../../registry/write/change-stored.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'
import type { Verb } from '../route.ts'
import { setPodCondition } from './pod-conditions.ts'
import type { Posted } from './posted.ts'
import { readPosted, respondDone } from './posted.ts'

const BINDING = { group: '', version: 'v1', kind: 'Binding' }

export async function binding(scope: RequestScope, verb: Verb | ''): Promise<Response> {
  return apply(scope, await readPosted<Binding>(scope, verb, () => BINDING, { keepsSystemFields: true }))
}

export async function legacyBinding(scope: RequestScope): Promise<Response> {
  const posted = await readPosted<Binding>(scope, 'create', () => BINDING)
  const { request } = scope
  const pods = builtInServed(request.env).resources.find('', 'v1', 'pods')
  if (pods === undefined) throw new Error('assertion failed: pods are a resource')
  const name = posted.object.metadata.name ?? ''
  return apply(resourceScope(request, pods, { name, subresource: 'binding', namespace: scope.namespace }), posted)
}

async function apply(scope: RequestScope, posted: Posted<Binding>): Promise<Response> {
  const { object, dryRun } = posted
  if ((object.metadata.name ?? '') !== scope.name) throw badRequest('name in URL does not match name in Binding object')
  const errors = validateTarget(object)
  if (errors.length > 0) throw plainError(messageOf(errors))
  await posted.validate()
  await changeStored<Pod>(scope, scope.name, { dryRun }, (pod) => bind(scope, pod, object, dryRun))
  return respondDone(scope, posted)
}

function validateTarget({ target = {} }: Binding): FieldError[] {
  const { kind = '', name = '' } = target
  return [
    ...(kind === '' || kind === 'Node' ? [] : [notSupported(path('target', 'kind'), kind, ['Node', '<empty>'])]),
    ...(name === '' ? [required(path('target', 'name'))] : []),
  ]
}

function bind(scope: RequestScope, pod: Pod, { metadata, target }: Binding, dryRun: boolean): void {
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

/** UID and version of a Binding are those of the pod that is meant. */
function checkPreconditions(
  scope: RequestScope,
  pod: Pod,
  { uid, resourceVersion }: Binding['metadata'],
  dryRun: boolean,
): void {
  const failed = (why: string) =>
    conflict(
      scope.resource,
      scope.name,
      `StorageError: invalid object, Code: 4, Key: ${dryRun ? '' : '/registry'}${referenceKey(scope, scope.name)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ${why}`,
    )
  if (uid && uid !== pod.metadata.uid)
    throw failed(`UID in precondition: ${uid}, UID in object meta: ${pod.metadata.uid}`)
  if (resourceVersion && resourceVersion !== pod.metadata.resourceVersion)
    throw failed(
      `ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${pod.metadata.resourceVersion}`,
    )
}
