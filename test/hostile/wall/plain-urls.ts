// Non-resource URLs, and paths that look like other paths.
import { row } from './row.ts'
import type { Row } from './row.ts'

const FORBIDDEN = '403 Forbidden'
const PRIVATE = [
  '/metrics',
  '/metrics/slis',
  '/metrics/cadvisor',
  '/logs',
  '/debug/pprof',
  '/debug/pprof/profile',
  '/debug/flags/v',
  '/configz',
  '/statusz',
  '/flagz',
]
const SECRET = '/api/v1/namespaces/b/secrets/one'

export const plainUrls: readonly Row[] = [
  ...PRIVATE.flatMap((path) =>
    (['nobody', 'anonymous', 'reader', 'owner', 'node'] as const).map((who) =>
      row('not for everybody', who, `GET ${path}`, FORBIDDEN),
    ),
  ),
  ...['/healthz', '/livez', '/readyz', '/version'].map((path) =>
    row('for everybody', 'anonymous', `GET ${path}`, '200'),
  ),
  ...['/api', '/apis', '/openapi/v2', '/openapi/v3', '/apis/apps/v1'].map((path) =>
    row('for who has a name', 'anonymous', `GET ${path}`, FORBIDDEN),
  ),
  ...['/api', '/apis'].map((path) => row('for who has a name', 'nobody', `GET ${path}`, '200')),
  ...['/healthz', '/version', '/api'].flatMap((path) =>
    ['POST', 'PUT', 'DELETE'].map((method) => row('reading is not writing', 'nobody', `${method} ${path}`, FORBIDDEN)),
  ),
  row('all URLs are no resources', 'scraper', `GET ${SECRET}`, FORBIDDEN),
  row('all URLs are all', 'scraper', 'GET /metrics', '200'),
  ...[
    '/metrics/',
    '/metrics/x',
    '//metrics',
    '/./metrics',
    '/version/../metrics',
    '/healthz/../metrics',
    '/version/%2e%2e/metrics',
    '/METRICS',
    '/metrics%2f',
    '/%6detrics',
    '/healthz%2f..%2fmetrics',
  ].map((path) => row('an allowed path is no prefix of another', 'anonymous', `GET ${path}`, FORBIDDEN)),
  ...[
    '/healthz/..' + SECRET,
    '/version/..' + SECRET,
    '/healthz//..' + SECRET,
    '//api/v1/namespaces/b/secrets/one',
    '/api//v1/namespaces/b/secrets/one',
    '/api/v1//namespaces/b/secrets/one',
    '/api/v1/namespaces//b/secrets/one',
    '/api/v1/namespaces/b/secrets//one',
    '/api/v1/namespaces/b/secrets/one/',
    '/./api/v1/namespaces/b/secrets/one',
    '/api/v1/namespaces/b/./secrets/one',
    '/api/v1/namespaces/b/secrets/one/.',
    '/api/v1/namespaces/b/secrets/x/../one',
    '/api%2fv1/namespaces/b/secrets/one',
    '/api/v1/namespaces/b/%73ecrets/one',
    '/api/v1/namespaces/b/secrets%2fone',
    '/api/v1/namespaces/b/secrets/one;x=y',
    '/api/v1/namespaces/b/secrets/one%00',
    '/api/v1/namespaces/b/secrets/one?',
    '/api/v1/namespaces/b/secrets/one?pretty=1&as=admin',
    '/API/V1/namespaces/b/secrets/one',
    '/api/v1/Namespaces/b/Secrets/one',
    '/api/v1/watch/namespaces/b/secrets/one',
    '/api/v1/namespaces/b/secrets/one/status',
    '/apis/v1/namespaces/b/secrets/one',
    '/api/v2/namespaces/b/secrets/one',
  ].map((path) => row('a Secret stays shut however it is asked for', 'nobody', `GET ${path}`, FORBIDDEN)),
  ...['/api/v1/namespaces/b/constructor', '/api/v1/hasOwnProperty', '/apis/apps/__proto__', '/api/constructor'].map(
    (path) => row('names of Object.prototype are no resources', 'admin', `GET ${path}`, '404 NotFound'),
  ),
  ...[
    '/apis/__proto__/v1/things',
    '/apis/constructor/v1',
    '/apis/toString',
    '/__proto__',
    '/constructor/prototype',
  ].map((path) => row('names of Object.prototype are no groups', 'admin', `GET ${path}`, '404')),
]
