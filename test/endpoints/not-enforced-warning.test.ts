import { expect, test } from 'vitest'
import { create } from '../../src/endpoints/create.ts'
import { resourceScope } from '../../src/registry/scope.ts'
import { servedResources } from '../../src/registry/served.ts'
import { memoryServer } from '../request-in-memory.ts'

const QUOTAS = 'this server does not enforce resource quotas yet: usage is neither counted nor limited'

async function warningsOfCreate(target: string, object: object) {
  const server = memoryServer()
  await server.put('', 'namespaces', {
    kind: 'Namespace',
    apiVersion: 'v1',
    metadata: { name: 'blue' },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  })
  const headers = { 'Content-Type': 'application/json' }
  const request = server.request(target, { method: 'POST', body: JSON.stringify(object), headers })
  const entry = (await servedResources(request)).find('', 'v1', 'resourcequotas')!
  const scope = resourceScope(request, entry, { name: '', subresource: '', namespace: request.info.namespace })
  expect((await create(scope)).ok).toBe(true)
  return request.warnings
}

const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'a' }, spec: { hard: { pods: '1' } } }
const quotas = '/api/v1/namespaces/blue/resourcequotas'

test('what is kept and not enforced is answered with a Warning', async () => {
  expect(await warningsOfCreate(quotas, quota)).toEqual([QUOTAS])
})

test('a dry run keeps nothing, and warns of nothing', async () => {
  expect(await warningsOfCreate(`${quotas}?dryRun=All`, quota)).toEqual([])
})
