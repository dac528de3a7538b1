/**
 * The server runs the action that it has authorized. Requests with every method, prefix and path of every resource go
 * through the whole chain, and the authorizer and the handlers record them. The rules below do not use the tables of
 * the code.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import type { AuthorizationAttributes } from '../../src/authorization/attributes.ts'
import { StatusError } from '../../src/api/status.ts'
import type { Handler } from '../../src/endpoints/handlers.ts'
import { handlers } from '../../src/endpoints/handlers.ts'
import { builtInServing } from '../../src/registry/served/built-in-serving.ts'
import { customServing } from '../../src/registry/custom-resources/custom-serving.ts'
import type { RequestScope } from '../../src/registry/resource-scope.ts'
import type { ResourceEntry } from '../../src/registry/served/resources.ts'
import { servedResources } from '../../src/registry/served/served.ts'
import { answer, steps } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'

const TOKEN = 'an-administrator-whose-token-is-long-enough'
const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN, KEDGE_RUNTIME_CONFIG: 'api/all=true' })

interface Ran {
  readonly handler: string
  readonly scope: RequestScope
}

interface Outcome {
  readonly authorized: readonly AuthorizationAttributes[]
  readonly ran: readonly Ran[]
  readonly status: number
}

/** Resources of the core group with handlers of their own, outside the verbs. */
const ownHandlers: ReadonlyMap<string, string> = new Map([
  ['bindings', 'legacy-binding'],
  ['componentstatuses', 'component-statuses'],
  ['nodes/proxy', 'node-proxy'],
  ['pods/attach', 'exec'],
  ['pods/binding', 'pod-binding'],
  ['pods/eviction', 'eviction'],
  ['pods/exec', 'exec'],
  ['pods/log', 'log'],
  ['pods/portforward', 'port-forward'],
  ['pods/proxy', 'pod-proxy'],
  ['serviceaccounts/token', 'token'],
  ['services/proxy', 'service-proxy'],
])

async function send(method: string, path: string): Promise<Outcome> {
  const authorized: AuthorizationAttributes[] = []
  const ran: Ran[] = []
  const recording =
    (handler: string): Handler =>
    async (scope) => {
      ran.push({ handler, scope })
      return new Response(null)
    }
  const recordingAll = <Name extends string>(table: Readonly<Record<Name, Handler>>) =>
    Object.fromEntries(Object.keys(table).map((name) => [name, recording(name)])) as Record<Name, Handler>
  const request = server.request(path, { method, headers: { Authorization: `Bearer ${TOKEN}` } })
  try {
    const response = await answer(request, {
      authorize: (plane, asked) => {
        authorized.push(asked)
        return steps.authorize(plane, asked)
      },
      handlers: {
        verbs: recordingAll(handlers.verbs),
        endpoints: recordingAll(handlers.endpoints),
      },
    })
    return { authorized, ran, status: response.status }
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return { authorized, ran, status: error.code }
  }
}

const definition = (plural: string, scope: string) => {
  const names = { plural, singular: plural.slice(0, -1), kind: plural.slice(0, -1), listKind: `${plural}List` }
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
  const schema = { openAPIV3Schema: { type: 'object' } }
  const version = { name: 'v1', served: true, storage: true, schema, subresources: { status: {}, scale } }
  return {
    metadata: { name: `${plural}.example.com`, generation: 1 },
    spec: { group: 'example.com', scope, names, versions: [version] },
    status: {
      acceptedNames: names,
      storedVersions: ['v1'],
      conditions: ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' })),
    },
  }
}

let resources: readonly ResourceEntry[]
beforeAll(async () => {
  for (const one of [definition('things', 'Namespaced'), definition('wholes', 'Cluster')])
    await server.put('apiextensions.k8s.io', 'customresourcedefinitions', one)
  resources = (await servedResources(server)).resources
})

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const PREFIXES = ['', 'watch', 'proxy'] as const

interface Place {
  /** The namespace segment before the resource. */
  readonly within: string
  readonly name: string
  readonly subresource: string
  readonly deeper: string
}

/** Each with and without a namespace, so that half of them do not fit the resource's scope. */
function* placesOf({ subresources }: ResourceEntry): Generator<Place> {
  for (const within of ['', 'foo', 'bar']) {
    yield { within, name: '', subresource: '', deeper: '' }
    yield { within, name: 'bar', subresource: '', deeper: '' }
    for (const subresource of [...subresources.map(({ name }) => name), 'status', 'proxy', 'nothing'])
      for (const deeper of ['', '/a/b']) yield { within, name: 'bar', subresource, deeper }
  }
}

function pathOf({ group, version, resource }: ResourceEntry, prefix: string, place: Place): string {
  const parts = [prefix, ...(place.within === '' ? [] : ['namespaces', place.within]), resource]
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const at = [...parts, place.name, place.subresource].filter((part) => part !== '').join('/')
  return `${root}/${at}${place.deeper}`
}

const METHOD_VERBS: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
  OPTIONS: '',
}

/** The verb that follows from the method and the path alone. */
function verbOf(method: string, prefix: string, { name }: Place): string {
  if (prefix !== '') return prefix
  const verb = METHOD_VERBS[method]!
  if (name !== '') return verb
  return verb === 'get' ? 'list' : verb === 'delete' ? 'deletecollection' : verb
}

/** Whether the resource serves the verb at this path. */
function isPlaceOf(entry: ResourceEntry, { within, name, subresource }: Place, verb: string): boolean {
  if (!entry.namespaced) return within === ''
  if (within !== '') return true
  return (verb === 'list' || verb === 'watch') && subresource === '' && (name === '' || entry.serving === customServing)
}

test('for every method, prefix and path the server runs the action that it has authorized', async () => {
  let sent = 0
  let run = 0
  for (const entry of resources)
    for (const prefix of PREFIXES)
      for (const place of placesOf(entry))
        for (const method of METHODS) {
          const path = pathOf(entry, prefix, place)
          const { authorized, ran, status } = await send(method, path)
          sent++
          const line = `${method} ${path}`
          expect(authorized, line).toHaveLength(1)
          if (ran.length === 0) {
            expect(status, line).toBeGreaterThanOrEqual(400)
            expect(status, line).toBeLessThan(500)
            continue
          }
          run++
          const [{ handler, scope } = unreachable()] = ran
          const [asked = unreachable()] = authorized
          const verb = verbOf(method, prefix, place)
          expect(ran, line).toHaveLength(1)
          expect(asked, line).toMatchObject({
            verb,
            apiGroup: entry.group,
            apiVersion: entry.version,
            resource: entry.resource,
            subresource: place.subresource,
            name: place.name,
          })
          expect(isPlaceOf(entry, place, verb), line).toBe(true)
          const isNamespace = entry.group === '' && entry.resource === 'namespaces'
          expect(asked.namespace, line).toBe(isNamespace ? place.name : place.within)
          expect(scope, line).toMatchObject({
            resource: { entry },
            place: {
              name: place.name,
              subresource: place.subresource,
              namespace: entry.namespaced ? place.within : '',
            },
            collection: { tenant: server.tenant.uid, prefix: expect.stringContaining(entry.storage.resource) },
          })
          const text = place.subresource === '' ? entry.resource : `${entry.resource}/${place.subresource}`
          expect(handler, line).toBe((entry.group === '' ? ownHandlers.get(text) : undefined) ?? verb)
          expect(prefix, line).not.toBe('proxy')
          if (prefix === 'watch') expect(handler, line).toBe('watch')
          if (prefix === 'watch' && entry.serving === builtInServing) expect(method, line).toBe('GET')
        }
  // the matrix is not empty by mistake
  expect(sent).toBeGreaterThan(30_000)
  expect(run).toBeGreaterThan(1_000)
}, 120_000)

const unreachable = (): never => {
  throw new Error('nothing was recorded')
}

describe('how a place that is not served is refused', () => {
  test.each<[string, number]>([
    ['GET /api/v1/watch/configmaps', 200],
    ['POST /api/v1/watch/namespaces/foo/configmaps', 405],
    ['DELETE /api/v1/watch/namespaces/foo/configmaps', 405],
    ['PUT /api/v1/watch/namespaces/foo/configmaps/x', 405],
    ['HEAD /api/v1/watch/configmaps', 405],
    ['POST /api/v1/watch/namespaces/foo/serviceaccounts/x/token', 404],
    ['GET /api/v1/watch/namespaces/foo/pods/x/status', 404],
    ['GET /api/v1/watch/bindings', 404],
    ['GET /api/v1/watch/pods/x', 404],
    ['GET /api/v1/proxy/namespaces/foo/pods/x', 404],
    ['GET /api/v1/namespaces/foo/namespaces/bar', 404],
    ['PUT /api/v1/namespaces/foo/namespaces/bar/finalize', 404],
    ['DELETE /api/v1/namespaces/foo/namespaces/foo', 404],
    ['GET /api/v1/namespaces/foo/namespaces', 404],
    ['DELETE /apis/rbac.authorization.k8s.io/v1/namespaces/foo/clusterroles/x', 404],
    ['GET /api/v1/pods/x', 404],
    ['POST /api/v1/pods', 405],
    ['GET /api/v1/componentstatuses?watch=true', 405],
    // custom resources dispatch by the verb
    ['DELETE /apis/example.com/v1/watch/namespaces/foo/things', 200],
    ['POST /apis/example.com/v1/watch/namespaces/foo/things/x/status', 405],
    ['GET /apis/example.com/v1/proxy/namespaces/foo/things/x', 405],
    ['GET /apis/example.com/v1/proxy/things/x', 404],
    ['GET /apis/example.com/v1/namespaces/foo/wholes/x', 404],
    ['GET /apis/example.com/v1/things/x', 404],
    ['PUT /apis/example.com/v1/namespaces/foo/things', 400],
    // its handler refuses it, after its media type
    ['PATCH /apis/example.com/v1/namespaces/foo/things', 200],
  ])('%s: %i', async (line, code) => {
    const [method = '', path = ''] = line.split(' ')
    const { status, ran } = await send(method, path)
    expect(status).toBe(code)
    expect(ran).toHaveLength(code === 200 ? 1 : 0)
  })

  test('a selector of one name is authorized as that name, unless the path makes the watch', async () => {
    const selector = '?fieldSelector=type%3DOpaque,metadata.name%3Da'
    const nameOf = async (path: string) => (await send('GET', `${path}${selector}`)).authorized[0]?.name
    expect(await nameOf('/api/v1/namespaces/foo/secrets')).toBe('a')
    expect(await nameOf('/api/v1/watch/namespaces/foo/secrets')).toBe('')
  })
})

describe('a custom resource is created at the path of one', () => {
  const at = '/apis/example.com/v1/namespaces/default/things/x'
  test.each([
    ['whose name it has', { name: 'x' }, undefined],
    ['whose name it does not have', { name: 'y' }, 'the name of the object (y) does not match the name on the URL (x)'],
    ['without a name', { generateName: 'x-' }, 'name must be provided'],
    ['in another namespace', { name: 'x', namespace: 'foo' }, 'does not match the namespace sent on the request'],
  ])('%s', async (_, metadata, refusal) => {
    const body = JSON.stringify({ apiVersion: 'example.com/v1', kind: 'thing', metadata })
    const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' }
    const created = answer(server.request(at, { method: 'POST', headers, body }))
    if (refusal === undefined) expect((await created).status).toBe(201)
    else await expect(created).rejects.toThrow(refusal)
  })
})

// kube-apiserver answers the same; one that lists in all namespaces is not asked about one of them
test.each([
  ['/api/v1/namespaces//pods', '', 'pods', 'list', 'list'],
  ['/apis/apps/v1/namespaces//deployments', 'apps', 'deployments', 'list', 'list'],
  ['/api/v1/watch/namespaces//pods', '', 'pods', 'watch', 'watch'],
])('an empty namespace in %s stands for all', async (path, apiGroup, resource, verb, handler) => {
  const { authorized, ran } = await send('GET', path)
  expect(authorized).toMatchObject([{ verb, apiGroup, resource, namespace: '', name: '' }])
  expect(ran).toMatchObject([{ handler }])
  expect(ran[0]?.scope.request.info.namespace).toBe('')
})

// kube-apiserver refuses a name without a namespace only once it looks for the object: there is such a path
test.each([
  ['POST', '/api/v1/namespaces//pods', 405],
  ['DELETE', '/api/v1/namespaces//pods', 405],
  ['GET', '/api/v1/namespaces//pods/a', 400],
  ['GET', '/api/v1/namespaces//pods/a/log', 400],
  ['GET', '/api/v1/namespaces//pods/a/nothing', 404],
  ['GET', '/api/v1/pods/a', 404],
  ['PUT', '/api/v1/namespaces//pods/a', 400],
  ['PATCH', '/apis/apps/v1/namespaces//deployments/a/status', 400],
  ['DELETE', '/api/v1/namespaces//pods/a', 400],
  ['POST', '/api/v1/namespaces//pods/a', 405],
  ['POST', '/api/v1/watch/namespaces//pods/a', 405],
  ['GET', '/api/v1/watch/namespaces//nodes/a', 404],
  ['GET', '/api/v1/namespaces//nodes/a', 404],
  ['GET', '/api/v1/namespaces//nodes', 404],
  ['GET', '/api/v1/namespaces//default', 404],
  ['GET', '/apis/example.com/v1/namespaces//things/a', 404],
  ['GET', '/api/v1/namespaces//status', 400],
  ['PUT', '/api/v1/namespaces//finalize', 400],
  ['GET', '/api/v1/namespaces//finalize', 405],
  ['GET', '/api/v1/namespaces//status/a', 404],
  ['GET', '/api/v1/namespaces//pods//status', 400],
  ['GET', '/api/v1/namespaces/foo/pods//status', 400],
  ['PATCH', '/apis/apps/v1/namespaces/foo/deployments//scale', 400],
  ['POST', '/api/v1/namespaces/foo/serviceaccounts//token', 400],
  ['GET', '/api/v1/namespaces/foo/serviceaccounts//token', 405],
  ['GET', '/api/v1/namespaces/foo/pods//log', 400],
  ['GET', '/api/v1/namespaces/foo/pods//nothing', 404],
  ['GET', '/api/v1/namespaces/foo/services//proxy/a', 400],
  ['OPTIONS', '/api/v1/nodes//proxy', 400],
  ['DELETE', '/api/v1/nodes//status', 405],
  ['GET', '/api/v1/nodes//status//a', 404],
  ['GET', '/api/v1//nodes', 404],
  ['GET', '/apis/example.com/v1/namespaces/foo/things//status', 405],
  ['PUT', '/apis/example.com/v1/namespaces/foo/things//status', 400],
])('nothing is written or named where the namespace or name is empty: %s %s is %i', async (method, path, status) => {
  const outcome = await send(method, path)
  expect(outcome).toMatchObject({ ran: [], status })
  expect(outcome.authorized).toHaveLength(1)
})
