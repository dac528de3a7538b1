// A right to a resource gives none to its subresources, and none that needs a special verb.
import { row } from './row.ts'
import type { Headers, Row } from './row.ts'

const FORBIDDEN = '403 Forbidden'
const A = '/api/v1/namespaces/a'
const CSR = '/apis/certificates.k8s.io/v1/certificatesigningrequests/x'

const WEB_SOCKET: Headers = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Protocol': 'v5.channel.k8s.io',
}

const SUBRESOURCES: readonly (readonly [methods: string, path: string])[] = [
  ['GET POST', `${A}/pods/unbound/exec?command=sh`],
  ['GET POST', `${A}/pods/unbound/attach`],
  ['GET POST', `${A}/pods/unbound/portforward`],
  ['GET POST PUT PATCH DELETE', `${A}/pods/unbound/proxy/x`],
  ['GET', `${A}/pods/unbound/log`],
  ['POST', `${A}/pods/unbound/binding`],
  ['POST', `${A}/pods/unbound/eviction`],
  ['GET PUT PATCH', `${A}/pods/unbound/status`],
  ['PUT PATCH', `${A}/pods/unbound/ephemeralcontainers`],
  ['PUT PATCH', `${A}/pods/unbound/resize`],
  ['POST', `${A}/serviceaccounts/owner/token`],
  ['GET POST', `${A}/services/x/proxy/y`],
  ['PUT PATCH', `${A}/services/x/status`],
  ['GET PUT', `${A}/replicationcontrollers/x/scale`],
  ['PUT', `${A}/persistentvolumeclaims/x/status`],
  ['PUT', '/api/v1/namespaces/b/finalize'],
  ['PUT PATCH', '/api/v1/namespaces/b/status'],
  ['GET POST', '/api/v1/nodes/n1/proxy/metrics'],
  ['PUT PATCH', '/api/v1/nodes/n1/status'],
  ['GET PUT PATCH', '/apis/apps/v1/namespaces/a/deployments/x/scale'],
  ['PUT', '/apis/apps/v1/namespaces/a/deployments/x/status'],
  ['GET PUT', '/apis/apps/v1/namespaces/a/statefulsets/x/scale'],
  ['GET PUT PATCH', `${CSR}/approval`],
  ['GET PUT PATCH', `${CSR}/status`],
  ['PUT', '/apis/policy/v1/namespaces/a/poddisruptionbudgets/x/status'],
]

export const subresources: readonly Row[] = [
  ...SUBRESOURCES.flatMap(([methods, path]) =>
    methods
      .split(' ')
      .map((method) =>
        row(
          'the main resource’s rights end there',
          'main',
          `${method} ${path}`,
          FORBIDDEN,
          method === 'GET' ? {} : { body: {} },
        ),
      ),
  ),
  ...['exec', 'attach', 'portforward'].flatMap((sub) => [
    row('a WebSocket to a pod asks for the right, too', 'main', `GET ${A}/pods/unbound/${sub}?command=sh`, FORBIDDEN, {
      headers: WEB_SOCKET,
    }),
    row('the right to read is none to create', 'reader', `GET ${A}/pods/unbound/${sub}?command=sh`, FORBIDDEN, {
      headers: WEB_SOCKET,
    }),
    row('nor without an upgrade', 'reader', `GET ${A}/pods/unbound/${sub}?command=sh`, FORBIDDEN),
    row('who may do both', 'owner', `GET ${A}/pods/unbound/${sub}?command=sh`, '400 BadRequest', {
      headers: WEB_SOCKET,
    }),
  ]),
  row('binding beside pods is a subresource, too', 'main', `POST ${A}/bindings`, FORBIDDEN, {
    body: { metadata: { name: 'unbound' }, target: { name: 'n1' } },
  }),
  // delete is not deletecollection, watch is not list, get is not list
  row('watching one kind is not listing it', 'watcher', `GET ${A}/configmaps`, FORBIDDEN),
  row('watching one kind is not getting it', 'watcher', `GET ${A}/configmaps/one`, FORBIDDEN),
  row('getting is not listing', 'granter', `GET ${A}/configmaps`, FORBIDDEN),
  row('getting is not watching', 'granter', `GET ${A}/configmaps?watch=1`, FORBIDDEN),
  row('getting is not deleting', 'granter', `DELETE ${A}/configmaps/one`, FORBIDDEN),
  row(
    'a list with a name is a list of that name',
    'granter',
    `GET ${A}/configmaps?fieldSelector=metadata.name%3Done`,
    FORBIDDEN,
  ),
  row('reading is not deleting a collection', 'reader', `DELETE ${A}/configmaps`, FORBIDDEN),
  ...['watch=1', 'watch=true', 'watch', 'watch=TRUE', 'watch=2', 'watch=yes'].map((watch) =>
    row('a watch of secrets in any spelling', 'watcher', `GET ${A}/secrets?${watch}`, FORBIDDEN),
  ),
  ...['watch=0', 'watch=false', 'watch=False'].map((watch) =>
    row('what says that it is no watch is a list', 'watcher', `GET ${A}/configmaps?${watch}`, FORBIDDEN),
  ),
  row('an apply that makes an object needs create', 'reader', `PATCH ${A}/configmaps/new?fieldManager=m`, FORBIDDEN, {
    headers: { 'Content-Type': 'application/apply-patch+yaml' },
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'new' } },
  }),
  ...['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'].map((header) =>
    row(`${header} overrides nothing`, 'reader', `GET ${A}/configmaps/one`, '200', { headers: { [header]: 'DELETE' } }),
  ),
]
