// The prefixes /watch and /proxy before a resource need the verb "watch" (or "proxy"), and take GET alone.
import { row } from './row.ts'
import type { Row } from './row.ts'

const WRITES = ['POST', 'PUT', 'PATCH', 'DELETE'] as const
const PLACES = [
  '/api/v1/watch/configmaps',
  '/api/v1/watch/namespaces/a/configmaps',
  '/api/v1/watch/namespaces/a/configmaps/one',
] as const
const SECRETS = '/api/v1/watch/namespaces/a/secrets'
const DEEP = '/api/v1/watch/namespaces/a/serviceaccounts/owner/token'
const body = { body: {} }

export const legacyPrefixes: readonly Row[] = [
  ...PLACES.flatMap((place) => [
    ...WRITES.map((method) =>
      row('a watch prefix takes GET alone', 'watcher', `${method} ${place}`, '405 MethodNotAllowed', body),
    ),
    ...WRITES.map((method) =>
      row('a watch prefix takes GET alone', 'reader', `${method} ${place}`, '405 MethodNotAllowed', body),
    ),
    ...[...WRITES, 'GET'].map((method) =>
      row(
        'who may not watch learns nothing',
        'nobody',
        `${method} ${place}`,
        '403 Forbidden',
        method === 'GET' ? {} : body,
      ),
    ),
    row('who may not watch learns nothing', 'anonymous', `GET ${place}`, '403 Forbidden'),
    row('a watch prefix watches', 'watcher', `GET ${place}?timeoutSeconds=1`, '200'),
  ]),
  ...[...WRITES, 'GET'].map((method) =>
    row(
      'watching configmaps is no right to secrets',
      'watcher',
      `${method} ${SECRETS}`,
      '403 Forbidden',
      method === 'GET' ? {} : body,
    ),
  ),
  ...(['watcher', 'reader', 'nobody', 'anonymous'] as const).map((who) =>
    row(
      'no token comes through a watch prefix',
      who,
      `POST ${DEEP}`,
      who === 'reader' ? '404 NotFound' : '403 Forbidden',
      body,
    ),
  ),
  ...WRITES.map((method) =>
    row('the proxy prefix is gone', 'admin', `${method} /api/v1/proxy/namespaces/a/pods/unbound`, '404 NotFound', body),
  ),
  ...(['GET', 'POST', 'DELETE'] as const).map((method) =>
    row(
      'the proxy prefix needs the verb proxy',
      'reader',
      `${method} /api/v1/proxy/namespaces/a/pods/unbound`,
      '403 Forbidden',
    ),
  ),
]
