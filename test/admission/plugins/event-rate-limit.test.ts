// kube-apiserver 1.36.3 gave these answers.
import { expect, test } from 'vitest'
import { lineOf, pluginServer } from '../plugin-server.ts'

const configured = (...limits: object[]) =>
  pluginServer(
    { KEDGE_ENABLE_ADMISSION_PLUGINS: 'EventRateLimit' },
    { EventRateLimit: { apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1', kind: 'Configuration', limits } },
  )

const event = (name: string, about = 'o0') => ({
  metadata: { name },
  involvedObject: { kind: 'Pod', namespace: 'blue', name: about, uid: 'u', apiVersion: 'v1' },
  reason: 'R',
  source: { component: 'c', host: 'h' },
  type: 'Normal',
})
const EVENTS = '/api/v1/namespaces/blue/events'

test('a client may send a burst, and after it the configured number of events a second', async () => {
  const { send, namespace, memory } = configured(
    { type: 'Namespace', qps: 1, burst: 2 },
    { type: 'SourceAndObject', qps: 1, burst: 1 },
  )
  await namespace('blue')
  await namespace('red')
  const create = async (name: string, about: string, path = EVENTS) =>
    lineOf(await send('POST', path, event(name, about)))
  expect(await create('a', 'o0')).toBe('201')
  expect(await create('b', 'o1')).toBe('201')
  expect(await create('c', 'o0')).toBe(
    '429 Too many requests: [limit reached on type Namespace for key blue, limit reached on type SourceAndObject for key chPodblueo0uv1]',
  )
  expect(await create('d', 'o2')).toBe('429 Too many requests: limit reached on type Namespace for key blue')
  expect(await create('e', 'o0', `${EVENTS}?dryRun=All`)).toBe('201')
  memory.now = new Date(memory.now.getTime() + 1000)
  expect(await create('f', 'o3')).toBe('201')
  expect(await create('g', 'o4')).toMatch(/^429 /)
})

test.each(['Server', 'User'])('by %s', async (type) => {
  const { send, namespace } = configured({ type, qps: 1, burst: 1 })
  await namespace('blue')
  expect(lineOf(await send('POST', EVENTS, event('a')))).toBe('201')
  expect(lineOf(await send('POST', EVENTS, event('b')))).toBe(
    `429 Too many requests: limit reached on type ${type} for key ${type === 'User' ? 'kubernetes-admin' : ''}`,
  )
})

test('two limits of one type refuse with one text', async () => {
  const { send, namespace } = configured({ type: 'Server', qps: 1, burst: 1 }, { type: 'Server', qps: 2, burst: 1 })
  await namespace('blue')
  expect(lineOf(await send('POST', EVENTS, event('a')))).toBe('201')
  expect(lineOf(await send('POST', EVENTS, event('b')))).toBe(
    '429 Too many requests: limit reached on type Server for key ',
  )
})

test('a bucket that was dropped starts full', async () => {
  const { send, namespace } = configured({ type: 'Namespace', qps: 1, burst: 1, cacheSize: 1 })
  await namespace('blue')
  await namespace('red')
  const other = '/api/v1/namespaces/red/events'
  const red = { ...event('a'), involvedObject: { ...event('a').involvedObject, namespace: 'red' } }
  expect(lineOf(await send('POST', EVENTS, event('a')))).toBe('201')
  expect(lineOf(await send('POST', other, red))).toBe('201')
  expect(lineOf(await send('POST', EVENTS, event('b')))).toBe('201')
})
