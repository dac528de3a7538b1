// The status of a Service shows the Service as it is stored.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { JsonObject, KubeObject } from '../../src/api/object.ts'
import { answer } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'

const TOKEN = 'a-token-of-thirty-two-characters'

beforeEach(() => {
  vi.stubGlobal('IdentityTransformStream', TransformStream) // workerd has it, Node does not
})
afterEach(() => {
  vi.unstubAllGlobals()
})

test('a Service that became external shows its internal traffic policy in its status only', async () => {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
  await server.put('', 'namespaces', { metadata: { name: 'default' } } as KubeObject & JsonObject)
  await server.put('', 'services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'a', namespace: 'default', uid: 'u' },
    spec: { type: 'ExternalName', externalName: 'a.b', sessionAffinity: 'None', internalTrafficPolicy: 'Cluster' },
  } as unknown as KubeObject & JsonObject)
  const policy = async (method: string, subresource: string) => {
    const request = server.request(`/api/v1/namespaces/default/services/a${subresource}`, {
      method,
      headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/merge-patch+json' },
      ...(method === 'PATCH' && { body: '{"metadata":{"labels":{"a":"b"}}}' }),
    })
    const response = await answer(request)
    expect(response.status).toBe(200)
    return (await response.json<{ spec: { internalTrafficPolicy?: string } }>()).spec.internalTrafficPolicy
  }
  expect(await policy('GET', '/status')).toBe('Cluster')
  expect(await policy('PATCH', '/status')).toBe('Cluster')
  expect(await policy('GET', '')).toBeUndefined()
  expect(await policy('PATCH', '')).toBeUndefined()
})
