import { expect, test, vi } from 'vitest'
import { okJson, RemoteDocuments } from '../../../src/endpoints/aggregation/remote-documents.ts'
import { memoryServer } from '../../request-in-memory.ts'

vi.mock('../../../src/outgoing/api-service.ts', async (original) => ({
  ...(await original<object>()),
  placeOfApiService: () => Promise.resolve({}),
  askApiService: ({ tenant }: { readonly tenant: { readonly uid: string } }) =>
    Promise.resolve({
      status: 200,
      headers: [],
      body: new Blob([JSON.stringify({ of: tenant.uid })]).stream(),
    }),
}))

// Objects that are restored from the backup of another control plane keep their UIDs.
test('APIServices of two control planes do not share documents, even with one UID', async () => {
  const documents = new RemoteDocuments<unknown>({ path: () => '/', accept: '', maxBytes: 1_000, read: okJson })
  const told: unknown[] = []
  const servers = [memoryServer(), memoryServer()]
  for (const server of servers) {
    await server.put('apiregistration.k8s.io', 'apiservices', {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1.metrics.example.com', uid: 'restored' },
      spec: { group: 'metrics.example.com', version: 'v1', service: { namespace: 'a', name: 's' } },
      status: { conditions: [{ type: 'Available', status: 'True' }] },
    })
    const [known] = await documents.known(server.request('/apis'))
    told.push(known?.value)
  }
  expect(told).toEqual(servers.map(({ tenant }) => ({ of: tenant.uid })))
})
