// The media type of errors. A handler writes the types of its resource, and CBOR if the feature gate is on. The filters
// before the handlers and the router write JSON, YAML and protobuf, and JSON to a client that accepts CBOR alone.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Headers, Who } from './row.ts'
import { World } from './world.ts'

const A = '/api/v1/namespaces/a'
const THINGS = '/apis/wall.example.com/v1/namespaces/a/things'
let world: World

beforeAll(async () => {
  world = await World.start('--feature-gates', 'CBORServingAndStorage=true')
  await world.prepare()
  await world.make('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'things.wall.example.com' },
    spec: {
      group: 'wall.example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  })
  for (let tries = 0; tries < 300; tries++) {
    if ((await world.send('admin', 'GET', THINGS)).status === 200) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('the definition is not served')
})
afterAll(() => world?.stop())

type Maker = 'handler' | 'router' | 'text'
const JSON_TYPE = 'application/json'
const PROTOBUF = 'application/vnd.kubernetes.protobuf'
const TEXT = 'text/plain; charset=utf-8'

/** Accept headers, with the Content-Type of an error from each maker. */
const FORMS: readonly (readonly [accept: string, Readonly<Record<Maker, string>>])[] = [
  ['', { handler: JSON_TYPE, router: JSON_TYPE, text: TEXT }],
  ['*/*', { handler: JSON_TYPE, router: JSON_TYPE, text: TEXT }],
  [JSON_TYPE, { handler: JSON_TYPE, router: JSON_TYPE, text: TEXT }],
  ['application/yaml', { handler: 'application/yaml', router: 'application/yaml', text: TEXT }],
  [PROTOBUF, { handler: PROTOBUF, router: PROTOBUF, text: TEXT }],
  ['application/cbor', { handler: 'application/cbor', router: JSON_TYPE, text: TEXT }],
  ['application/cbor, application/yaml', { handler: 'application/cbor', router: 'application/yaml', text: TEXT }],
  [`${PROTOBUF}, application/cbor`, { handler: PROTOBUF, router: PROTOBUF, text: TEXT }],
]
/** For these Accept headers go-restful refuses a request before it calls the handler. */
const MATCHED = FORMS.filter(([accept]) => accept === '' || accept === '*/*' || accept === 'application/cbor')

interface Case {
  readonly what: string
  readonly who?: Who
  readonly request: string
  readonly status: number
  readonly maker: Maker
  readonly headers?: Headers
  readonly body?: unknown
  /** The status for a client that accepts protobuf alone: custom resources have no protobuf. */
  readonly ofProtobuf?: number
}
const PLAIN: Headers = { 'Content-Type': 'text/plain' }
const MERGE: Headers = { 'Content-Type': 'application/merge-patch+json' }
const map = (name: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
const thing = (name: string): object => ({ apiVersion: 'wall.example.com/v1', kind: 'Thing', metadata: { name } })

const cases: readonly Case[] = [
  // errors of the filters before handlers
  { what: 'a token of nobody', who: 'anonymous', request: `GET ${A}/configmaps`, status: 401, maker: 'router', headers: { Authorization: 'Bearer none' } }, // prettier-ignore
  { what: 'no right to a list', who: 'nobody', request: `GET ${A}/secrets`, status: 403, maker: 'router' },
  { what: 'no right to an object', who: 'nobody', request: `GET ${A}/secrets/one`, status: 403, maker: 'router' },
  { what: 'no right to create', who: 'nobody', request: `POST ${A}/configmaps`, status: 403, maker: 'router', body: map('x') }, // prettier-ignore
  { what: 'no right to custom objects', who: 'nobody', request: `GET ${THINGS}`, status: 403, maker: 'router' },
  { what: 'no right to what is not there', who: 'nobody', request: 'GET /apis/none.example/v1/things', status: 403, maker: 'router' }, // prettier-ignore
  { what: 'no right to a path', who: 'nobody', request: 'GET /metrics', status: 403, maker: 'router' },
  { what: 'no right to impersonate', who: 'nobody', request: `GET ${A}/configmaps`, status: 403, maker: 'router', headers: { 'Impersonate-User': 'alice' } }, // prettier-ignore
  { what: 'a timeout that is none', request: `GET ${A}/configmaps?timeout=soon`, status: 400, maker: 'router' },
  // errors of the router
  { what: 'an unknown path', request: 'GET /nowhere', status: 404, maker: 'text' },
  { what: 'an unknown group', request: 'GET /apis/none.example/v1/things', status: 404, maker: 'text' },
  { what: 'an unknown resource of a built-in group', request: 'GET /apis/apps/v1/nothings', status: 404, maker: 'router' }, // prettier-ignore
  { what: 'an unknown version of a built-in group', request: 'GET /apis/apps/v9/deployments', status: 404, maker: 'router' }, // prettier-ignore
  { what: 'an unknown subresource', request: `GET ${A}/configmaps/one/nothing`, status: 404, maker: 'router' },
  {
    what: 'a method that a list has not',
    request: `PUT ${A}/configmaps`,
    status: 405,
    maker: 'router',
    body: map('x'),
  },
  { what: 'a method that an object has not', request: `POST ${A}/configmaps/one`, status: 405, maker: 'router', body: map('one') }, // prettier-ignore
  { what: 'a method that discovery has not', request: 'PUT /apis/apps/v1', status: 405, maker: 'router', body: {} },
  { what: 'a method that the version has not', request: 'PUT /version', status: 405, maker: 'router', body: {} },
  { what: 'a patch of no known type', request: `PATCH ${A}/configmaps/one`, status: 415, maker: 'router', headers: PLAIN, body: '{}' }, // prettier-ignore
  { what: 'a custom subresource that is not served', request: `GET ${THINGS}/one/scale`, status: 404, maker: 'router' },
  {
    what: 'a method that a custom status has not',
    request: `DELETE ${THINGS}/one/status`,
    status: 405,
    maker: 'router',
  },
  // errors of handlers
  { what: 'an object that is not there', request: `GET ${A}/configmaps/ghost`, status: 404, maker: 'handler' },
  { what: 'one to be deleted', request: `DELETE ${A}/configmaps/ghost`, status: 404, maker: 'handler' },
  { what: 'one to be patched', request: `PATCH ${A}/configmaps/ghost`, status: 404, maker: 'handler', headers: MERGE, body: '{}' }, // prettier-ignore
  { what: 'its log', request: `GET ${A}/pods/ghost/log`, status: 404, maker: 'handler' },
  { what: 'one that is there', request: `POST ${A}/configmaps`, status: 409, maker: 'handler', body: map('one') },
  { what: 'one that is wrong', request: `POST ${A}/configmaps`, status: 422, maker: 'handler', body: map('A_') },
  { what: 'a body that is none', request: `POST ${A}/configmaps`, status: 400, maker: 'handler', body: '{' },
  { what: 'a body of no known type', request: `POST ${A}/configmaps`, status: 415, maker: 'handler', headers: PLAIN, body: '{}' }, // prettier-ignore
  { what: 'a body that is too long', request: `POST ${A}/configmaps`, status: 413, maker: 'handler', body: `"${'x'.repeat(3 << 20)}"` }, // prettier-ignore
  { what: 'a limit that is none', request: `GET ${A}/configmaps?limit=few`, status: 400, maker: 'handler' },
  { what: 'a place that is none', request: `GET ${A}/configmaps?limit=1&continue=none`, status: 400, maker: 'handler' },
  { what: 'a field that selects nothing', request: `GET ${A}/configmaps?fieldSelector=a%3Db`, status: 400, maker: 'handler' }, // prettier-ignore
  { what: 'a version yet to come', request: `GET ${A}/configmaps?resourceVersion=9000000000000000000`, status: 504, maker: 'handler' }, // prettier-ignore
  { what: 'a namespace that is not there', request: 'POST /api/v1/namespaces/ghost/configmaps', status: 404, maker: 'handler', body: map('x') }, // prettier-ignore
  { what: 'a quota in the way of nothing, and admission', request: `POST ${A}/pods`, status: 403, maker: 'handler', body: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: { serviceAccountName: 'ghost', containers: [{ name: 'c', image: 'i' }] } } }, // prettier-ignore
  { what: 'a review that is wrong', request: 'POST /apis/authorization.k8s.io/v1/subjectaccessreviews', status: 422, maker: 'handler', body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec: {} } }, // prettier-ignore
  { what: 'a Service to be reached', request: `GET ${A}/services/ghost/proxy/x`, status: 404, maker: 'handler' },
  {
    what: 'a custom object that is not there',
    request: `GET ${THINGS}/ghost`,
    status: 404,
    ofProtobuf: 406,
    maker: 'handler',
  },
  {
    what: 'a custom body that is none',
    request: `POST ${THINGS}`,
    status: 400,
    ofProtobuf: 406,
    maker: 'handler',
    body: '{',
  },
  { what: 'a custom patch of no known type', request: `PATCH ${THINGS}/one`, status: 415, maker: 'handler', headers: PLAIN, body: '{}' }, // prettier-ignore
  { what: 'custom objects of no name', request: `PUT ${THINGS}`, status: 400, maker: 'handler', body: thing('one') },
]

describe.each(cases)('$what: $request', (one) => {
  const { who = 'admin', request, status, ofProtobuf = status, maker, headers = {}, body } = one
  const [method = '', path = ''] = request.split(' ')
  const forms = maker === 'text' ? MATCHED : FORMS
  test.each(forms)('Accept: %s', async (accept, types) => {
    const sent = { ...headers, ...(accept === '' ? {} : { Accept: accept }) }
    const received = await world.send(who, method, path, body, sent)
    expect(received.status, received.text.slice(0, 300)).toBe(accept === PROTOBUF ? ofProtobuf : status)
    expect(received.headers['content-type']).toBe(types[maker])
  })
})

test('what a path does not produce is refused in JSON', async () => {
  for (const path of [`${A}/configmaps`, '/apis', '/apis/apps', '/apis/apps/v1', '/api/v1', '/api']) {
    const { status, headers, text } = await world.send('admin', 'GET', path, undefined, { Accept: 'image/png' })
    expect([path, status, headers['content-type']]).toEqual([path, 406, JSON_TYPE])
    expect(text).toContain(`{\n  "kind": "Status"`)
  }
})

// some discovery documents have a CBOR form; kube-apiserver closes the connection of a request for /api/v1 in CBOR
test.each([
  ['/api', 406, JSON_TYPE],
  ['/apis', 406, JSON_TYPE],
  ['/apis/apps', 406, JSON_TYPE],
  ['/apis/apps/v1', 200, 'application/cbor'],
  ['/apis/wall.example.com', 406, JSON_TYPE],
  ['/apis/wall.example.com/v1', 406, JSON_TYPE],
])('discovery in CBOR: GET %s → %i', async (path, status, type) => {
  const received = await world.send('admin', 'GET', path, undefined, { Accept: 'application/cbor' })
  expect([received.status, received.headers['content-type']]).toEqual([status, type])
})
