// Watches over WebSockets. Browsers open them from any page, so the server accepts only a token that the page has.
import { row } from './row.ts'
import type { Headers, Row, Who } from './row.ts'

const FORBIDDEN = '403 Forbidden'
import type { World } from './world.ts'

const A = '/api/v1/namespaces/a'
const WATCH = `${A}/configmaps?watch=1&timeoutSeconds=1`
const HANDSHAKE: Headers = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
  Origin: 'https://console.example.com',
}
const socket = (rule: string, who: Who, path: string, answer: string, change: Headers = {}): Row =>
  row(rule, who, `GET ${path}`, answer, { headers: { ...HANDSHAKE, ...change } })
const without = (name: string): Headers => Object.fromEntries(Object.entries(HANDSHAKE).filter(([key]) => key !== name))

const subprotocol = (token: string): string =>
  `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`
const asking = (rule: string, answer: string, protocols: (world: World) => string): Row =>
  row(rule, 'anonymous', `GET ${WATCH}`, answer, (world) => ({
    headers: { ...HANDSHAKE, 'Sec-WebSocket-Protocol': protocols(world) },
  }))

export const webSockets: readonly Row[] = [
  socket('who may watch', 'owner', WATCH, '101'),
  socket('who may not', 'nobody', WATCH, FORBIDDEN),
  socket('nobody', 'anonymous', WATCH, FORBIDDEN),
  socket('another namespace', 'owner', '/api/v1/namespaces/b/configmaps?watch=1', FORBIDDEN),
  ...['https://evil.example.com', 'http://localhost', 'https://x.y:1/z', 'file:///x', 'chrome-extension://x'].map(
    (Origin) => socket(`a page of ${Origin} without a token`, 'anonymous', WATCH, FORBIDDEN, { Origin }),
  ),
  ...['null', '', 'x', '%zz', 'evil.example.com'].map((Origin) =>
    socket(`the origin ${JSON.stringify(Origin)}`, 'owner', WATCH, '403', { Origin }),
  ),
  row('no origin', 'owner', `GET ${WATCH}`, '403', { headers: without('Origin') }),
  ...['12', '14', '', '8', '13, 8', 'x'].map((version) =>
    socket(`version ${JSON.stringify(version)}`, 'owner', WATCH, '400', { 'Sec-WebSocket-Version': version }),
  ),
  ...['x', 'A'.repeat(24)].map((key) =>
    socket(`the key ${JSON.stringify(key)}`, 'owner', WATCH, '101', { 'Sec-WebSocket-Key': key }),
  ),
  socket('an empty key', 'owner', WATCH, '400', { 'Sec-WebSocket-Key': '' }),
  row('no key', 'owner', `GET ${WATCH}`, '400', { headers: without('Sec-WebSocket-Key') }),
  asking('a token among the protocols', '101', (world) => `v4.channel.k8s.io, ${subprotocol(world.tokenOf('owner'))}`),
  asking('a token alone', '401 Unauthorized', (world) => subprotocol(world.tokenOf('owner'))),
  asking('a token of nobody', '401 Unauthorized', () => `v4.channel.k8s.io, ${subprotocol('x')}`),
  asking('a token of who may not', FORBIDDEN, (world) => `v4.channel.k8s.io, ${subprotocol(world.tokenOf('nobody'))}`),
  asking(
    'two tokens',
    '401 Unauthorized',
    (world) => `v4.channel.k8s.io, ${subprotocol(world.tokenOf('owner'))}, ${subprotocol(world.tokenOf('reader'))}`,
  ),
  asking(
    'a token in plain text',
    '401 Unauthorized',
    (world) => `v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.${world.tokenOf('owner')}`,
  ),
  asking(
    'a token with padding',
    '401 Unauthorized',
    (world) => `v4.channel.k8s.io, ${subprotocol(world.tokenOf('owner') + '\n')}==`,
  ),
  asking('an empty token', FORBIDDEN, () => 'v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.'),
  row('a token among protocols of no socket', 'anonymous', `GET ${A}/configmaps`, FORBIDDEN, (world) => ({
    headers: { 'Sec-WebSocket-Protocol': `v4.channel.k8s.io, ${subprotocol(world.tokenOf('owner'))}` },
  })),
  ...['h2c', 'SPDY/3.1', 'TLS/1.0', 'constructor', 'websocket2'].map((Upgrade) =>
    socket(`an upgrade to ${Upgrade} is no socket`, 'owner', WATCH, '200', { Upgrade }),
  ),
  ...['POST', 'PUT', 'DELETE'].map((method) =>
    row(`${method} with a handshake`, 'nobody', `${method} ${A}/configmaps/one`, FORBIDDEN, { headers: HANDSHAKE }),
  ),
  socket('a get with a handshake', 'nobody', `${A}/configmaps/one`, FORBIDDEN),
]
