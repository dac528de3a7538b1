// A right in one namespace gives none in another, however the client spells the path.
import { row } from './row.ts'
import type { Row } from './row.ts'

const FORBIDDEN = '403 Forbidden'
const A = '/api/v1/namespaces/a'
const other = { metadata: { name: 'escaped', namespace: 'b' } }

export const namespaceEscapes: readonly Row[] = [
  ...(['GET', 'PUT', 'PATCH', 'DELETE'] as const).map((method) =>
    row(
      'a namespace below another is the outer one’s path',
      'owner',
      `${method} ${A}/namespaces/b`,
      '404 NotFound',
      method === 'GET' ? {} : { body: {} },
    ),
  ),
  ...(['finalize', 'status'] as const).map((sub) =>
    row('nor are its subresources', 'owner', `PUT ${A}/namespaces/b/${sub}`, '404 NotFound', {
      body: { metadata: { name: 'b' } },
    }),
  ),
  ...[
    'configmaps/one',
    'secrets/one',
    'configmaps',
    'secrets',
    'pods',
    'serviceaccounts/default',
    'events',
    'endpoints',
  ].map((rest) => row('rights in a are none in b', 'owner', `GET /api/v1/namespaces/b/${rest}`, FORBIDDEN)),
  ...['configmaps', 'secrets', 'pods', 'serviceaccounts', 'namespaces', 'nodes', 'persistentvolumes'].map((rest) =>
    row('rights in a are none in all namespaces', 'owner', `GET /api/v1/${rest}`, FORBIDDEN),
  ),
  row('the body names the namespace of the path', 'owner', `POST ${A}/configmaps`, '400 BadRequest', { body: other }),
  row('an update cannot move an object', 'owner', `PUT ${A}/configmaps/one`, '400 BadRequest', {
    body: { metadata: { name: 'one', namespace: 'b' } },
  }),
  row('a patch cannot move an object', 'owner', `PATCH ${A}/configmaps/one`, '400 BadRequest', {
    headers: { 'Content-Type': 'application/merge-patch+json' },
    body: { metadata: { namespace: 'b' } },
  }),
  row('a patch cannot rename an object', 'owner', `PATCH ${A}/configmaps/one`, '400 BadRequest', {
    headers: { 'Content-Type': 'application/merge-patch+json' },
    body: { metadata: { name: 'two' } },
  }),
  ...['%2e%2e/b', '../b', './b', 'b/.', 'b%00', 'b%2f', '%62'].map((escape) =>
    row('dots and escapes lead nowhere', 'owner', `GET /api/v1/namespaces/${escape}/secrets/one`, FORBIDDEN),
  ),
  ...['a/../b', 'a//../b', 'a%2f..%2fb'].map((escape) =>
    row('what begins in a stays in a', 'owner', `GET /api/v1/namespaces/${escape}/secrets/one`, '404 NotFound'),
  ),
]
