import { expect, test } from 'vitest'
import { create } from '../../src/endpoints/create.ts'
import { patch } from '../../src/endpoints/patch.ts'
import { resourceScope } from '../../src/endpoints/scope.ts'
import { servedResources } from '../../src/registry/served.ts'
import { memoryServer } from '../request-in-memory.ts'

const QUOTAS = 'this server does not enforce resource quotas yet: usage is neither counted nor limited'
const LABELS = 'this server does not enforce pod-security.kubernetes.io labels yet: pods that violate them are accepted'

async function warningsOf(target: string, resource: string, name: string, init: { method: string; body: object }) {
  const server = memoryServer()
  await server.put('', 'namespaces', {
    kind: 'Namespace',
    apiVersion: 'v1',
    metadata: { name: 'blue' },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  })
  const type = init.method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const body = JSON.stringify(init.body)
  const request = server.request(target, { method: init.method, body, headers: { 'Content-Type': type } })
  const entry = (await servedResources(request)).find('', 'v1', resource)!
  const scope = resourceScope(request, entry, { name, subresource: '', namespace: request.info.namespace })
  const response = await (init.method === 'POST' ? create(scope) : patch(scope))
  expect(response.ok).toBe(true)
  return request.warnings
}

const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'a' }, spec: { hard: { pods: '1' } } }
const labels = { 'pod-security.kubernetes.io/enforce': 'baseline' }
const quotas = '/api/v1/namespaces/blue/resourcequotas'

test('what is kept and not enforced is answered with a Warning', async () => {
  expect(await warningsOf(quotas, 'resourcequotas', '', { method: 'POST', body: quota })).toEqual([QUOTAS])
})

test('a dry run keeps nothing, and warns of nothing', async () => {
  expect(await warningsOf(`${quotas}?dryRun=All`, 'resourcequotas', '', { method: 'POST', body: quota })).toEqual([])
})

test('an update warns of what it adds', async () => {
  const body = { metadata: { labels } }
  expect(await warningsOf('/api/v1/namespaces/blue', 'namespaces', 'blue', { method: 'PATCH', body })).toEqual([LABELS])
  const other = { metadata: { labels: { a: 'b' } } }
  expect(await warningsOf('/api/v1/namespaces/blue', 'namespaces', 'blue', { method: 'PATCH', body: other })).toEqual(
    [],
  )
})
