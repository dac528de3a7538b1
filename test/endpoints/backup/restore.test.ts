// A restore is atomic: a control plane whose restore failed serves no requests until the restore is repeated.
import { createHash } from 'node:crypto'
import { SIMULATED } from '../../../src/api/simulated-node.ts'
import { platformClock } from '../../../src/base/clock.ts'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { Env } from '../../../src/env.ts'
import { serveRestore } from '../../../src/endpoints/backup/restore.ts'
import { writtenShards } from '../../../src/registry/served/written-types.ts'
import { builtInServed } from '../../../src/registry/served/built-in-served.ts'
import { NodePorts } from '../../../src/registry/core/services/node-ports.ts'
import { resourceScope } from '../../../src/registry/scope.ts'
import { lastRevisionAt } from '../../../src/storage/revisions/revision.ts'
import type { OutboxMessage } from '../../../src/storage/storage.ts'
import { answer, serve } from '../../../src/server.ts'
import { freshControlSnapshot } from '../../../src/tenancy/control-snapshot.ts'
import type { MemoryServer } from '../../request-in-memory.ts'
import { memoryServer } from '../../request-in-memory.ts'

const NAMESPACES = { group: '', resource: 'namespaces' }
const CONFIG_MAPS = { group: '', resource: 'configmaps' }
const TOKEN = 't'.repeat(32)
const TIME = '2026-01-01T00:00:00Z'

let server: MemoryServer
let work: OutboxMessage[]
let announced: unknown[]

beforeEach(async () => {
  work = []
  announced = []
  const controllers = {
    announceOwners: async (...call: unknown[]) => void announced.push(call),
    forget: async () => {},
  }
  const env = {
    CONTROLLERS: { getByName: () => controllers } as unknown as Env['CONTROLLERS'],
    KEDGE_ADMIN_TOKEN: TOKEN,
  }
  server = memoryServer(env, (one) => work.push(one))
  await freshControlSnapshot(server)
})

const text = (kind: string, apiVersion: string, metadata: object, rest: object = {}) =>
  JSON.stringify({ kind, apiVersion, metadata: { uid: 'u', creationTimestamp: TIME, ...metadata }, ...rest })

const namespace = (name: string, resourceVersion: number, metadata = {}) =>
  text(
    'Namespace',
    'v1',
    { name, resourceVersion: String(resourceVersion), ...metadata },
    { spec: { finalizers: ['kubernetes'] } },
  )

const configMap = (name: string, resourceVersion: number, metadata = {}) =>
  text('ConfigMap', 'v1', { name, namespace: 'shop', resourceVersion: String(resourceVersion), ...metadata })

const HEAD = JSON.stringify({ format: 'kedge-backup/1', revision: 1_000, time: TIME })
const section = ({ group, resource }: typeof NAMESPACES, ...objects: string[]) => [
  JSON.stringify({ group, resource, count: objects.length }),
  ...objects,
]
const end = (objects: number) => JSON.stringify({ end: true, objects })

const BACKUP = [
  HEAD,
  ...section(NAMESPACES, namespace('shop', 5)),
  ...section(CONFIG_MAPS, configMap('a', 6), configMap('b', 7)),
  end(3),
]

/** The backup with the digest that its last line has since there are digests. */
function digested(backup: readonly string[], objects: number): string[] {
  const before = backup.slice(0, -1)
  const hash = createHash('sha256')
  for (const line of before) hash.update(`${line}\n`)
  return [...before, JSON.stringify({ end: true, objects, sha256: hash.digest('hex') })]
}

const restore = (lines: readonly string[]): Promise<Response> =>
  serveRestore(
    server.request('/restore', { method: 'POST', body: lines.map((line) => `${line}\n`).join('') }),
    async () => {},
  )

const abandon = () => serveRestore(server.request('/restore?abandon=true', { method: 'POST' }), async () => {})

const namespaces = async () =>
  (await freshControlSnapshot(server)).list(NAMESPACES).map(({ metadata }) => metadata.name)

const ask = async (path: string) => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const execution = { waitUntil: () => {}, passThroughOnException: () => {} } as unknown as ExecutionContext
  return serve(
    new Request(`https://server${path}`, { headers: { Authorization: `Bearer ${TOKEN}` } }),
    rooted(),
    execution,
    platformClock,
  )
}

/** The environment of a Worker whose root control plane is the test's. */
const rooted = (): Env => ({ ...server.env, KEDGE_ROOT_TENANT: server.tenant.uid })

test('the server’s own objects are replaced, and the backup is served', async () => {
  expect(await (await restore(BACKUP)).json()).toEqual({ objects: 3, revision: '1000', time: TIME })
  expect(await namespaces()).toContain('shop')
  const { status } = await ask('/api/v1/namespaces/shop')
  expect(status).toBe(200)
})

test('a backup with a digest is served', async () => {
  expect(await (await restore(digested(BACKUP, 3))).json()).toEqual({ objects: 3, revision: '1000', time: TIME })
  expect(await namespaces()).toContain('shop')
})

test.each([
  ['the largest revision', Number.MAX_SAFE_INTEGER],
  ['two hours ahead', lastRevisionAt(platformClock() + 7_200_000)],
])('a backup of the future is refused, and nothing is touched: %s', async (_, revision) => {
  const head = JSON.stringify({ format: 'kedge-backup/1', revision, time: TIME })
  const refused = { code: 400, message: expect.stringMatching(/^the backup is of 2.* and this server's clock says 2/) }
  await expect(restore([head, ...BACKUP.slice(1)])).rejects.toMatchObject(refused)
  // no restore is under way
  expect(await namespaces()).not.toContain('shop')
})

test('a backup of a server whose clock is a little ahead is restored', async () => {
  const revision = lastRevisionAt(platformClock() + 60_000)
  const head = JSON.stringify({ format: 'kedge-backup/1', revision, time: TIME })
  expect((await restore([head, ...BACKUP.slice(1)])).status).toBe(200)
})

describe('a restore that fails', () => {
  test.each<[string, string[], string]>([
    [
      'in the middle of a line',
      [...BACKUP.slice(0, 4), '{"kind":"Conf'],
      'the backup is damaged: a line is no JSON object',
    ],
    ['before the end', BACKUP.slice(0, -1), 'the backup ends too early'],
    ['before the end of a resource', BACKUP.slice(0, -2), 'the backup ends too early'],
    ['at a wrong count', [...BACKUP.slice(0, -1), end(4)], 'the backup tells of 4 objects and has 3'],
    [
      'at an object that is missing',
      [...BACKUP.slice(0, 4), ...section(NAMESPACES, namespace('shop', 5)), end(3)],
      'the backup is damaged: {"group":"","resource":"namespaces","count":1} is no object',
    ],
    ...['null', '[]', '"text"'].map((metadata): [string, string[], string] => [
      `at an object whose metadata is ${metadata}`,
      [HEAD, ...section(NAMESPACES, `{"kind":"Namespace","metadata":${metadata}}`), end(1)],
      `the backup is damaged: {"kind":"Namespace","metadata":${metadata}} is no object`,
    ]),
    [
      'at an object without a version',
      [HEAD, ...section(NAMESPACES, text('Namespace', 'v1', { name: 'x' })), end(1)],
      'the backup is damaged: an object of namespaces has no resourceVersion',
    ],
    [
      'at an object of another type',
      [HEAD, ...section(NAMESPACES, text('Secret', 'v1', { name: 'x', resourceVersion: '5' })), end(1)],
      'the backup is damaged: an object of namespaces is of another kind',
    ],
    [
      'at a version that is newer than the backup',
      [HEAD, ...section(NAMESPACES, namespace('shop', 1_001)), end(1)],
      'the backup is damaged: an object of namespaces is newer than the backup',
    ],
    [
      'at a resource that nobody can define',
      [HEAD, ...section({ group: '', resource: 'nopes' }, '{}'), end(1)],
      'the backup holds nopes of group "", which this server does not serve',
    ],
    ...[0, 2, 4].map((at): [string, string[], string] => [
      `where line ${at} of the backup was changed`,
      digested(BACKUP, 3).map((line, index) => (index === at ? line.replace('26-01', '26-02') : line)),
      'the backup is damaged: its SHA-256 is not the one that its last line tells',
    ]),
    [
      'at an end whose digest has another name',
      [...BACKUP.slice(0, -1), '{"end":true,"objects":3,"sha257":"00"}'],
      'the backup is damaged: {"end":true,"objects":3,"sha257":"00"} is not its end',
    ],
    [
      'at an end whose digest is no text',
      [...BACKUP.slice(0, -1), '{"end":true,"objects":3,"sha256":1}'],
      'the backup is damaged: {"end":true,"objects":3,"sha256":1} is not its end',
    ],
    [
      'at an object that is there twice',
      [HEAD, ...section(CONFIG_MAPS, configMap('a', 6), configMap('a', 7)), end(2)],
      'the backup is damaged: an object of configmaps, or its resourceVersion, is there twice',
    ],
    [
      'at a version that is there twice',
      [HEAD, ...section(CONFIG_MAPS, configMap('a', 6), configMap('b', 6)), end(2)],
      'the backup is damaged: an object of configmaps, or its resourceVersion, is there twice',
    ],
    ['at a line behind the end', [...BACKUP, HEAD], 'the backup is damaged: lines follow its end'],
    ['where the backup broke off', [HEAD, '{"error":"Error: gone"}'], 'the backup was not finished: Error: gone'],
  ])('%s serves nothing, and is repeated', async (_, lines, message) => {
    await expect(restore(lines)).rejects.toMatchObject({
      code: 400,
      message: `${message}; nothing of the backup is served; restore a whole one, or give up with kedge restore --abandon`,
    })
    const refused = await ask('/api/v1/namespaces')
    expect(refused.status).toBe(503)
    expect(refused.headers.get('Retry-After')).toBe('5')
    expect(await refused.json()).toMatchObject({
      kind: 'Status',
      reason: 'ServiceUnavailable',
      message: expect.stringContaining('is being restored from a backup'),
    })
    await restore(BACKUP)
    expect(await namespaces()).toContain('shop')
  })

  test.each<[string, string, string, object, object]>([
    ['', 'configmaps', 'ConfigMap v1', { namespace: 'shop' }, { data: 5 }],
    ['apps', 'deployments', 'Deployment apps/v1', { namespace: 'shop' }, { spec: 5 }],
    [
      'rbac.authorization.k8s.io',
      'rolebindings',
      'RoleBinding rbac.authorization.k8s.io/v1',
      { namespace: 'shop' },
      { subjects: 5 },
    ],
    [
      'admissionregistration.k8s.io',
      'validatingwebhookconfigurations',
      'ValidatingWebhookConfiguration admissionregistration.k8s.io/v1',
      {},
      { webhooks: [5] },
    ],
    [
      'apiextensions.k8s.io',
      'customresourcedefinitions',
      'CustomResourceDefinition apiextensions.k8s.io/v1',
      {},
      { spec: { group: 'example.com', versions: 5 } },
    ],
  ])('at an object that would stop its readers: %s %s', async (group, resource, type, metadata, rest) => {
    const [kind = '', apiVersion = ''] = type.split(' ')
    const object = text(kind, apiVersion, { name: 'a', resourceVersion: '6', ...metadata }, rest)
    await expect(restore([HEAD, ...section({ group, resource }, object), end(1)])).rejects.toMatchObject({
      code: 400,
      message: expect.stringContaining(
        `the backup is damaged: an object of ${resource} does not read as one: json: cannot unmarshal number into Go`,
      ),
    })
    await restore(BACKUP)
    expect(await namespaces()).toContain('shop')
  })

  test('can be given up: the control plane is a new one', async () => {
    await expect(restore(BACKUP.slice(0, -1))).rejects.toThrow()
    await abandon()
    expect(await namespaces()).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system'])
    await expect(abandon()).rejects.toMatchObject({ code: 409 })
  })
})

test('an invalid backup locks nothing', async () => {
  await expect(restore(['{"hello":1}'])).rejects.toMatchObject({ code: 400 })
  expect(await namespaces()).toContain('default')
})

test.each<[string, object, string]>([
  ['that tells who wrote it', { managedFields: [{ manager: 'kubectl' }] }, 'kubectl'],
  ['that does not tell who wrote it', {}, 'somebody who left no name in its managedFields'],
])('an object %s is not replaced', async (_, metadata, writer) => {
  await server.put('', 'configmaps', { metadata: { name: 'mine', namespace: 'default', ...metadata } })
  await expect(restore(BACKUP)).rejects.toMatchObject({
    code: 409,
    message: `a backup is restored into an empty control plane, and here is configmaps "mine", written by ${writer}`,
  })
  expect(await namespaces()).toContain('default')
})

test.each<[which: string, labels: Record<string, string>, managers: readonly string[], writer: string | undefined]>([
  ['a simulated node that the start made', { [SIMULATED]: 'true' }, ['kedge-start', 'kubelet'], undefined],
  ['a node of a real kubelet', {}, ['kubelet'], 'kubelet'],
  ["a user's simulated node", { [SIMULATED]: 'true' }, ['kubectl', 'kubelet'], 'kubectl'],
])('whether a restore replaces %s, depends on who wrote it', async (_, labels, managers, writer) => {
  const managedFields = managers.map((manager) => ({ manager }))
  await server.put('', 'nodes', { metadata: { name: 'node-1', labels, managedFields } })
  if (writer === undefined) await restore(BACKUP)
  else await expect(restore(BACKUP)).rejects.toMatchObject({ message: expect.stringMatching(`written by ${writer}$`) })
  expect(await namespaces()).toContain(writer === undefined ? 'shop' : 'default')
})

test('node ports of restored Services are taken', async () => {
  const services = { group: '', resource: 'services' }
  const service = (name: string, resourceVersion: string, ...ports: number[]) =>
    text(
      'Service',
      'v1',
      { name, namespace: 'shop', resourceVersion },
      { spec: { type: 'NodePort', ports: ports.map((nodePort) => ({ name: `p${nodePort}`, port: 80, nodePort })) } },
    )
  const lines = [
    HEAD,
    ...section(NAMESPACES, namespace('shop', 5)),
    ...section(services, service('a', '6', 30_100, 30_101), service('b', '7', 30_100), service('c', '8', 0, 80)),
    end(4),
  ]
  await restore(lines)
  const request = server.request('/api/v1/namespaces/shop/services')
  const entry = builtInServed(server.env).resources.find('', 'v1', 'services')!
  const scope = resourceScope(request, entry, { name: '', subresource: '', namespace: 'shop' })
  const ports = new NodePorts(scope.strategyContext(false), 'shop/new')
  for (const port of [30_100, 30_101])
    await expect(ports.take(port)).rejects.toThrow('provided port is already allocated')
  await ports.take(30_102)
  await ports.release(30_101)
  await ports.take(30_101)
})

test('controllers begin with what the backup holds', async () => {
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid: 'o' }]
  const lines = [
    HEAD,
    ...section(NAMESPACES, namespace('shop', 5), namespace('old', 6, { deletionTimestamp: TIME })),
    ...section(CONFIG_MAPS, configMap('a', 7, { ownerReferences })),
    end(3),
  ]
  work.length = 0
  await restore(lines)
  expect(work.map(({ topic }) => topic)).toEqual(
    expect.arrayContaining(['service-account', 'root-ca-publisher', 'namespace', 'owned']),
  )
  expect(announced).toEqual([[{ group: '', resource: 'configmaps' }, ['Deployment.apps']]])
})

describe('a custom resource that a failed restore brought', () => {
  const DEFINITIONS = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }
  const WIDGETS = { group: 'example.com', resource: 'widgets' }
  const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }
  const conditions = [{ type: 'Established', status: 'True' }]
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }]
  const definition = text(
    'CustomResourceDefinition',
    'apiextensions.k8s.io/v1',
    { name: 'widgets.example.com', resourceVersion: '3' },
    {
      spec: { group: 'example.com', names, scope: 'Namespaced', versions },
      status: { conditions, acceptedNames: names },
    },
  )
  const widget = text('Widget', 'example.com/v1', { name: 'w', namespace: 'shop', resourceVersion: '4' })
  const failing = [HEAD, ...section(DEFINITIONS, definition), ...section(WIDGETS, widget)]
  const read = () => {
    const widgets = { tenant: server.tenant.uid, shard: 'widgets.example.com', prefix: 'widgets.example.com' }
    return server.storage.get(widgets, 'shop/w')
  }
  const written = async () => writtenShards(await freshControlSnapshot(server))

  beforeEach(async () => {
    await expect(restore(failing)).rejects.toMatchObject({ code: 400 })
  })

  test('is open again when another one does without it', async () => {
    await restore(BACKUP)
    expect(await read()).toBeUndefined()
    expect(await written()).not.toContain('widgets.example.com')
  })

  test('is locked until the other one is whole', async () => {
    const { promise: rest, resolve: send } = Promise.withResolvers<void>()
    const { promise: emptied, resolve: isEmptied } = Promise.withResolvers<void>()
    const bytes = (lines: readonly string[]) => new TextEncoder().encode(lines.map((line) => `${line}\n`).join(''))
    const [head, section] = [BACKUP.slice(0, 3), BACKUP.slice(3)]
    let pulls = 0
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          if (++pulls === 1) return controller.enqueue(bytes(head))
          isEmptied()
          await rest
          controller.enqueue(bytes(section))
          controller.close()
        },
      },
      { highWaterMark: 0 },
    )
    const init = { method: 'POST', body, duplex: 'half' }
    const restored = serveRestore(server.request('/restore', init), async () => {})
    await emptied
    await expect(read()).rejects.toMatchObject({ code: 'Restoring' })
    send()
    expect((await restored).status).toBe(200)
    expect(await read()).toBeUndefined()
  })

  test('is found by the restore after another one that fails, too', async () => {
    await expect(restore(BACKUP.slice(0, -1))).rejects.toMatchObject({ code: 400 })
    await restore(BACKUP)
    expect(await read()).toBeUndefined()
  })
})

describe('a request that was authorized before the restore', () => {
  /** A create whose body arrives when `send` is called. */
  function creating() {
    const { promise: sent, resolve: send } = Promise.withResolvers<void>()
    const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>()
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          isAsked()
          await sent
          controller.enqueue(new TextEncoder().encode(JSON.stringify({ metadata: { name: 'late' } })))
          controller.close()
        },
      },
      { highWaterMark: 0 },
    )
    const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' }
    const init = { method: 'POST', headers, body, duplex: 'half' }
    const answered = answer(server.request('/api/v1/namespaces/shop/configmaps', init))
    return { answered, asked, send }
  }

  test('writes nothing after it', async () => {
    const { answered, asked, send } = creating()
    await asked
    expect((await restore(BACKUP)).status).toBe(200)
    send()
    await expect(answered).rejects.toMatchObject({ status: { code: 503 } })
    const late = { tenant: server.tenant.uid, shard: 'configmaps', prefix: 'configmaps' }
    expect(await server.storage.get(late, 'shop/late')).toBeUndefined()
  })

  test('writes where there was no restore', async () => {
    await server.put('', 'namespaces', { metadata: { name: 'shop' }, status: { phase: 'Active' } })
    const { answered, asked, send } = creating()
    await asked
    server.now = new Date(server.now.getTime() + 60_000)
    send()
    expect((await answered).status).toBe(201)
  })
})
