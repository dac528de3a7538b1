// Request heads with hop-by-hop headers and with headers that name another method, path or host. The engine serves the
// request that the front has read.
import { row, stricter } from './row.ts'
import type { Headers, Row, Who } from './row.ts'

const SECRET = 'GET /api/v1/namespaces/b/secrets/one'
const OWN = 'GET /api/v1/namespaces/a/configmaps/one'
const FORBIDDEN = '403 Forbidden'
const ALICE: Headers = { 'Impersonate-User': 'alice' }
const as = (headers: Headers) => ({ headers })

/** Connection names a header as hop-by-hop. The front must not drop that header before the engine checks it. */
const named = (names: string): readonly Row[] => [
  row(
    `Connection: ${names} does not end an impersonation`,
    'admin',
    SECRET,
    FORBIDDEN,
    as({ ...ALICE, Connection: names }),
  ),
  row(
    `Connection: ${names} does not give one away`,
    'impersonator',
    SECRET,
    FORBIDDEN,
    as({ ...ALICE, Connection: names }),
  ),
  row(`Connection: ${names} leaves a token where it is`, 'owner', OWN, '200', as({ Connection: names })),
  row(`Connection: ${names} makes nobody known`, 'anonymous', SECRET, FORBIDDEN, as({ Connection: names })),
]

const OTHER_METHODS: readonly Headers[] = [
  { 'X-HTTP-Method-Override': 'DELETE' },
  { 'X-HTTP-Method': 'DELETE' },
  { 'X-Method-Override': 'PATCH' },
]
const OTHER_PATHS: readonly Headers[] = [
  { 'X-Original-URL': '/version' },
  { 'X-Rewrite-URL': '/version' },
  { 'X-Forwarded-Uri': '/version' },
  { 'X-Forwarded-Prefix': '/version' },
  { 'X-Original-Method': 'GET', 'X-Forwarded-Method': 'GET' },
]
const OTHER_HOSTS: readonly Headers[] = [
  { Host: 'b.example.com' },
  { Host: 'localhost' },
  { Host: 'kubernetes.default.svc' },
  { Host: '169.254.169.254' },
  { Host: 'control-plane-b.example.com', 'X-Forwarded-Host': 'control-plane-b.example.com' },
  { Forwarded: 'for=127.0.0.1;host=b;proto=http;by=_x' },
  { 'X-Forwarded-For': '127.0.0.1, ::1', 'X-Real-Ip': '127.0.0.1', 'X-Forwarded-Proto': 'http' },
]
const OWN_WORDS: readonly Headers[] = [
  { 'Kedge-Front': 'x' },
  { 'Kedge-Shard': '%7B%7D' },
  { 'Kedge-Client-Certificate': 'admin' },
  { 'Kedge-Tenant': 'root' },
  { 'MF-Original-URL': 'https://x/', 'MF-Custom-Service': 'x' },
  { 'CF-Worker': 'x', 'CF-Ray': 'x', 'CF-EW-Via': '15' },
  { 'CF-Cert-Verified': 'true', 'CF-Client-Cert-Verified': 'SUCCESS' },
  { 'X-Audit': 'none', 'X-Kubernetes-PF-FlowSchema-UID': 'exempt' },
]
const everywhere = (what: string, all: readonly Headers[], whos: readonly (readonly [Who, string, string])[]): Row[] =>
  all.flatMap((headers) =>
    whos.map(([who, request, answer]) =>
      row(
        `${what}: ${Object.entries(headers)
          .map(([name, value]) => `${name}: ${String(value)}`)
          .join(', ')}`,
        who,
        request,
        answer,
        as(headers),
      ),
    ),
  )

export const heads: readonly Row[] = [
  ...[
    'Impersonate-User',
    'impersonate-user, impersonate-group',
    'close, Impersonate-User',
    'Authorization',
    'Content-Type, Authorization, Impersonate-User, Host',
    'X-Remote-User',
  ].flatMap(named),
  row(
    'Connection in two lines',
    'admin',
    SECRET,
    FORBIDDEN,
    as({ ...ALICE, Connection: ['keep-alive', 'Impersonate-User'] }),
  ),
  row('Keep-Alive names nothing', 'admin', SECRET, FORBIDDEN, as({ ...ALICE, 'Keep-Alive': 'Impersonate-User' })),
  row('nor does TE', 'admin', SECRET, FORBIDDEN, as({ ...ALICE, TE: 'trailers, Impersonate-User' })),
  row('credentials for a proxy are none', 'anonymous', SECRET, FORBIDDEN, (world) =>
    as({ 'Proxy-Authorization': `Bearer ${world.tokenOf('reader')}` }),
  ),
  row('nor in a cookie', 'anonymous', SECRET, FORBIDDEN, (world) =>
    as({ Cookie: `token=${world.tokenOf('reader')}; Authorization=Bearer ${world.tokenOf('reader')}` }),
  ),
  row('nor under another name', 'anonymous', SECRET, FORBIDDEN, (world) =>
    as({
      'X-Authorization': `Bearer ${world.tokenOf('reader')}`,
      'X-Forwarded-Authorization': `Bearer ${world.tokenOf('reader')}`,
    }),
  ),
  row('nor in WebSocket protocols without a WebSocket', 'anonymous', SECRET, FORBIDDEN, (world) =>
    as({
      'Sec-WebSocket-Protocol': `base64url.bearer.authorization.k8s.io.${Buffer.from(world.tokenOf('reader')).toString('base64url')}, x`,
    }),
  ),
  row('the first of two tokens counts', 'anonymous', SECRET, '401 Unauthorized', (world) =>
    as({ Authorization: ['Bearer x', `Bearer ${world.tokenOf('reader')}`] }),
  ),
  row('the first of two tokens counts, the other way', 'anonymous', SECRET, '200', (world) =>
    as({ Authorization: [`Bearer ${world.tokenOf('reader')}`, 'Bearer x'] }),
  ),
  stricter(
    '400',
    row(
      'Connection may not even name the header of the front',
      'owner',
      OWN,
      '200',
      as({ Connection: 'Kedge-Front-Statement' }),
    ),
  ),
  row('two tokens in one line are none', 'anonymous', SECRET, '401 Unauthorized', (world) =>
    as({ Authorization: `Bearer x, Bearer ${world.tokenOf('reader')}` }),
  ),
  row(
    'the first of two users counts',
    'impersonator',
    SECRET,
    FORBIDDEN,
    as({ 'Impersonate-User': ['alice', 'system:admin'] }),
  ),
  row(
    'the first of two users counts, the other way',
    'impersonator',
    'GET /api',
    FORBIDDEN,
    as({ 'Impersonate-User': ['system:admin', 'alice'] }),
  ),
  ...everywhere('another method in a header', OTHER_METHODS, [
    ['owner', OWN, '200'],
    ['nobody', 'POST /api/v1/namespaces/b/configmaps', FORBIDDEN],
    ['reader', 'DELETE /api/v1/namespaces/b/configmaps/one', FORBIDDEN],
  ]),
  ...everywhere('another path in a header', OTHER_PATHS, [
    ['nobody', SECRET, FORBIDDEN],
    ['anonymous', SECRET, FORBIDDEN],
    ['owner', OWN, '200'],
  ]),
  ...everywhere('another host', OTHER_HOSTS, [
    ['nobody', SECRET, FORBIDDEN],
    ['anonymous', SECRET, FORBIDDEN],
    ['anonymous', 'GET /metrics', FORBIDDEN],
    ['owner', OWN, '200'],
  ]),
  ...everywhere('words of the engine', OWN_WORDS, [
    ['nobody', SECRET, FORBIDDEN],
    ['anonymous', SECRET, FORBIDDEN],
    ['owner', OWN, '200'],
  ]),
  ...['bytes=0-10', 'bytes=0-0,5-6', 'lines=1-2', 'x'].map((Range) =>
    row(`a part of an object: ${Range}`, 'owner', OWN, '200', as({ Range }), ({ text }) => {
      JSON.parse(text)
    }),
  ),
  ...['*', '"x"', 'W/"1"'].map((etag) =>
    row(
      `a condition that is none of Kubernetes: ${etag}`,
      'owner',
      OWN,
      '200',
      as({ 'If-None-Match': etag, 'If-Match': etag }),
    ),
  ),
  ...['br', 'zstd', 'gzip;q=0', '*', 'gzip, gzip', 'identity;q=0, *;q=0', 'x'.repeat(5_000)].map((coding) =>
    row(`an answer in ${coding.slice(0, 30)}`, 'owner', OWN, '200', as({ 'Accept-Encoding': coding })),
  ),
  ...['*/*', '', 'application/json;q=0'].map((Accept) =>
    row(`an answer of ${JSON.stringify(Accept)}`, 'owner', OWN, '200', as({ Accept })),
  ),
  ...[
    'text/html',
    'application/json;as=Table;g=x;v=y',
    'x',
    ','.repeat(3_000),
    'a/b;q=0.1,'.repeat(2_000),
    'application/json;as=constructor',
    'application/json;as=__proto__;v=v1;g=meta.k8s.io',
  ].map((Accept) =>
    row(`an answer of ${JSON.stringify(Accept.slice(0, 40))}`, 'owner', OWN, '406 NotAcceptable', as({ Accept })),
  ),
  row('a host with a path', 'nobody', SECRET, '400', as({ Host: 'a/../b' })),
  row('a host with a user', 'nobody', SECRET, '400', as({ Host: 'admin@b' })),
  row('a host with a blank', 'nobody', SECRET, '400', as({ Host: 'a b' })),
  row('a host of nothing', 'nobody', SECRET, FORBIDDEN, as({ Host: '' })),
  ...[
    '/clusters/b',
    '/clusters/root',
    '/clusters/../api',
    '/clusters/b/api/v1/namespaces/b/secrets/one',
    '/tenants/b/api',
    '/root/api',
  ].flatMap((path) => [
    row('a control plane that nobody made', 'anonymous', `GET ${path}`, FORBIDDEN),
    row('a control plane that nobody made', 'reader', `GET ${path}`, FORBIDDEN),
  ]),
]
