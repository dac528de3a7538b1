/** Creates objects on a server whose webhooks give the answers that a test chooses. */
import type { MutatingWebhook } from '../../../src/api/admissionregistration/v1.ts'
import type { JsonObject } from '../../../src/api/object.ts'
import type { StatusError } from '../../../src/api/status.ts'
import { create } from '../../../src/endpoints/verbs/create.ts'
import { resourceScope } from '../../../src/registry/scope.ts'
import { servedResources } from '../../../src/registry/served/served.ts'
import { memoryServer } from '../../request-in-memory.ts'
import type { Answer, Called } from '../../webhooks/front.ts'
import { frontAnswering, responding } from '../../webhooks/front.ts'

export type Hook = MutatingWebhook & { readonly answers: (called: Called) => Answer | Promise<Answer> }

export const hook = (name: string, answers: Hook['answers'], more: MutatingWebhook = {}): Hook => ({
  name: `${name}.example.com`,
  clientConfig: { url: `https://${name}` },
  rules: [{ apiGroups: [''], apiVersions: ['*'], operations: ['*'], resources: ['configmaps'] }],
  failurePolicy: 'Fail',
  sideEffects: 'None',
  timeoutSeconds: 10,
  admissionReviewVersions: ['v1'],
  ...more,
  answers,
})

export const patching = (...operations: object[]): Hook['answers'] =>
  responding({ allowed: true, patchType: 'JSONPatch', patch: btoa(JSON.stringify(operations)) })

export const allowing = responding({ allowed: true })

/** Creates a ConfigMap with `data: {a: b}`. */
export async function creating(type: 'mutating' | 'validating', hooks: Hook[], query = '') {
  const front = frontAnswering((called) => {
    const { hostname } = new URL(called.call.url)
    return hooks.find(({ clientConfig }) => clientConfig?.url === `https://${hostname}`)!.answers(called)
  })
  const server = memoryServer({ OUTGOING: front.binding })
  const webhooks = hooks.map(({ answers: _, ...webhook }) => webhook)
  await server.put('admissionregistration.k8s.io', `${type}webhookconfigurations`, {
    metadata: { name: 'configuration' },
    webhooks: webhooks as unknown as JsonObject[], // they are JSON
  })
  await server.put('', 'namespaces', {
    kind: 'Namespace',
    apiVersion: 'v1',
    metadata: { name: 'blue' },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  })
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, data: { a: 'b' } })
  const request = server.request(`/api/v1/namespaces/blue/configmaps${query}`, {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/json' },
  })
  const entry = (await servedResources(request)).find('', 'v1', 'configmaps')!
  const scope = resourceScope(request, entry, { name: '', subresource: '', namespace: 'blue' })
  const answer = await create(scope).then(
    async (response) => ({ object: (await response.json()) as any, status: undefined }),
    ({ status }: StatusError) => ({ object: undefined, status }),
  )
  const asked = front.calls.map(({ call, review }) => ({
    hook: new URL(call.url).hostname,
    data: review.request.object?.data,
    request: review.request,
    call,
  }))
  return { ...answer, warnings: request.warnings, asked }
}
