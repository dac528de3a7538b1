import { beforeEach, expect, test, vi } from 'vitest'
import { aggregatedResources, remoteDiscovery } from '../../../src/endpoints/aggregation/remote-discovery.ts'
import { eventually } from '../../eventually.ts'
import type { MemoryServer } from '../../request-in-memory.ts'
import { memoryServer } from '../../request-in-memory.ts'

interface Answer {
  readonly status?: number
  readonly type?: string
  readonly text: string
}
const NOT_FOUND: Answer = { status: 404, text: '404 page not found' }
const answers = new Map<string, Answer>()
const asked: string[] = []
let available = true

vi.mock('../../../src/outgoing/api-service.ts', async (original) => ({
  ...(await original<object>()),
  isAvailable: () => available,
  placeOfApiService: () => Promise.resolve({}),
  askApiService: (
    _plane: object,
    _service: object,
    _place: object,
    { target, headers }: { readonly target: string; readonly headers: readonly (readonly [string, string])[] },
  ) => {
    asked.push(`${target} ${headers.map(([, value]) => value).join(' ')}`)
    const { status = 200, type = 'application/json', text } = answers.get(target) ?? NOT_FOUND
    return Promise.resolve({ status, headers: [['Content-Type', type]], body: new Blob([text]).stream() })
  },
}))

beforeEach(() => {
  answers.clear()
  asked.length = 0
  available = true
})

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const flunder = (apiGroup: string) => ({
  resource: 'flunders',
  responseKind: { group: apiGroup, version: 'v1', kind: 'Flunder' },
  scope: 'Namespaced',
  singularResource: 'flunder',
  verbs: ['get'],
  subresources: [
    {
      subresource: 'status',
      responseKind: { group: apiGroup, version: 'v1', kind: 'Flunder' },
      acceptedTypes: [{ group: 'policy', version: 'v1', kind: 'Eviction' }],
      verbs: ['update'],
    },
  ],
})
const groups = (items: readonly object[]) =>
  JSON.stringify({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items })
const own = (resources: readonly object[]) =>
  groups([
    { metadata: { name: 'other.example.com' }, versions: [{ version: 'v1', resources: [{ resource: 'others' }] }] },
    {
      metadata: { name: 'a.example.com' },
      versions: [{ version: 'v2' }, { version: 'v1', resources, freshness: 'Stale' }],
    },
  ])

async function serverBehind(): Promise<MemoryServer> {
  const server = memoryServer()
  await server.put('apiregistration.k8s.io', 'apiservices', {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1.a.example.com', uid: 'a' },
    spec: { group: 'a.example.com', version: 'v1', service: { namespace: 'a', name: 's' } },
  })
  return server
}

async function told(server?: MemoryServer) {
  const request = (server ?? (await serverBehind())).request('/apis')
  return (await remoteDiscovery(request)).versions.get('a.example.com/v1')
}

test('the aggregated document of a server says what its resources are', async () => {
  answers.set('/apis', {
    type: AGGREGATED,
    text: own([{ ...flunder('a.example.com'), unknown: 1 }, { resource: 'b' }]),
  })
  expect(await told()).toEqual({
    resources: [
      flunder('a.example.com'),
      {
        resource: 'b',
        responseKind: { group: '', version: '', kind: '' },
        scope: '',
        singularResource: '',
        verbs: null,
      },
    ],
    isCurrent: true,
  })
  expect(asked).toEqual([`/apis ${AGGREGATED},${AGGREGATED.replace('v=v2', 'v=v2beta1')}`])
})

test('a version that the aggregated document does not have has no resources', async () => {
  answers.set('/apis', { type: AGGREGATED, text: groups([]) })
  expect(await told()).toEqual({ resources: [], isCurrent: true })
})

test.each([
  ['knows no /apis', NOT_FOUND],
  ['has the unaggregated form alone', { text: '{"kind":"APIGroupList","groups":[]}' }],
  ['has a longer document than may be read', { type: AGGREGATED, text: ' '.repeat(1 << 21) }],
])('of a server that %s the list of the version is asked for', async (_, answer) => {
  answers.set('/apis', answer)
  answers.set('/apis/a.example.com/v1', { text: JSON.stringify({ resources: [{ name: 'b', kind: 'B' }] }) })
  expect((await told())?.resources).toMatchObject([
    { resource: 'b', responseKind: { group: '', version: '', kind: 'B' } },
  ])
  expect(asked).toHaveLength(2)
})

test.each([
  ['is not there', { status: 503, text: '' }],
  ['answers with something else', { type: AGGREGATED, text: '{"items":1}' }],
])('of a server that %s nothing is known', async (_, answer) => {
  answers.set('/apis', answer)
  answers.set('/apis/a.example.com/v1', { text: JSON.stringify({ resources: [{ name: 'b' }] }) })
  expect(await told()).toEqual({ resources: [], isCurrent: false })
  expect(asked).toHaveLength(1)
})

test('a server that answers is current, even if its APIService is not available', async () => {
  answers.set('/apis', { type: AGGREGATED, text: own([flunder('a.example.com')]) })
  const server = await serverBehind()
  available = false
  // nobody waits for it
  expect(await told(server)).toEqual({ resources: [], isCurrent: false })
  await eventually(async () => expect(await told(server)).toMatchObject({ isCurrent: true }))
})

test('a server that has become unavailable is stale until it answers', async () => {
  answers.set('/apis', { type: AGGREGATED, text: own([flunder('a.example.com')]) })
  const server = await serverBehind()
  expect(await told(server)).toMatchObject({ isCurrent: true })
  available = false
  answers.set('/apis', { status: 503, text: '' })
  const stale = { resources: [flunder('a.example.com')], isCurrent: false }
  expect(await told(server)).toEqual(stale)
  await eventually(() => Promise.resolve(expect(asked).toHaveLength(2)))
  expect(await told(server)).toEqual(stale)
  expect(asked).toHaveLength(2)
})

test('discovery lists subresources under their resource, even if the resource itself is not listed', () => {
  const flunders = { name: 'flunders', singularName: 'flunder', namespaced: true, kind: 'Flunder', verbs: ['get'] }
  expect(
    aggregatedResources([
      { name: 'pods/eviction', namespaced: true, group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] },
      { ...flunders, shortNames: ['fl'] },
      { name: 'flunders/status', namespaced: true, kind: 'Flunder', verbs: ['update'] },
    ]),
  ).toEqual([
    {
      resource: 'flunders',
      responseKind: { group: '', version: '', kind: 'Flunder' },
      scope: 'Namespaced',
      singularResource: 'flunder',
      verbs: ['get'],
      shortNames: ['fl'],
      subresources: [
        { subresource: 'status', responseKind: { group: '', version: '', kind: 'Flunder' }, verbs: ['update'] },
      ],
    },
    {
      resource: 'pods',
      responseKind: { group: '', version: '', kind: '' },
      scope: 'Namespaced',
      singularResource: '',
      verbs: null,
      subresources: [
        {
          subresource: 'eviction',
          responseKind: { group: 'policy', version: 'v1', kind: 'Eviction' },
          verbs: ['create'],
        },
      ],
    },
  ])
})

test('a resource and its subresources have one scope', () => {
  expect(() => aggregatedResources([{ name: 'a', namespaced: true }, { name: 'a/status' }])).toThrow('different scopes')
})
