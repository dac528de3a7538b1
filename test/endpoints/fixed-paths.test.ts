import { platformClock } from '../../src/base/clock.ts'
import { describe, expect, test, vi } from 'vitest'
import { parseCbor } from '../../src/codec/cbor/decode.ts'
import { respondStatus } from '../../src/codec/respond.ts'
import { serveFixedPath } from '../../src/endpoints/fixed-paths.ts'
import type { Env } from '../../src/env.ts'
import { plainJson } from '../../src/json/json.ts'
import { builtInServed } from '../../src/registry/served/built-in-served.ts'
import { servedResources } from '../../src/registry/served/served.ts'
import { receive } from '../../src/request/receive.ts'

// nothing here reaches storage
vi.mock(import('../../src/registry/served/served.ts'), async (original) => {
  const served = await original()
  const resources = async ({ env }: { readonly env: Env }) => builtInServed(env).resources
  return { ...served, servedResources: resources, freshServedResources: resources }
})

const env = { KEDGE_ADVERTISE: 'api.example.com:6443' } as unknown as Env
vi.mock(import('../../src/tenancy/control-snapshot.ts'), async (original) => {
  const snapshots = await original()
  return { ...snapshots, controlSnapshot: async () => snapshots.SnapshotData.empty }
})

const execution = { waitUntil: () => {} } as unknown as ExecutionContext

async function ask(
  method: string,
  target: string,
  headers: Record<string, string> = {},
  on = env,
): Promise<Response | undefined> {
  const request = new Request('http://localhost/', { method, headers })
  Object.defineProperty(request, 'url', { value: `http://localhost${target}` }) // not normalized, as in workerd
  const received = receive(request, on, execution, platformClock, builtInServed(on).resources.isBuiltInGroup)
  if (received instanceof Response) return received
  try {
    return await serveFixedPath(received, await servedResources(received))
  } catch (error) {
    return respondStatus(received, error)
  }
}

const TEXT = 'text/plain; charset=utf-8'
const JSON_TYPE = 'application/json'

describe('which paths there are', () => {
  test.each<[method: string, target: string, status: number, type: string | null, start: string]>([
    ['GET', '/', 200, JSON_TYPE, '{\n  "paths"'],
    ['DELETE', '/index.html', 200, JSON_TYPE, '{\n  "paths"'],
    ['GET', '/index.html/', 404, TEXT, '404 page not found\n'],
    ['GET', '/api', 200, JSON_TYPE, '{"kind":"APIVersions","versions":["v1"]'],
    ['GET', '/api/', 200, JSON_TYPE, '{"kind":"APIVersions"'],
    ['GET', '/api///', 200, JSON_TYPE, '{"kind":"APIVersions"'],
    ['POST', '/api//', 405, JSON_TYPE, '{"kind":"Status"'],
    ['GET', '/apis//', 404, TEXT, '404 page not found\n'],
    ['POST', '/api', 405, JSON_TYPE, '{"kind":"Status"'],
    ['GET', '/api/v2', 404, JSON_TYPE, '{"kind":"Status"'],
    ['GET', '/API', 404, TEXT, '404 page not found\n'],
    ['GET', '/api/v1', 200, JSON_TYPE, '{"kind":"APIResourceList","groupVersion":"v1"'],
    ['OPTIONS', '/api/v1/', 405, JSON_TYPE, '{"kind":"Status"'],
    ['GET', '/api/v1//pods', 404, JSON_TYPE, '{"kind":"Status"'],
    ['GET', '//api/v1/pods', 404, TEXT, '404 page not found\n'],
    ['GET', '/api/v1/watch', 500, TEXT, 'Internal Server Error: "/api/v1/watch": failed to create RequestInfo'],
    ['PATCH', '/apis', 200, JSON_TYPE, '{"kind":"APIGroupList","apiVersion":"v1"'],
    ['PUT', '/apis/apps', 200, JSON_TYPE, '{"kind":"APIGroup","apiVersion":"v1","name":"apps"'],
    ['GET', '/apis/apps///', 200, JSON_TYPE, '{"kind":"APIGroup","apiVersion":"v1","name":"apps"'],
    ['GET', '/apis/nosuch.example.com//', 404, TEXT, '404 page not found\n'],
    ['PUT', '/apis/apiregistration.k8s.io', 405, JSON_TYPE, '{"kind":"Status"'],
    ['GET', '/apis/apps%2Fv1', 200, JSON_TYPE, '{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps/v1"'],
    ['GET', '/apis/apps/v9', 404, JSON_TYPE, '{"kind":"Status"'],
    ['GET', '/apis/nosuch.example.com/v1', 404, TEXT, '404 page not found\n'],
    ['GET', '/apis/internal.apiserver.k8s.io', 404, TEXT, '404 page not found\n'],
    ['GET', '/version', 200, JSON_TYPE, '{\n  "major": "1"'],
    ['GET', '/version/nosuch', 404, JSON_TYPE, '{"kind":"Status"'],
    ['GET', '/healthz/', 404, TEXT, '404 page not found\n'],
    ['POST', '/livez/ping', 200, TEXT, 'ok'],
    ['GET', '/readyz/shutdown', 200, TEXT, 'ok'],
    ['GET', '/livez/shutdown', 404, TEXT, '404 page not found\n'],
    ['GET', '/metrics', 200, `text/plain; version=0.0.4; charset=utf-8; escaping=underscores`, '# HELP '],
    ['GET', '/metrics/', 404, TEXT, '404 page not found\n'],
    ['GET', '/openapi/v3', 200, TEXT, '{"paths":{".well-known/openid-configuration"'],
    ['GET', '/openapi/v3/version', 200, JSON_TYPE, '{"openapi":"3.0.0"'],
    ['GET', '/openapi/v3/nosuch', 404, null, ''],
    ['GET', '/openapi/v3/version?hash=wrong', 301, JSON_TYPE, ''],
    ['GET', '/.well-known/openid-configuration', 200, JSON_TYPE, '{"issuer":"https://kubernetes.default.svc'],
    ['HEAD', '/openid/v1/jwks', 405, JSON_TYPE, ''],
    ['GET', '/statusz', 200, TEXT, '\napiserver statusz\n'],
    ['GET', '/flagz', 200, TEXT, '\napiserver flagz\n'],
    ['GET', '/debug/pprof', 302, 'text/html; charset=utf-8', '<a href'],
    ['GET', '/nosuch', 404, TEXT, '404 page not found\n'],
    ['GET', '/api/v1?timeout=', 200, JSON_TYPE, '{"kind":"APIResourceList"'],
  ])('%s %s → %i', async (method, target, status, type, start) => {
    const response = (await ask(method, target))!
    const text = await response.text()
    expect([response.status, response.headers.get('Content-Type')]).toEqual([status, type])
    expect(text.slice(0, start.length)).toBe(method === 'HEAD' ? '' : start)
  })

  test.each(['/api/v1/pods', '/apis/apps/v1/deployments/x', '/apis/nosuch/v1/things'])(
    '%s is left to the verbs',
    async (target) => {
      expect(await ask('GET', target)).toBeUndefined()
    },
  )
})

describe('media types', () => {
  const aggregated = 'g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  test.each([
    ['/apis', `application/json,application/json;${aggregated};q=0.1`, `application/json;${aggregated}`],
    ['/api', `application/yaml;${aggregated}`, `application/yaml;${aggregated}`],
    ['/apis', `application/vnd.kubernetes.protobuf;${aggregated}`, `application/vnd.kubernetes.protobuf;${aggregated}`],
    ['/api/v1', 'application/vnd.kubernetes.protobuf', 'application/vnd.kubernetes.protobuf'],
    ['/apis/apps', 'text/html,*/*', 'application/json'],
    [
      '/openapi/v3/version',
      'application/com.github.proto-openapi.spec.v3@v1.0+protobuf',
      'application/com.github.proto-openapi.spec.v3.v1.0+protobuf',
    ],
    [
      '/flagz',
      'application/yaml;g=config.k8s.io;v=v1beta1;as=Flagz',
      'application/yaml;g=config.k8s.io;v=v1beta1;as=Flagz',
    ],
  ])('%s for %s', async (target, accept, type) => {
    const response = (await ask('GET', target, { Accept: accept }))!
    expect([response.status, response.headers.get('Content-Type')]).toEqual([200, type])
  })

  test.each([
    ['/apis', 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList', 'only the following'],
    ['/apis/', `application/json;${aggregated}`, 'only the following'],
    ['/api/v1', 'text/html', '406: Not Acceptable'],
    ['/apis/apps', 'text/html', 'only the following'],
    ['/apis/apiregistration.k8s.io', 'text/html', '406: Not Acceptable'],
    [
      '/openid/v1/jwks',
      'application/json',
      '406: Not Acceptable\n\nAvailable representations: application/jwk-set+json',
    ],
    [
      '/flagz',
      'application/json',
      'only the following media types are accepted: application/json, application/yaml, text/plain',
    ],
  ])('%s refuses %s', async (target, accept, message) => {
    const response = (await ask('GET', target, { Accept: accept }))!
    expect(response.status).toBe(406)
    expect((await response.json<{ message: string }>()).message).toContain(message)
  })

  test('an aggregated document that is known is not sent again', async () => {
    const accept = { Accept: `application/json;${aggregated}` }
    const first = (await ask('GET', '/apis', accept))!
    const etag = first.headers.get('ETag')!
    const again = (await ask('GET', '/apis', { ...accept, 'If-None-Match': etag }))!
    expect(etag).toMatch(/^"A74552DF419C4697/) // kube-apiserver's own
    expect([first.headers.get('Vary'), first.headers.get('Cache-Control')]).toEqual(['Accept', 'public'])
    expect([again.status, again.headers.get('ETag')]).toEqual([304, etag])
    expect((await ask('GET', '/apis', { ...accept, 'If-None-Match': `W/${etag}` }))!.status).toBe(200)
  })
})

describe('the state and the flags of the server', () => {
  test.each(['Statusz', 'Flagz'])('%s has a CBOR form where the feature gate is on', async (page) => {
    const path = `/${page.toLowerCase()}`
    const withCbor = { ...env, KEDGE_FEATURE_GATES: 'CBORServingAndStorage=true' }
    const accept = `application/cbor;v=v1beta1;g=config.k8s.io;as=${page}`
    const response = (await ask('GET', path, { Accept: accept }, withCbor))!
    expect([response.status, response.headers.get('Content-Type')]).toEqual([
      200,
      `application/cbor;g=config.k8s.io;v=v1beta1;as=${page}`,
    ])
    const document = plainJson(parseCbor(new Uint8Array(await response.arrayBuffer())))
    expect(document).toMatchObject({ kind: page, apiVersion: 'config.k8s.io/v1beta1' })
    const refused = (await ask('GET', path, { Accept: 'text/html' }, withCbor))!
    expect(await refused.text()).toContain('accepted: application/json, application/yaml, text/plain, application/cbor')
    expect((await ask('GET', path, { Accept: accept }))!.status).toBe(406)
  })

  test('their text has the form of kube-apiserver', async () => {
    const state = await (await ask('GET', '/statusz'))!.text()
    expect(state).toMatch(/^Started: (?:Sun|Mon|Tue|Wed|Thu|Fri|Sat) [A-Z][a-z]{2} [ 123]\d \d\d:\d\d:\d\d UTC \d{4}$/m)
    expect(state).toMatch(/^Up: 0 hr 00 min \d\d sec$/m)
  })

  test('the flags have the values of the settings', async () => {
    const settings = { ...env, KEDGE_ANONYMOUS_AUTH: '0', KEDGE_NODE_PORT_RANGE: '31000-31999' }
    const flags = await (await ask('GET', '/flagz', {}, settings))!.text()
    expect(flags).toContain('\nanonymous-auth=false\n')
    expect(flags).toContain('\nservice-node-port-range=31000-31999\n')
    expect(flags).toContain('\nrequest-timeout=1m0s\n')
  })
})

test.each([
  ['/flagz', 'ComponentFlagz'],
  ['/statusz', 'ComponentStatusz'],
])('%s is gone without the feature gate %s', async (target, gate) => {
  const without = { ...env, KEDGE_FEATURE_GATES: `${gate}=false` }
  expect((await ask('GET', target, {}, without))!.status).toBe(404)
  const { paths } = await (await ask('GET', '/', {}, without))!.json<{ paths: string[] }>()
  expect(paths).not.toContain(target)
  expect(paths).toContain('/version')
})
