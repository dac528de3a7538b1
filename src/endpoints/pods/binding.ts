/**
 * POST pods/NAME/binding: the scheduler assigns a pod to a node. POST bindings does the same for the pod that the
 * body names.
 */
import type { Binding } from '../../api/core/v1.ts'
import { badRequest, plainError } from '../../api/status.ts'
import { notSupportedString, messageOf, path, required } from '../../api/field.ts'
import type { FieldError } from '../../api/field.ts'
import { builtInServed } from '../../registry/served/built-in-served.ts'
import { resourceScope } from '../../registry/scope.ts'
import { bindPod } from '../../registry/core/pods/bind-pod.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'
import type { Verb } from '../../registry/served/serving.ts'
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
  return apply(resourceScope(request, pods, { name, subresource: 'binding', namespace: scope.place.namespace }), posted)
}

async function apply(scope: RequestScope, posted: Posted<Binding>): Promise<Response> {
  const { object, dryRun } = posted
  if ((object.metadata.name ?? '') !== scope.place.name)
    throw badRequest('name in URL does not match name in Binding object')
  const errors = validateTarget(object)
  if (errors.length > 0) throw plainError(messageOf(errors))
  await posted.validate()
  await bindPod(scope, object, dryRun)
  return respondDone(scope, posted)
}

function validateTarget({ target = {} }: Binding): FieldError[] {
  const { kind = '', name = '' } = target
  return [
    ...(kind === '' || kind === 'Node' ? [] : [notSupportedString(path('target', 'kind'), kind, ['Node', '<empty>'])]),
    ...(name === '' ? [required(path('target', 'name'))] : []),
  ]
}
