import { expect, test, vi } from 'vitest'
import { okJson, RemoteDocuments, remoteServices } from '../../../src/endpoints/aggregation/remote-documents.ts'
import { memoryServer } from '../../request-in-memory.ts'

const asked = vi.fn((uid: string, _target: string): string | Promise<string> => JSON.stringify({ of: uid }))

vi.mock('../../../src/outgoing/api-service.ts', async (original) => ({
  ...(await original<object>()),
  placeOfApiService: () => Promise.resolve({}),
  askApiService: async (
    { tenant }: { readonly tenant: { readonly uid: string } },
    _service: object,
    _place: object,
    { target }: { readonly target: string },
  ) => ({ status: 200, headers: [], body: new Blob([await asked(tenant.uid, target)]).stream() }),
}))

const apiService = (group: string, uid: string) => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: `v1.${group}`, uid },
  spec: { group, version: 'v1', service: { namespace: 'a', name: 's' } },
  status: { conditions: [{ type: 'Available', status: 'True' }] },
})

// Objects that are restored from the backup of another control plane keep their UIDs.
test('APIServices of two control planes do not share documents, even with one UID', async () => {
  const documents = new RemoteDocuments<unknown>({
    path: () => '/',
    accept: '',
    maxBytes: 1_000,
    mostKept: 1_000,
    read: okJson,
  })
  const told: unknown[] = []
  const servers = [memoryServer(), memoryServer()]
  for (const server of servers) {
    await server.put('apiregistration.k8s.io', 'apiservices', apiService('metrics.example.com', 'restored'))
    const [known] = await documents.known(server.request('/apis'))
    told.push(known?.value)
  }
  expect(told).toEqual(servers.map(({ tenant }) => ({ of: tenant.uid })))
})

test('a server is asked once, however many requests need its document', async () => {
  const documents = new RemoteDocuments<unknown>({
    path: () => '/',
    accept: '',
    maxBytes: 1_000,
    mostKept: 1_000,
    read: okJson,
  })
  const server = memoryServer()
  await server.put('apiregistration.k8s.io', 'apiservices', apiService('metrics.example.com', 'one'))
  asked.mockClear()
  const told = await Promise.all(Array.from({ length: 20 }, () => documents.known(server.request('/apis'))))
  expect(asked).toHaveBeenCalledOnce()
  for (const [known] of told) expect(known?.value).toEqual({ of: server.tenant.uid })
})

test('a server that does not answer is asked again after a while', async () => {
  const documents = new RemoteDocuments<unknown>({
    path: () => '/',
    accept: '',
    maxBytes: 1_000,
    mostKept: 1_000,
    read: okJson,
  })
  const server = memoryServer()
  await server.put('apiregistration.k8s.io', 'apiservices', apiService('metrics.example.com', 'one'))
  asked.mockClear()
  asked.mockImplementationOnce(() => new Promise(() => {}))
  expect((await documents.known(server.request('/apis')))[0]?.value).toBeUndefined()
  server.now = new Date(server.now.getTime() + 15_000)
  expect((await documents.known(server.request('/apis')))[0]?.value).toEqual({ of: server.tenant.uid })
  expect(asked).toHaveBeenCalledTimes(2)
})

test('long documents of one control plane are read and parsed one at a time', async () => {
  let parsed = 0
  let most = 0
  const documents = new RemoteDocuments<number>({
    path: ({ spec }) => `/${spec?.group}`,
    accept: '',
    maxBytes: 12 << 20,
    mostKept: 12 << 20,
    async read({ text }) {
      most = Math.max(most, ++parsed)
      await new Promise((resolve) => setTimeout(resolve, 5))
      parsed--
      return text.length
    },
  })
  const server = memoryServer()
  const groups = ['a.example.com', 'b.example.com', 'c.example.com']
  for (const group of groups) await server.put('apiregistration.k8s.io', 'apiservices', apiService(group, group))
  asked.mockImplementation(() => 'x'.repeat(200_000))
  const known = await documents.known(server.request('/apis'))
  expect(known.map(({ value }) => value)).toEqual([200_000, 200_000, 200_000])
  expect(most).toBe(1)
})

test('of more documents than may be kept those are kept that were used last', async () => {
  const documents = new RemoteDocuments<unknown>({
    path: ({ spec }) => `/${spec?.group}`,
    accept: '',
    maxBytes: 1_000,
    mostKept: 1_000,
    read: ({ text }) => text.length,
  })
  const server = memoryServer()
  const groups = ['a.example.com', 'b.example.com', 'c.example.com']
  for (const group of groups) await server.put('apiregistration.k8s.io', 'apiservices', apiService(group, group))
  const services = await remoteServices(server.request('/apis'))
  asked.mockImplementation(() => 'x'.repeat(400))
  for (const service of services) await documents.known(server.request('/apis'), [service])
  asked.mockClear()
  for (const service of services.toReversed()) await documents.known(server.request('/apis'), [service])
  expect(asked.mock.calls.map(([, target]) => target)).toEqual(['/a.example.com'])
})

test('a document of many values is not parsed: each takes many times its text', async () => {
  const of = (count: number) => ({ status: 200, headers: new Headers(), text: `[${'[],'.repeat(count)}0]` })
  expect(await okJson(of(1_000))).toHaveLength(1_001)
  await expect(okJson(of(1_000_000))).rejects.toThrow('the answer has more than 600000 values')
})
