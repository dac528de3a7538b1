/** Authorizers of an AuthorizationConfiguration: the order of decisions, and the effect of a webhook that fails. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Decisions, Undecided } from '../../src/admission/policies/decisions.ts'
import { compileExpressionsWith } from '../../src/authentication/expression.ts'
import { pathAttributes, resourceAttributes } from '../../src/authorization/attributes.ts'
import type { AuthorizationAttributes } from '../../src/authorization/attributes.ts'
import { authorize, verdictOn } from '../../src/authorization/authorize.ts'
import { configurationProblem } from '../../src/authorization/configuration-problem.ts'
import { compileIdentityExpression } from '../../src/expressions/identity-expressions.ts'
import { subjectAccessReview } from '../../src/registry/authorization/subject-access-review.ts'
import { memoryServer } from '../request-in-memory.ts'
import type { Called } from '../webhooks/front.ts'
import { frontAnswering } from '../webhooks/front.ts'

compileExpressionsWith(async () => compileIdentityExpression)
let logged: string[]
beforeEach(() => {
  logged = []
  vi.spyOn(console, 'error').mockImplementation((line: string) => logged.push(line))
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

const anna = { name: 'anna', uid: '7', groups: ['dev', 'system:authenticated'], extra: { 'example.com/a': ['b'] } }
const pods = (more: Partial<AuthorizationAttributes> = {}) =>
  resourceAttributes(anna, 'list', { apiVersion: 'v1', resource: 'pods', namespace: 'blue', ...more })

const hook = (name: string, more: object = {}) => ({
  type: 'Webhook',
  name,
  webhook: {
    timeout: '3s',
    subjectAccessReviewVersion: 'v1',
    matchConditionSubjectAccessReviewVersion: 'v1',
    failurePolicy: 'NoOpinion',
    connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: `/${name}` },
    ...more,
  },
})
const [node, rbac] = [
  { type: 'Node', name: 'node' },
  { type: 'RBAC', name: 'rbac' },
]

type Answering = (called: Called) => object | Promise<object>

function world(answer: Answering, ...authorizers: readonly object[]) {
  const { binding, calls } = frontAnswering(answer)
  const server = memoryServer({
    OUTGOING: binding,
    KEDGE_AUTHORIZATION_CONFIG: JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AuthorizationConfiguration',
      authorizers,
    }),
    KEDGE_WEBHOOK_CONNECTIONS: JSON.stringify({
      '/a': { url: 'https://a.example/authorize', token: 'of-a' },
      '/b': { url: 'https://b.example/authorize' },
    }),
  })
  const request = server.request('/version')
  return { server, request, calls, verdict: (asked = pods()) => verdictOn(request, asked) }
}

/** A review has a status, which is not that of the answer. */
const answered = (review: object) => ({ status: 200, text: JSON.stringify(review) })

const says =
  (status: object): Answering =>
  ({ review }) =>
    answered({ apiVersion: review.apiVersion, kind: review.kind, status })

test('for a client that has gone nothing is decided: an expression would go on with a denial', async () => {
  const failing: Answering = () => ({ status: 400, text: 'canceled' })
  const { request, verdict } = world(failing, hook('a'), rbac)
  expect(await verdict()).toMatchObject({ allowed: false })
  const gone = { ...request, gone: () => AbortSignal.abort() }
  await expect(verdictOn(gone, pods())).rejects.toMatchObject({ code: 504, status: { reason: 'Timeout' } })
  const decisions = new Decisions(gone)
  const check = { verb: 'get', path: '/restricted', resource: undefined, serviceAccount: undefined }
  let undecided: unknown
  try {
    decisions.authorize(anna, check)
  } catch (error) {
    undecided = error
  }
  expect(undecided).toBeInstanceOf(Undecided)
  await expect((undecided as Undecided).decide()).rejects.toMatchObject({ code: 504 })
})

describe('the order of authorizers', () => {
  test.each<[string, object, object]>([
    ['yes', { allowed: true, reason: 'known' }, { allowed: true, reason: 'known' }],
    ['no', { denied: true, reason: 'never' }, { allowed: false, denied: true, reason: 'never' }],
    ['no opinion', { allowed: false, reason: 'hm' }, { allowed: false, reason: 'hm' }],
    [
      'both',
      { allowed: true, denied: true },
      {
        allowed: false,
        denied: true,
        reason: '',
        error: 'webhook subject access review returned both allow and deny response',
      },
    ],
  ])('a webhook that says %s', async (_, status, verdict) => {
    expect(await world(says(status), node, hook('a'), rbac).verdict()).toEqual(verdict)
  })

  test('the first that denies or allows decides; the others are not asked', async () => {
    const { calls, verdict } = world(
      ({ call, review }) =>
        answered({ ...review, status: call.url.startsWith('https://a') ? { denied: true } : { allowed: true } }),
      hook('a'),
      hook('b'),
      { type: 'AlwaysAllow', name: 'alwaysallow' },
    )
    expect(await verdict()).toMatchObject({ allowed: false, denied: true })
    expect(calls).toHaveLength(1)
  })

  test('system:masters may do everything, they alone reach paths of Kedge, and no webhook is called', async () => {
    const { calls, verdict } = world(says({ allowed: true }), hook('a'))
    expect(await verdict({ ...pods(), user: { ...anna, groups: ['system:masters'] } })).toMatchObject({ allowed: true })
    expect(await verdict(pathAttributes(anna, 'get', '/debug/shards'))).toMatchObject({ allowed: false })
    expect(calls).toHaveLength(0)
  })

  test('without RBAC no role counts, and AlwaysDeny says why', async () => {
    const { verdict } = world(says({}), { type: 'AlwaysDeny', name: 'alwaysdeny' })
    expect(await verdict(pathAttributes(anna, 'get', '/version'))).toEqual({
      allowed: false,
      reason: 'Everything is forbidden.',
    })
  })
})

function undecided(ask: () => unknown): Undecided {
  try {
    ask()
  } catch (error) {
    if (error instanceof Undecided) return error
    throw error
  }
  throw new Error('decided at once')
}

describe('the review that the webhook gets', () => {
  test('of a check in an expression has its selectors', async () => {
    const { calls, request } = world(says({ allowed: true }), hook('a'))
    const decisions = new Decisions(request)
    const resource = { group: '', resource: 'pods', subresource: '', namespace: 'blue', name: '' }
    const selectors = { fieldSelector: 'spec.nodeName=n', labelSelector: 'a=b' }
    const check = { serviceAccount: undefined, verb: 'list', path: '', resource: { ...resource, ...selectors } }
    await undecided(() => decisions.authorize(anna, check)).decide()
    expect(decisions.authorize(anna, check)).toMatchObject({ allowed: true })
    expect(calls[0]?.review).toMatchObject({
      spec: {
        resourceAttributes: {
          fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['n'] }] },
          labelSelector: { requirements: [{ key: 'a', operator: 'In', values: ['b'] }] },
        },
      },
    })
  })

  test('of a review has the requirements that this server knows, as the client wrote them', async () => {
    const { calls, request } = world(says({ allowed: true }), hook('a'))
    const known = [
      { key: 'zone', operator: 'In', values: ['b', 'a', 'b', ''] },
      { key: 'app', operator: 'Exists' },
    ]
    const requirements = [...known, { key: 'x', operator: 'Like', values: ['y'] }]
    const spec = {
      user: 'anna',
      resourceAttributes: { verb: 'list', resource: 'pods', labelSelector: { requirements } },
    }
    const answer = await subjectAccessReview(
      request,
      { kind: '', apiVersion: '', metadata: {}, spec } as never,
      async () => {},
    )
    expect(calls[0]?.review).toMatchObject({ spec: { resourceAttributes: { labelSelector: { requirements: known } } } })
    expect(answer).toMatchObject({
      status: {
        allowed: true,
        evaluationError: 'spec.resourceAttributes.labelSelector partially ignored due to parse error',
      },
    })
  })

  test('v1', async () => {
    const { calls, verdict } = world(says({ allowed: true }), hook('a'))
    await verdict(
      pods({ fields: [{ field: 'spec.nodeName', operator: '=', value: 'n' }], labelSelector: 'a in (b,c),!d' }),
    )
    const [{ call, review } = { call: undefined, review: undefined }] = calls
    expect(call).toMatchObject({ url: 'https://a.example/authorize?timeout=3s', timeoutMs: 3000 })
    expect(call?.headers).toMatchObject({ Authorization: 'Bearer of-a' })
    expect(review).toEqual({
      kind: 'SubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {},
      spec: {
        resourceAttributes: {
          namespace: 'blue',
          verb: 'list',
          version: 'v1',
          resource: 'pods',
          fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['n'] }] },
          labelSelector: {
            requirements: [
              { key: 'a', operator: 'In', values: ['b', 'c'] },
              { key: 'd', operator: 'DoesNotExist' },
            ],
          },
        },
        user: 'anna',
        groups: ['dev', 'system:authenticated'],
        extra: { 'example.com/a': ['b'] },
        uid: '7',
      },
      status: { allowed: false },
    })
  })

  test('v1beta1 has another word for groups', async () => {
    const { calls, verdict } = world(says({ allowed: true }), hook('a', { subjectAccessReviewVersion: 'v1beta1' }))
    expect(await verdict(pathAttributes(anna, 'get', '/metrics'))).toMatchObject({ allowed: true })
    expect(calls[0]!.review.spec).toMatchObject({
      group: ['dev', 'system:authenticated'],
      nonResourceAttributes: { path: '/metrics', verb: 'get' },
    })
  })
})

describe('a webhook that fails', () => {
  test.each<[string, Answering, RegExp]>([
    ['answers no JSON', () => ({ status: 200, text: '{"status":' }), /json parse error/],
    [
      'answers another kind',
      () => ({ status: 200, text: '{"kind":"Status","apiVersion":"v1"}' }),
      /no kind "Status"|unknown conversion|is registered/,
    ],
    ['answers 403', () => ({ status: 403, type: 'text/plain', text: 'go away' }), /go away/],
    ['answers nothing', () => ({ status: 200, text: '' }), /0-length response/],
  ])('that %s: no opinion, or no, as its policy says', async (_, answer, line) => {
    const open = world(answer, hook('a'), rbac)
    expect(await open.verdict()).toMatchObject({ allowed: false, error: expect.any(String) })
    expect(logged.join('\n')).toMatch(line)
    const denying = world(answer, hook('a', { failurePolicy: 'Deny' }), { type: 'AlwaysAllow', name: 'alwaysallow' })
    expect(await denying.verdict()).toMatchObject({ allowed: false, denied: true })
    const others = world(answer, hook('a'), { type: 'AlwaysAllow', name: 'alwaysallow' })
    expect(await others.verdict()).toMatchObject({ allowed: true })
  })

  test('is a failure for the client, without its text', async () => {
    const { request } = world(() => ({ status: 403, type: 'text/plain', text: 'secret' }), hook('a'))
    const error = await authorize(request, pods()).catch((error: unknown) => error)
    expect(error).toMatchObject({ code: 500, message: expect.not.stringContaining('secret') })
  })
})

describe('answers are cached', () => {
  test.each<[string, object, object, number, number]>([
    ['a yes for five minutes', { allowed: true }, {}, 299_000, 302_000],
    ['a no for half a minute', { denied: true }, {}, 29_000, 32_000],
    ['a yes as long as it says', { allowed: true }, { authorizedTTL: '1m' }, 59_000, 62_000],
  ])('%s', async (_, status, more, within, beyond) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { calls, verdict } = world(says(status), hook('a', more))
    await verdict()
    vi.setSystemTime(Date.now() + within)
    await verdict()
    expect(calls).toHaveLength(1)
    await verdict(pods({ name: 'other' }))
    expect(calls).toHaveLength(2)
    vi.setSystemTime(Date.now() + beyond - within)
    await verdict()
    expect(calls).toHaveLength(3)
  })

  test('for each control plane: one does not learn what another asked', async () => {
    const { calls, request } = world(says({ allowed: true }), hook('a'))
    for (const uid of ['one', 'other', 'one', 'other']) await verdictOn({ ...request, tenant: { uid } }, pods())
    expect(calls).toHaveLength(2)
  })

  test('but not where the configuration says so, and not about questions that are very long', async () => {
    const never = world(says({ allowed: true }), hook('a', { cacheAuthorizedRequests: false }))
    await never.verdict()
    await never.verdict()
    expect(never.calls).toHaveLength(2)
    const long = world(says({ allowed: true }), hook('a'))
    await long.verdict(pods({ name: 'x'.repeat(10_000) }))
    await long.verdict(pods({ name: 'x'.repeat(10_000) }))
    expect(long.calls).toHaveLength(2)
  })
})

describe('match conditions', () => {
  const conditions = (...texts: readonly string[]) => ({ matchConditions: texts.map((expression) => ({ expression })) })
  test.each<[string, object, object, number]>([
    [
      'met',
      conditions("request.resourceAttributes.namespace == 'blue'", "'dev' in request.groups"),
      { allowed: true },
      1,
    ],
    ['not met', conditions("request.user != 'anna'"), { allowed: false, reason: '' }, 0],
    [
      'failing beside one that is not met',
      conditions("request.nonResourceAttributes.path == '/'", "request.user != 'anna'"),
      { allowed: false, reason: '' },
      0,
    ],
    [
      'failing',
      conditions("request.nonResourceAttributes.path == '/'"),
      {
        allowed: false,
        reason: '',
        error:
          "cel evaluation error: expression 'request.nonResourceAttributes.path == '/'' resulted in error: no such key: nonResourceAttributes",
      },
      0,
    ],
    [
      'failing, where that denies',
      { ...conditions("request.extra['x'][0] == '/'"), failurePolicy: 'Deny' },
      { denied: true },
      0,
    ],
    [
      'over selectors',
      conditions("request.resourceAttributes.?labelSelector.requirements.orValue([]).exists(r, r.key == 'a')"),
      { allowed: false },
      0,
    ],
  ])('%s', async (_, more, verdict, calls) => {
    const made = world(says({ allowed: true }), hook('a', more))
    expect(await made.verdict()).toMatchObject(verdict)
    expect(made.calls).toHaveLength(calls)
  })
})

test('a kubeconfig that cannot be read just now is read by the next request', async () => {
  const { server } = world(says({ allowed: true }), hook('file'))
  let isThere = false
  const fetch = async () => {
    if (!isThere) throw new Error('no answer')
    return Response.json({ url: 'https://a.example/' })
  }
  Object.assign(server.env, { CONFIGURATION: { fetch } as unknown as Fetcher })
  await expect(configurationProblem(server.env)).rejects.toThrow('no answer')
  isThere = true
  expect(await configurationProblem(server.env)).toBeUndefined()
})

test('a changed configuration whose kubeconfig cannot be read just now is applied a second later', async () => {
  const { server, request } = world(says({ denied: true }), rbac, { type: 'AlwaysAllow', name: 'alwaysallow' })
  const changed = JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthorizationConfiguration',
    authorizers: [hook('file'), rbac, { type: 'AlwaysAllow', name: 'alwaysallow' }],
  })
  let isThere = false
  const fetch = async (url: string) => {
    if (url.endsWith('/authorization')) return new Response(changed)
    if (!isThere) throw new Error('no answer')
    return Response.json({ url: 'https://a.example/' })
  }
  Object.assign(server.env, { CONFIGURATION: { fetch } as unknown as Fetcher })
  const verdictAfter = async (seconds: number) => {
    vi.setSystemTime(Date.now() + seconds * 1000)
    return verdictOn(request, pods())
  }
  vi.useFakeTimers({ toFake: ['Date'] })
  expect(await verdictAfter(0)).toMatchObject({ allowed: true })
  expect(logged.join()).toMatch('no answer')
  isThere = true
  expect(await verdictAfter(2)).toMatchObject({ denied: true })
})

test.each<[string, readonly object[], string]>([
  ['a connection that nobody gave', [hook('c')], 'KEDGE_WEBHOOK_CONNECTIONS has no /c'],
  [
    'ABAC',
    [{ type: 'ABAC', name: 'abac' }],
    'authorizer type ABAC is not allowed if it was not enabled at initial server startup',
  ],
  [
    'a connection in the cluster',
    [hook('a', { connectionInfo: { type: 'InClusterConfig' } })],
    'unable to load in-cluster configuration: this server runs in no cluster',
  ],
])('%s: nothing is served', async (_, authorizers, why) => {
  const { server } = world(says({}), ...authorizers)
  expect((await configurationProblem(server.env))?.details).toBe(`KEDGE_AUTHORIZATION_CONFIG: ${why}`)
})
