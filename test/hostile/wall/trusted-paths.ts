// The server authorizes the path that it serves: no escape, dot or other character leads a request to another object.
import { row, stricter } from './row.ts'
import type { Row } from './row.ts'

const A = '/api/v1/namespaces/a'
/** The server reads these as paths of the namespace a, where no object has that name. */
const WITHIN: readonly string[] = [
  '/api/v1/namespaces/a/..%2fb/secrets/one',
  '/api/v1/namespaces/a%2f..%2f..%2fnamespaces/b/secrets/one',
  '/api/v1/namespaces/a/configmaps/..%2f..%2fb%2fsecrets%2fone',
  '/api/v1/namespaces/a/configmaps/%2e%2e/%2e%2e/b/secrets/one',
  '/api/v1/namespaces/a/configmaps/..;/secrets/one',
  '/api/v1/namespaces/a/configmaps/one%3f/../../../b/secrets/one',
  '/api/v1/namespaces/a/configmaps/one%23/../../../b/secrets/one',
  '/api/v1/namespaces/a/configmaps%5c..%5c..%5cb%5csecrets%5cone',
  '/api/v1/namespaces/a/configmaps/%ef%bc%8e%ef%bc%8e',
  '/api/v1/namespaces/a/%ef%bc%8fb/secrets/one',
  '/api/v1/namespaces/%61%2f%2e%2e%2fb/secrets/one',
]
/** Octets that are no valid UTF-8. A careless decoder reads them as dots. */
const OVERLONG: readonly string[] = [
  '/api/v1/namespaces/a/configmaps/%c0%ae%c0%ae/%c0%ae%c0%ae/b/secrets/one',
  '/api/v1/namespaces/a/configmaps/%e0%80%ae%e0%80%ae/b',
]
/** The server reads these as paths of other namespaces, or of none. */
const OUTSIDE: readonly string[] = [
  '/api/v1/namespaces/a;x/../b/secrets/one',
  '/api/v1/namespaces/b%00a/secrets/one',
  '/api/v1/namespaces/b%0d%0aX:%20y/secrets/one',
  '/api/v1/namespaces/%252e%252e/b/secrets/one',
  '/api/v1/namespaces/a%252f..%252fb/secrets/one',
  '/api/v1/namespaces/b%20/secrets/one',
  '/api/v1/namespaces/%20b/secrets/one',
  '/api/v1/namespaces/b./secrets/one',
  '/api/v1/namespaces/B/secrets/one',
  '/api/v1/namespaces/b/secrets;/one',
  '/api/v1/namespaces/b/secrets/one%2fstatus',
  '/api/v1/namespaces/b/secrets%2f/one',
  '///api/v1/namespaces/b/secrets/one',
  '/api/v1/namespaces/b//secrets//one',
  '/apis//v1/namespaces/b/secrets/one',
  '/apis/%2e/v1/namespaces/b/secrets/one',
  '/api/v1/watch/namespaces/b/secrets',
  '/api/v1/watch/namespaces/b/secrets/one?watch=false',
  '/api/v1/proxy/namespaces/b/secrets/one',
  '/api/v1/namespaces/b/secrets/one/proxy/x',
]

/** Requests of the owner of a, who has no rights in b. The server refuses them or finds no object of that name. */
export const trustedPaths: readonly Row[] = [
  ...WITHIN.map((path) => row('what begins in a does not end in b', 'owner', `GET ${path}`, '404 NotFound')),
  ...OVERLONG.map((path) =>
    stricter('400', row('dots in longer forms are none', 'owner', `GET ${path}`, '404 NotFound')),
  ),
  ...OUTSIDE.map((path) => row('what is not in a is refused', 'owner', `GET ${path}`, '403 Forbidden')),
  ...WITHIN.slice(0, 4).map((path) => row('nor is it deleted', 'owner', `DELETE ${path}?dryRun=All`, '404 NotFound')),
  row('a name with a slash in an escape is a subresource', 'owner', `GET ${A}/configmaps/one%2fstatus`, '404 NotFound'),
  row('a dot is a name that no object has', 'owner', `GET ${A}/configmaps/.`, '400 BadRequest'),
  row('so are two', 'owner', `GET ${A}/configmaps/..`, '400 BadRequest'),
  row('a NUL behind a name', 'owner', `GET ${A}/configmaps/one%00`, '404 NotFound'),
  row('a semicolon behind a name', 'owner', `GET ${A}/configmaps/one;a=b`, '404 NotFound'),
  row('a name in escapes is the name', 'owner', `GET ${A}/configmaps/%6fne`, '200'),
  stricter('400', row('octets that are no UTF-8', 'owner', `GET ${A}/configmaps/%ff`, '404 NotFound')),
  row('an escape that is none', 'owner', `GET ${A}/configmaps/%zz`, '400'),
  row('an escape cut off', 'owner', `GET ${A}/configmaps/one%`, '400'),
  row('a plus is a plus', 'owner', `GET ${A}/configmaps/o+ne`, '404 NotFound'),
  row('a body names the object of its path', 'owner', `PUT ${A}/configmaps/one?dryRun=All`, '400 BadRequest', {
    body: { metadata: { name: 'two', namespace: 'a' } },
  }),
  row('a name with a slash cannot be made', 'owner', `POST ${A}/configmaps?dryRun=All`, '422 Invalid', {
    body: { metadata: { name: '../b/x' } },
  }),
  ...['.', '..', 'a/b', 'a%2fb', 'a\0b', 'A', '-a', 'a'.repeat(254)].map((name) =>
    row(
      `nor one called ${JSON.stringify(name).slice(0, 20)}`,
      'owner',
      `POST ${A}/configmaps?dryRun=All`,
      '422 Invalid',
      {
        body: { metadata: { name } },
      },
    ),
  ),
  ...['.', '..', 'a/b', '%2e'].map((name) =>
    row(
      `nor a role called ${name}`,
      'owner',
      `POST /apis/rbac.authorization.k8s.io/v1/namespaces/a/roles?dryRun=All`,
      '422 Invalid',
      { body: { metadata: { name } } },
    ),
  ),
  row('a namespace called as a path', 'admin', 'POST /api/v1/namespaces?dryRun=All', '422 Invalid', {
    body: { metadata: { name: 'a/../b' } },
  }),
]
