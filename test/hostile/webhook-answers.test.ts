// A hostile webhook can neither let a request pass with its answer, nor make it cost more than an answer may.
import { describe, expect, test } from 'vitest'
import { creating, hook, patching } from '../admission/webhooks/creating.ts'
import type { Hook } from '../admission/webhooks/creating.ts'
import type { Called } from '../webhooks/front.ts'
import { responding } from '../webhooks/front.ts'

const times = <T>(count: number, of: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => of(index))

/** A hook that answers with this text in place of an AdmissionReview. */
const saying =
  (text: (uid: string) => string): Hook['answers'] =>
  ({ review }: Called) => ({ status: 200, text: text(review.request.uid) })

const head = '"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"'

describe('patches that make much of little:', () => {
  test.each<[string, Hook['answers'], RegExp]>([
    [
      'copies that double what is there',
      patching(...times(60, (n) => ({ op: 'copy', from: '/data', path: `/data/d${n}` }))),
      /accumulated size increase of copy/,
    ],
    [
      'many copies of one large text',
      patching(
        { op: 'add', path: '/data/x', value: 'x'.repeat(100_000) },
        ...times(1000, (n) => ({ op: 'copy', from: '/data/x', path: `/data/c${n}` })),
      ),
      /accumulated size increase of copy/,
    ],
    [
      'elements that move all others',
      patching(
        { op: 'add', path: '/list', value: times(100_000, () => 0) },
        ...times(9_000, () => ({ op: 'add', path: '/list/0', value: 0 })),
      ),
      /move more than/,
    ],
    [
      'steps into the depth',
      patching(...times(9_000, (n) => ({ op: 'add', path: `${'/a'.repeat((n % 2000) + 1)}`, value: {} }))),
      /./,
    ],
    [
      'a value that is all depth',
      responding({
        allowed: true,
        patchType: 'JSONPatch',
        patch: btoa(`[{"op":"add","path":"/a","value":${'['.repeat(200_000)}${']'.repeat(200_000)}}]`),
      }),
      /./,
    ],
    [
      'a test of what it made',
      patching(
        { op: 'add', path: '/data/x', value: 'x' },
        ...times(100, (n) => ({ op: 'copy', from: '', path: `/data/o${n}` })),
      ),
      /./,
    ],
  ])('%s', async (_, answers, why) => {
    const { object, status } = await creating('mutating', [hook('a', answers)])
    expect(object).toBeUndefined()
    expect(status?.message).toMatch(why)
  })
})

describe.each(['mutating', 'validating'] as const)('no %s webhook agrees with', (type) => {
  test.each<[string, Hook['answers']]>([
    ['a word for a truth', ({ review }) => ({ ...review, response: { uid: review.request.uid, allowed: 'true' } })],
    ['a number for a truth', ({ review }) => ({ ...review, response: { uid: review.request.uid, allowed: 1 } })],
    ['a list of responses', ({ review }) => ({ ...review, response: [{ uid: review.request.uid, allowed: true }] })],
    ['a response that is null', ({ review }) => ({ ...review, response: null })],
    ['its truth beside the response', ({ review }) => ({ ...review, uid: review.request.uid, allowed: true })],
    ['a uid that is another', responding({ uid: 'other', allowed: true })],
    ['a uid that begins with it', saying((uid) => `{${head},"response":{"uid":"${uid}0","allowed":true}}`)],
    ['a uid in capitals', saying((uid) => `{${head},"response":{"uid":"${uid.toUpperCase()}","allowed":true}}`)],
    ['an end that is missing', saying((uid) => `{${head},"response":{"uid":"${uid}","allowed":true}`)],
    ['a second answer behind it', saying((uid) => `{${head},"response":{"uid":"${uid}","allowed":true}}{}`)],
    ['names from elsewhere', saying((uid) => `{${head},"__proto__":{"response":{"uid":"${uid}","allowed":true}}}`)],
    ['a denial and a patch', responding({ allowed: false, patchType: 'JSONPatch', patch: btoa('[]') })],
    ['a patch that is no base64', responding({ allowed: true, patchType: 'JSONPatch', patch: '***' })],
    ['nothing but depth', saying(() => '{"response":'.repeat(100_000))],
    ['YAML that repeats itself', saying(() => `a: &a [x]\n${times(40, (n) => `b${n}: &b${n} [*a, *a]`).join('\n')}`)],
    [
      'aliases that grow',
      saying(() => times(30, (n) => `a${n}: &a${n} [${n === 0 ? 'x' : `*a${n - 1}, *a${n - 1}`}]`).join('\n')),
    ],
  ])('%s', async (_, answers) => {
    const { object, status } = await creating(type, [hook('a', answers)])
    expect(object).toBeUndefined()
    expect(status?.status).toBe('Failure')
  })
})

test('a long patch of a small object, and all work on what it makes, goes in turns with others', async () => {
  const value = Object.fromEntries(times(20_000, (n) => [`k${n}`, 'v']))
  const turnsWith = async (...operations: object[]): Promise<number> => {
    let turns = 0
    const others = setInterval(() => turns++, 0)
    const { object } = await creating('mutating', [hook('a', patching(...operations))])
    clearInterval(others)
    expect(object).toBeDefined()
    return turns
  }
  const few = await turnsWith({ op: 'add', path: '/data', value: { a: 'v' } })
  const many = await turnsWith({ op: 'add', path: '/data', value })
  expect(many).toBeGreaterThan(few + 20)
})

test('an answer that is full of warnings adds as many headers as kube-apiserver allows', async () => {
  const warnings = times(20_000, (n) => `warning ${n} ${'x'.repeat(50)}`)
  const { object, warnings: told } = await creating('validating', [hook('a', responding({ allowed: true, warnings }))])
  expect(object).toBeDefined()
  const { warningHeaders } = await import('../../src/codec/negotiation/warnings.ts')
  expect([...warningHeaders(told)].join('').length).toBeLessThan(8192)
})
