/**
 * Workers on one engine, as on Cloudflare: the API server has bindings to an admission webhook, a conversion webhook
 * and an aggregated API. It calls them through service bindings, not over the network.
 */
import type { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { startBoundEngine } from './bound-engine.ts'

const TOKEN = 'the-token-of-an-administrator-of-this-test'

/** A webhook that refuses objects that ask for it, labels the others, and counts its calls. */
const hook = `
let calls = 0
export default {
  async fetch(request) {
    calls++
    const { request: review } = await request.json()
    const patch = [{ op: 'add', path: '/metadata/labels', value: { hook: new URL(request.url).host, calls: String(calls) } }]
    const answer = review.object.data?.refuse
      ? { allowed: false, status: { code: 403, message: 'the other Worker refuses' } }
      : { allowed: true, patchType: 'JSONPatch', patch: btoa(JSON.stringify(patch)) }
    return Response.json({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid: review.uid, ...answer } })
  },
}`

let engine: Miniflare | undefined

/** Faults of a Worker, by path. */
const misbehaving = `
const never = () => new Promise((resolve) => setTimeout(resolve, 120_000))
const misbehaviours = {
  '/failing': () => new Response('out of order', { status: 500 }),
  '/throwing': () => { throw new Error('thrown') },
  '/redirecting': () => new Response(null, { status: 307, headers: { Location: 'https://hook.worker/review' } }),
  '/large': () => new Response(new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(1 << 20).fill(32)) })),
  '/hanging': never,
  '/stopping': () => new Response(new ReadableStream({ start: (to) => to.enqueue(new Uint8Array(8).fill(32)), pull: never })),
}
`

/** Converts: adds the fields of v2 to objects of v1, and removes them again. */
const converter = `${misbehaving}
export default {
  async fetch(request) {
    const { pathname } = new URL(request.url)
    if (misbehaviours[pathname] !== undefined) return misbehaviours[pathname]()
    const { request: { uid, desiredAPIVersion, objects } } = await request.json()
    const convertedObjects = objects.map(({ host, hostPort, ...rest }) => ({
      ...rest,
      apiVersion: desiredAPIVersion,
      ...(desiredAPIVersion.endsWith('/v2') ? { hostPort: host + ':80' } : { host: hostPort.split(':')[0] }),
    }))
    const response = { uid, result: { status: 'Success' }, convertedObjects }
    return Response.json({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', response })
  },
}`

/** Serves flunders, and answers with the user of the request. */
const flunders = `${misbehaving}
const version = { groupVersion: 'wardle.example.com/v1', version: 'v1' }
const resources = [{ name: 'flunders', singularName: 'flunder', namespaced: true, kind: 'Flunder', verbs: ['get', 'list'] }]
export default {
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url)
    const misbehaviour = misbehaviours['/' + searchParams.get('as')]
    if (misbehaviour !== undefined) return misbehaviour()
    const user = request.headers.get('X-Remote-User')
    if (pathname === '/apis/wardle.example.com/v1')
      return Response.json({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: version.groupVersion, resources })
    if (pathname.endsWith('/flunders'))
      return Response.json({ kind: 'FlunderList', apiVersion: version.groupVersion, metadata: {}, items: [{ user, groups: request.headers.get('X-Remote-Group')?.split(', ') }] })
    return new Response('{}', { status: 404, headers: { 'Content-Type': 'application/json' } })
  },
}`

const hooks = hook.replace(
  'async fetch(request) {',
  `async fetch(request) {
    const misbehaviour = misbehaviours[new URL(request.url).pathname]
    if (misbehaviour !== undefined) return misbehaviour()
    if (new URL(request.url).pathname === '/slow') await new Promise((resolve) => setTimeout(resolve, 300))`,
)

beforeAll(async () => {
  engine = await startBoundEngine(
    { hook: `${misbehaving}${hooks}`, converter, flunders },
    { KEDGE_ADMIN_TOKEN: TOKEN, KEDGE_SERVICES: 'wardle/api:443=https://flunders.worker' },
  )
})

afterAll(() => engine?.dispose())

async function send(method: string, path: string, body?: unknown): Promise<{ status: number; object: any }> {
  const response = await engine!.dispatchFetch(`http://localhost${path}`, {
    method,
    headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, object: await response.json() }
}

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const webhook = (worker: string, names: string) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingWebhookConfiguration',
  metadata: { name: worker },
  webhooks: [
    {
      name: `${worker}.example.com`,
      clientConfig: { url: `https://${worker}.worker/review` },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      matchConditions: [{ name: 'names', expression: `object.metadata.name.startsWith('${names}')` }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ],
})

test('a webhook may answer at any time before its timeout', async () => {
  const configurations = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'
  const configuration = webhook('hook', 'slow')
  configuration.metadata = { name: 'slow' }
  configuration.webhooks[0]!.clientConfig = { url: 'https://hook.worker/slow' }
  expect(await send('POST', configurations, configuration)).toMatchObject({ status: 201 })
  expect(await send('POST', CONFIG_MAPS, { metadata: { name: 'slow' } })).toMatchObject({
    status: 201,
    object: { metadata: { labels: { hook: 'hook.worker' } } },
  })
})

test('a webhook that is another Worker mutates and refuses through its binding', async () => {
  const configurations = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'
  expect(await send('POST', configurations, webhook('hook', 'asked'))).toMatchObject({ status: 201 })
  expect(await send('POST', CONFIG_MAPS, { metadata: { name: 'asked' } })).toMatchObject({
    status: 201,
    object: { metadata: { labels: { hook: 'hook.worker', calls: '2' } } },
  })
  expect(await send('POST', CONFIG_MAPS, { metadata: { name: 'asked-2' }, data: { refuse: 'yes' } })).toMatchObject({
    status: 403,
    object: { message: 'admission webhook "hook.example.com" denied the request: the other Worker refuses' },
  })
  expect(await send('POST', CONFIG_MAPS, { metadata: { name: 'others' } })).toMatchObject({ status: 201 })
  expect(await send('GET', `${CONFIG_MAPS}/asked-2`)).toMatchObject({ status: 404 })

  expect(await send('POST', configurations, webhook('nobody', 'lost'))).toMatchObject({ status: 201 })
  const lost = await send('POST', CONFIG_MAPS, { metadata: { name: 'lost' } })
  expect(lost.status).toBe(500)
  expect(lost.object.message).toContain('no Worker is bound to this server as WORKER_NOBODY')
})

describe('a Worker with a fault', () => {
  const configurations = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
  const posted = (path: string, what: string) =>
    `Internal error occurred: failed calling webhook "${path}.example.com": failed to call webhook: ${what}`
  const cases: [path: string, why: string][] = [
    ['failing', 'an error on the server ("out of order") has prevented the request from succeeding'],
    ['throwing', 'thrown'],
    ['redirecting', 'the server responded with the status code 307'],
    ['large', 'the answer is longer than 3145728 bytes'],
    ['hanging', 'context deadline exceeded'],
    ['stopping', 'context deadline exceeded'],
  ]

  test.each(cases)('a webhook that is %s is handled by its failurePolicy', async (path, why) => {
    for (const failurePolicy of ['Fail', 'Ignore']) {
      const name = `${path}-${failurePolicy.toLowerCase()}`
      const {
        webhooks: [first],
      } = webhook('hook', name)
      const one = {
        ...first,
        name: `${path}.example.com`,
        clientConfig: { url: `https://hook.worker/${path}` },
        timeoutSeconds: why === 'context deadline exceeded' ? 1 : 30,
        failurePolicy,
      }
      const configuration = { ...webhook('hook', name), kind: 'ValidatingWebhookConfiguration', webhooks: [one] }
      configuration.metadata = { name }
      expect(await send('POST', configurations, configuration)).toMatchObject({ status: 201 })
      const { status, object } = await send('POST', CONFIG_MAPS, { metadata: { name } })
      if (failurePolicy === 'Ignore') expect({ path, status }).toEqual({ path, status: 201 })
      else {
        expect(object.message).toContain(posted(path, '').slice(0, -1))
        expect(object.message).toContain(why)
        expect(status).toBe(500)
      }
    }
  })
})

describe('a conversion that is another Worker', () => {
  const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const schema = (field: string) => ({
    openAPIV3Schema: { type: 'object', properties: { [field]: { type: 'string' } } },
  })
  const definition = (plural: string, path: string) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural, kind: plural.toUpperCase() },
      versions: [
        { name: 'v1', served: true, storage: true, schema: schema('host') },
        { name: 'v2', served: true, storage: false, schema: schema('hostPort') },
      ],
      conversion: {
        strategy: 'Webhook',
        webhook: {
          clientConfig: { url: `https://converter.worker${path}` },
          conversionReviewVersions: ['v1'],
        },
      },
    },
  })
  const place = (plural: string, version: string) => `/apis/example.com/${version}/namespaces/default/${plural}`
  const object = (plural: string, version: string, fields: object) => ({
    apiVersion: `example.com/${version}`,
    kind: plural.toUpperCase(),
    metadata: { name: 'a' },
    ...fields,
  })

  async function served(plural: string, path: string): Promise<void> {
    expect(await send('POST', DEFINITIONS, definition(plural, path))).toMatchObject({ status: 201 })
    const made = () => send('POST', place(plural, 'v1'), object(plural, 'v1', { host: 'one' }))
    await eventually(async () => expect([201, 409]).toContain((await made()).status))
  }

  test('converts the objects of reads and writes', async () => {
    await served('things', '/')
    expect((await send('GET', `${place('things', 'v2')}/a`)).object).toMatchObject({ hostPort: 'one:80' })
    const second = { ...object('things', 'v2', { hostPort: 'two:80' }), metadata: { name: 'b' } }
    expect(await send('POST', place('things', 'v2'), second)).toMatchObject({ status: 201 })
    const { object: all } = await send('GET', place('things', 'v1'))
    expect(all.items.map(({ host }: { host: string }) => host)).toEqual(['one', 'two'])
  })

  // These run concurrently: two of them wait for half a minute.
  test.concurrent.each([
    ['failing', 'an error on the server ("out of order") has prevented the request from succeeding'],
    ['throwing', 'thrown'],
    ['redirecting', '307'],
    ['large', 'the answer is longer than 3145728 bytes'],
    ['hanging', 'context deadline exceeded'],
    ['stopping', 'context deadline exceeded'],
  ])('that is %s fails reads in the other version, and nothing else', async (path, why) => {
    await served(path, `/${path}`)
    const { status, object: answer } = await send('GET', `${place(path, 'v2')}/a`)
    expect(answer.message).toContain(`conversion webhook for example.com/v1, Kind=${path.toUpperCase()} failed`)
    expect(answer.message).toContain(why)
    expect(status).toBe(500)
    expect(await send('GET', `${place(path, 'v1')}/a`)).toMatchObject({ status: 200, object: { host: 'one' } })
  })
})

describe('an aggregated API that is another Worker', () => {
  const FLUNDERS = '/apis/wardle.example.com/v1/namespaces/default/flunders'

  test('becomes available, and gets the user of each request', async () => {
    const spec = {
      group: 'wardle.example.com',
      version: 'v1',
      groupPriorityMinimum: 1000,
      versionPriority: 15,
      service: { namespace: 'wardle', name: 'api', port: 443 },
    }
    const service = {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1.wardle.example.com' },
      spec,
    }
    expect(await send('POST', '/apis/apiregistration.k8s.io/v1/apiservices', service)).toMatchObject({ status: 201 })
    const listed = async () => {
      const { status, object } = await send('GET', FLUNDERS)
      expect({ status, items: object.items }).toEqual({
        status: 200,
        items: [{ user: expect.stringContaining('admin'), groups: expect.arrayContaining(['system:masters']) }],
      })
    }
    await eventually(listed)
  })

  const asGroups = async (...groups: string[]) => {
    const headers = [
      ['Authorization', `Bearer ${TOKEN}`],
      ['Impersonate-User', 'jane'],
      ...groups.map((group) => ['Impersonate-Group', group]),
    ] as [string, string][]
    const answer = await engine!.dispatchFetch(`http://localhost${FLUNDERS}`, { headers })
    return (await answer.json()) as any
  }

  test('gets each group of the user', async () => {
    const groups = ['one', 'system:masters', 'c,d']
    expect((await asGroups(...groups)).items).toEqual([{ user: 'jane', groups: [...groups, 'system:authenticated'] }])
  })

  // These run concurrently: two of them wait for a minute.
  test.concurrent.each([
    ['failing', 500, 'out of order'],
    ['throwing', 503, 'error trying to reach service: thrown'],
    ['redirecting', 502, ''],
    // A proxied answer may have any length. A request ends after 60 seconds.
    ['hanging', 504, ''],
  ])('that is %s causes the answer of a proxy', async (as, status, text) => {
    const response = await engine!.dispatchFetch(`http://localhost${FLUNDERS}?as=${as}`, {
      headers: { Authorization: `Bearer ${TOKEN}` },
      redirect: 'manual',
    })
    expect({ status: response.status, location: response.headers.get('Location') }).toEqual({ status, location: null })
    expect(await response.text()).toContain(text)
  })

  test.concurrent('that stops within its answer has it cut off at the timeout', async () => {
    const response = await engine!.dispatchFetch(`http://localhost${FLUNDERS}?as=stopping`, {
      headers: { Authorization: `Bearer ${TOKEN}` },
    })
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow()
  })
})
