import { expect, test } from 'vitest'
import { proxiedHeaders, userHeaders } from '../../src/outgoing/proxied-headers.ts'

/** A plain object stands for the Request, since a real Request drops hop-by-hop headers. */
const from = (headers: Headers, cf?: object): Request => ({ headers, cf }) as unknown as Request

test.each<[string, Record<string, string>, object | undefined, string[]]>([
  ['the front saw', {}, { clientAddress: '10.1.2.3' }, ['10.1.2.3']],
  [
    'the front saw, behind those of proxies',
    { 'X-Forwarded-For': '1.1.1.1, 2.2.2.2' },
    { clientAddress: '::1' },
    ['1.1.1.1, 2.2.2.2, ::1'],
  ],
  ['Cloudflare saw', { 'CF-Connecting-IP': '10.1.2.3' }, undefined, ['10.1.2.3']],
  ['proxies saw alone', { 'X-Forwarded-For': '1.1.1.1' }, undefined, ['1.1.1.1']],
  ['nobody saw', {}, undefined, []],
])('X-Forwarded-For has the addresses that %s', (_, headers, cf, expected) => {
  const pairs = proxiedHeaders(from(new Headers(headers), cf), false)
  expect(pairs.flatMap(([name, value]) => (name.toLowerCase() === 'x-forwarded-for' ? [value] : []))).toEqual(expected)
})

test.each([
  ['Authorization', 'Bearer t'],
  ['Impersonate-User', 'jane'],
  ['Impersonate-Extra-A', 'b'],
  ['X-Remote-User', 'jane'],
  ['X-Remote-Uid', '1'],
  ['X-Remote-Group', 'system:masters'],
  ['X-Remote-Extra-A', 'b'],
  ['X_Remote_Group', 'system:masters'],
  ['x-remote_extra_a', 'b'],
  ['Host', 'here'],
  ['Connection', 'close'],
  ['Transfer-Encoding', 'chunked'],
  ['Upgrade', 'websocket'],
  ['Kedge-Tunnel', 'ticket'],
  ['X_Forwarded_For', '1.1.1.1'],
  ['X-Forwarded-Host', 'evil.example.com'],
  ['X-Forwarded-Proto', 'http'],
  ['X-Forwarded-Uri', '/elsewhere'],
])('%s is not passed on', (name, value) => {
  expect(proxiedHeaders(from(new Headers([[name, value]])), false)).toEqual([])
})

test('headers that Connection names are not passed on', () => {
  const headers = new Headers({ Connection: 'keep-alive, X-Hop', 'X-Hop': '1', 'X-Remoteness': '2', Accept: '*/*' })
  expect(proxiedHeaders(from(headers), false)).toEqual([
    ['accept', '*/*'],
    ['x-remoteness', '2'],
  ])
})

test('an upgrade is asked for anew, and a token among its protocols stays here', () => {
  const headers = new Headers({
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Protocol': 'v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.dG9rZW4',
  })
  expect(proxiedHeaders(from(headers), true)).toEqual([
    ['sec-websocket-protocol', 'v5.channel.k8s.io'],
    ['Connection', 'Upgrade'],
    ['Upgrade', 'websocket'],
  ])
})

test('a user is sent in one header for each group and each value; keys are percent-encoded', () => {
  const extra = { 'example.com/scopes %': ['view', 'edit'], ü: ['x'] }
  expect(userHeaders({ name: 'jane', uid: '', groups: ['a, b', 'c'], extra })).toEqual([
    ['X-Remote-User', 'jane'],
    ['X-Remote-Group', 'a, b'],
    ['X-Remote-Group', 'c'],
    ['X-Remote-Extra-example.com%2Fscopes%20%25', 'view'],
    ['X-Remote-Extra-example.com%2Fscopes%20%25', 'edit'],
    ['X-Remote-Extra-%C3%BC', 'x'],
  ])
})
