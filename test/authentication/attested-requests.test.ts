import { createSecretKey, randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { attestedRequests } from '../../src/authentication/attested-requests.ts'
import { FRONT_STATEMENT, STATEMENT_HOLDS_MS } from '../../src/authentication/front-statement.ts'
import type { FrontStatement } from '../../src/authentication/front-statement.ts'
import { Attestation } from '../../src/cli/front/attestation.ts'
import type { TlsClientAuth } from '../../src/cli/front/client-certificate.ts'
import type { Env } from '../../src/env.ts'

const key = randomBytes(32)
const certificate: TlsClientAuth = {
  certPresented: '1',
  certVerified: 'SUCCESS',
  certRevoked: '0',
  certRFC9440: ':AAAA:',
  certChainRFC9440: '',
}

// the code under test uses no other binding
const env = (base64 = key.toString('base64')): Env => ({ KEDGE_FRONT_KEY: base64 }) as Env
const execution = {} as ExecutionContext

const NOW = Date.parse('2026-01-01T00:00:00Z')

let serve: ReturnType<typeof attestedRequests>
beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  serve = attestedRequests(
    async () => new Response('served'),
    () => NOW,
  )
})
afterEach(() => vi.restoreAllMocks())

const stated = (by: Attestation, method = 'GET', carried = method, target = '/a?b', now = NOW): FrontStatement =>
  JSON.parse(by.line(createSecretKey(key), method, carried, target, now).slice(FRONT_STATEMENT.length + 2))
const send = async (cf: unknown, method = 'GET', target = '/a?b', settings = env()): Promise<number> =>
  (await serve(Object.assign(new Request(`http://h${target}`, { method }), { cf }), settings, execution)).status

test('statements of the front are accepted, request after request', async () => {
  const connection = new Attestation(certificate)
  for (const [method, carried] of [
    ['GET', 'GET'],
    ['FOO', 'POST'],
    ['DELETE', 'DELETE'],
  ] as const)
    expect(await send(stated(connection, method, carried), carried)).toBe(200)
  expect(await send(stated(new Attestation(undefined), 'FOO', 'POST'), 'POST')).toBe(200)
})

test('the engine refuses a repeated statement', async () => {
  const connection = new Attestation(certificate)
  const [first, second] = [stated(connection), stated(connection)]
  expect(await send(second)).toBe(200)
  expect(await send(second)).toBe(400)
  expect(await send(first)).toBe(400)
  expect(await send(stated(connection))).toBe(200)
})

test.each<[what: string, change: (statement: FrontStatement) => object]>([
  ['another certificate', (s) => ({ ...s, tlsClientAuth: { ...certificate, certRFC9440: ':BBBB:' } })],
  ['a certificate that is verified now', (s) => ({ ...s, tlsClientAuth: { ...certificate, certVerified: 'FAILED' } })],
  ['no certificate', ({ tlsClientAuth: _, ...s }) => s],
  ['another address', (s) => ({ ...s, clientAddress: '192.0.2.1' })],
  ['another method', (s) => ({ ...s, method: 'FOO' })],
  ['another connection', (s) => ({ ...s, connection: 'x' })],
  ['a later request', (s) => ({ ...s, request: s.request + 1 })],
  ['another time', (s) => ({ ...s, made: s.made + 1 })],
  ['another MAC', (s) => ({ ...s, mac: 'A'.repeat(43) + '=' })],
  ['a MAC that is no base64', (s) => ({ ...s, mac: '!' })],
  ['no MAC', ({ mac: _, ...s }) => s],
])('changed: %s', async (_what, change) => {
  expect(await send(change(stated(new Attestation(certificate))))).toBe(400)
})

test('the engine refuses a statement for another request, time or engine, and a request without one', async () => {
  const of = (now?: number): FrontStatement => stated(new Attestation(certificate), 'GET', 'GET', '/a?b', now)
  expect(await send(of(), 'PUT')).toBe(400)
  expect(await send(of(), 'GET', '/a?c')).toBe(400)
  expect(await send(of(NOW - STATEMENT_HOLDS_MS - 1_000))).toBe(400)
  expect(await send(of(NOW + STATEMENT_HOLDS_MS + 1_000))).toBe(400)
  expect(await send(of(), 'GET', '/a?b', env(randomBytes(32).toString('base64')))).toBe(400)
  expect(await send(of(), 'GET', '/a?b', env(''))).toBe(400)
  expect(await send(undefined)).toBe(400)
  expect(await send({ clientPid: 1 })).toBe(400)
})

test(
  'connections beyond those that one period may have are refused; those that are known go on',
  { timeout: 240_000 },
  async () => {
    const known = new Attestation(certificate)
    expect(await send(stated(known))).toBe(200)
    for (let n = 1; n < 20_000; n++) expect(await send(stated(new Attestation(certificate)))).toBe(200)
    expect(await send(stated(new Attestation(certificate)))).toBe(400)
    expect(await send(stated(known))).toBe(200)
  },
)
