/** The answers of webhooks and their effects on the request. */
import { describe, expect, test } from 'vitest'
import type { Called } from '../../webhooks/front.ts'
import { responding } from '../../webhooks/front.ts'
import { allowing, creating, hook, patching } from './creating.ts'
import type { Hook } from './creating.ts'

const order = ({ asked }: { asked: { hook: string }[] }) => asked.map(({ hook }) => hook)

describe('mutating webhooks', () => {
  test('are asked one after the other, each about what those before it made', async () => {
    const a = hook('a', patching({ op: 'add', path: '/data/x', value: '1' }))
    const b = hook('b', patching({ op: 'replace', path: '/data/x', value: '2' }))
    const { object, asked } = await creating('mutating', [a, b])
    expect(object.data).toEqual({ a: 'b', x: '2' })
    expect(asked.map(({ hook, data }) => [hook, data])).toEqual([
      ['a', { a: 'b' }],
      ['b', { a: 'b', x: '1' }],
    ])
  })

  test('are asked again, once, where they want that and a later one changed something', async () => {
    const a = hook('a', patching({ op: 'add', path: '/data/x', value: '1' }), { reinvocationPolicy: 'IfNeeded' })
    const b = hook('b', patching({ op: 'add', path: '/data/y', value: '2' }))
    expect(order(await creating('mutating', [a, b]))).toEqual(['a', 'b', 'a'])
  })

  test.each<[string, Hook[], string[]]>([
    [
      'where nothing changed after them',
      [
        hook('a', patching({ op: 'add', path: '/data/x', value: '1' }), { reinvocationPolicy: 'IfNeeded' }),
        hook('b', allowing),
      ],
      ['a', 'b'],
    ],
    [
      'where a patch changes nothing',
      [
        hook('a', allowing, { reinvocationPolicy: 'IfNeeded' }),
        hook('b', patching({ op: 'replace', path: '/data/a', value: 'b' })),
      ],
      ['a', 'b'],
    ],
    [
      'where they do not want it',
      [hook('a', allowing), hook('b', patching({ op: 'add', path: '/data/x', value: '1' }))],
      ['a', 'b'],
    ],
  ])('are not asked again %s', async (_, hooks, expected) => {
    expect(order(await creating('mutating', hooks))).toEqual(expected)
  })

  test.each(['', null])('may leave %j for the apiVersion', async (value) => {
    const { object } = await creating('mutating', [hook('a', patching({ op: 'replace', path: '/apiVersion', value }))])
    expect(object).toMatchObject({ metadata: { name: 'one' }, data: { a: 'b' } })
  })

  test('have their patched object decoded, which drops unknown fields', async () => {
    const { object } = await creating('mutating', [
      hook('a', patching({ op: 'add', path: '/spec', value: {} }, { op: 'add', path: '/immutable', value: true })),
    ])
    expect(object).toMatchObject({ immutable: true })
    expect(object.spec).toBeUndefined()
  })

  test.each<[string, Hook['answers'], string]>([
    [
      'a test that fails',
      patching({ op: 'test', path: '/data/a', value: 'z' }),
      'testing value /data/a failed: test failed',
    ],
    ['an unknown operation', patching({ op: 'frob', path: '/data' }), 'Unexpected kind: frob'],
    [
      'a field of another type',
      patching({ op: 'replace', path: '/data', value: 5 }),
      'json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string',
    ],
  ])('fail the request with %s, whatever the failure policy', async (_, answers, why) => {
    const { status } = await creating('mutating', [hook('a', answers, { failurePolicy: 'Ignore' })])
    expect(status).toMatchObject({ code: 500, message: `Internal error occurred: ${why}` })
  })
})

describe('validating webhooks', () => {
  test('are all called, also after a denial; the client gets the first denial', async () => {
    const deny = (message: string) => responding({ allowed: false, status: { message, code: 403 } })
    const answer = await creating('validating', [hook('a', allowing), hook('b', deny('b')), hook('c', deny('c'))])
    expect(order(answer)).toEqual(['a', 'b', 'c'])
    expect(answer.status).toMatchObject({
      code: 403,
      message: 'admission webhook "b.example.com" denied the request: b',
    })
  })

  test('are asked at the same time', async () => {
    const all = Promise.withResolvers<void>()
    let waiting = 0
    const together: Hook['answers'] = async (called) => {
      if (++waiting === 3) all.resolve()
      await all.promise
      return allowing(called)
    }
    expect(
      (
        await creating(
          'validating',
          ['a', 'b', 'c'].map((name) => hook(name, together)),
        )
      ).object,
    ).toBeDefined()
  })

  test('may add warnings', async () => {
    const { warnings } = await creating('validating', [hook('a', responding({ allowed: true, warnings: ['careful'] }))])
    expect(warnings).toEqual(['careful'])
  })

  test('see an object as it will be', async () => {
    const { asked, object } = await creating('validating', [hook('a', allowing)])
    expect(asked[0]?.request.object.metadata.uid).toBe(object.metadata.uid)
  })

  test('get their timeoutSeconds, which the URL of the call names', async () => {
    const { asked } = await creating('validating', [hook('a', allowing, { timeoutSeconds: 3 })])
    expect(asked[0]?.call).toMatchObject({ url: 'https://a/?timeout=3s', timeoutMs: 3000 })
  })
})

describe.each(['mutating', 'validating'] as const)('an answer of a %s webhook', (type) => {
  const uses = (more: object) => (called: Called) => ({ ...responding({ allowed: true })(called), ...more })
  const failed = 'failed calling webhook "a.example.com": '

  test.each<[string, Hook['answers'], string]>([
    [
      'without a response',
      uses({ response: undefined }),
      'received invalid webhook response: webhook response was absent',
    ],
    [
      'of another version',
      uses({ apiVersion: 'admission.k8s.io/v1beta1' }),
      'failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion',
    ],
    [
      'of another kind',
      uses({ kind: 'Pod', apiVersion: 'v1' }),
      'failed to call webhook: no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
    ],
    [
      'without a kind',
      uses({ kind: '', apiVersion: '' }),
      'received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=',
    ],
    [
      'whose allowed is text',
      responding({ allowed: 'yes' }),
      'failed to call webhook: json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool',
    ],
    [
      'that is empty',
      () => ({ text: '' }),
      'failed to call webhook: 0-length response with status code: 200 and content type: application/json',
    ],
    [
      'that redirects',
      () => ({ status: 302, text: '' }),
      'failed to call webhook: the server responded with the status code 302 but did not return more information',
    ],
    [
      'that is an error with a text',
      () => ({ status: 500, type: 'text/plain', text: ' broken\n' }),
      'failed to call webhook: an error on the server ("broken") has prevented the request from succeeding',
    ],
    [
      'that is an error with a Status',
      () => ({
        status: 403,
        text: JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'no' }),
      }),
      'failed to call webhook: no',
    ],
    [
      'that is an error with a Status of success',
      () => ({
        status: 404,
        text: JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Success', message: 'no' }),
      }),
      'failed to call webhook: the server could not find the requested resource',
    ],
    [
      'that is too busy for longer than the webhook has',
      () => ({ status: 503, text: '', retryAfter: '10' }),
      'failed to call webhook: the server is currently unable to handle the request',
    ],
    [
      'that is unavailable',
      () => ({ status: 503, text: '' }),
      'failed to call webhook: the server is currently unable to handle the request',
    ],
  ])('%s fails the request, or is passed over', async (_, answers, why) => {
    const { status } = await creating(type, [hook('a', answers)])
    expect(status).toMatchObject({
      code: 500,
      reason: 'InternalError',
      message: `Internal error occurred: ${failed}${why}`,
      details: { causes: [{ message: failed + why }] },
    })
    const ignored = await creating(type, [hook('a', answers, { failurePolicy: 'Ignore' }), hook('b', allowing)])
    expect(ignored.object).toBeDefined()
    expect(order(ignored)).toEqual(['a', 'b'])
  })

  test.each([429, 500, 503])('of %i that says when to ask again is not the last one', async (status) => {
    let calls = 0
    const busyOnce: Hook['answers'] = (called) =>
      ++calls === 1 ? { status, text: '', retryAfter: '0' } : allowing(called)
    const { object, asked } = await creating(type, [hook('a', busyOnce)])
    expect(object).toBeDefined()
    expect(order({ asked })).toEqual(['a', 'a'])
    expect(asked[1]!.request).toEqual(asked[0]!.request)
  })

  test('that always says so is asked for ten times more', async () => {
    const busy = () => ({ status: 503, text: '', retryAfter: '0' })
    expect(order(await creating(type, [hook('a', busy)]))).toHaveLength(11)
  })

  test.each([200, 400, 404])('of %i is the last one, whatever it says', async (status) => {
    const busy = () => ({ status, text: '{}', retryAfter: '0' })
    expect(order(await creating(type, [hook('a', busy)]))).toEqual(['a'])
  })

  test('may begin with a byte order mark', async () => {
    const marked: Hook['answers'] = async (called) => ({
      status: 200,
      text: `\ufeff${JSON.stringify(await allowing(called))}`,
    })
    expect((await creating(type, [hook('a', marked)])).object).toBeDefined()
  })

  test('for another request is none', async () => {
    const other = (called: Called) => ({ ...called.review, response: { uid: 'other', allowed: true } })
    const { status, asked } = await creating(type, [hook('a', other)])
    expect(status?.message).toContain(`expected response.uid="${asked[0]?.request.uid}", got "other"`)
  })

  test('in v1beta1 need not repeat the uid', async () => {
    const beta = ({ review }: Called) => ({ apiVersion: review.apiVersion, response: { allowed: true } })
    const { object, asked } = await creating(type, [
      hook('a', beta, { admissionReviewVersions: ['v2', 'v1beta1', 'v1'] }),
    ])
    expect(object).toBeDefined()
    expect(asked).toHaveLength(1)
  })

  test.each<[object, object]>([
    [{}, { code: 400, message: 'admission webhook "a.example.com" denied the request without explanation' }],
    [{ code: 399 }, { code: 400 }],
    [{ code: 600 }, { code: 600 }],
    [{ code: 1000 }, { code: 1000 }],
    [{ reason: 'NotFound' }, { code: 400, reason: 'NotFound', message: expect.stringMatching(/: NotFound$/) }],
    [
      { status: 'Success', message: 'm' },
      { status: 'Failure', message: expect.stringMatching(/: m$/) },
    ],
    [{ status: 'custom' }, { status: 'custom' }],
    [
      { code: 422, details: { causes: [{ field: 'data', message: 'bad' }] } },
      { code: 422, details: { causes: [{ field: 'data', message: 'bad' }] } },
    ],
  ])('that denies with %j is the error', async (status, expected) => {
    const answer = await creating(type, [
      hook('a', responding({ allowed: false, status }), { failurePolicy: 'Ignore' }),
    ])
    expect(answer.status).toMatchObject(expected)
  })
})

describe('side effects and dry runs', () => {
  test.each([
    ['None', true],
    ['NoneOnDryRun', true],
    ['Some', false],
    ['Unknown', false],
  ])('%s', async (sideEffects, isAsked) => {
    const { asked, status } = await creating('validating', [hook('a', allowing, { sideEffects })], '?dryRun=All')
    expect(asked.map(({ request }) => request.dryRun)).toEqual(isAsked ? [true] : [])
    expect(status?.message).toBe(isAsked ? undefined : 'admission webhook "a.example.com" does not support dry run')
  })
})
