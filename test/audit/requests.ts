/**
 * Requests whose audit events kube-apiserver 1.36.3 recorded (`kube-apiserver.json`), in order: later ones need what
 * earlier ones made. Their Audit-Id is their name.
 */
export interface AuditedRequest {
  readonly name: string
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Objects are sent as JSON. */
  readonly body?: object | string
  /** The credentials of the request. Default: the administrator's certificate. */
  readonly as?: 'nobody' | 'bad token'
}

const core = '/api/v1/namespaces/plain'
const full = '/api/v1/namespaces/full'
const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/plain'
const configMap = (name: string, data?: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  ...(data && { data }),
})
const type = (subtype: string) => ({ 'Content-Type': `application/${subtype}` })
const alice = { 'Impersonate-User': 'alice', 'Impersonate-Group': 'devs', 'Impersonate-Extra-Team': 'red' }
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } },
  },
}

export const requests: readonly AuditedRequest[] = [
  { name: 'namespace', method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'plain' } } },
  { name: 'namespace-full', method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'full' } } },
  { name: 'create', method: 'POST', path: `${core}/configmaps`, body: configMap('one', { a: 'b' }) },
  { name: 'create-again', method: 'POST', path: `${core}/configmaps`, body: configMap('one') },
  {
    name: 'create-full',
    method: 'POST',
    path: `${full}/configmaps?fieldManager=me`,
    body: configMap('one', { a: '<&>' }),
  },
  { name: 'generate-name', method: 'POST', path: `${full}/configmaps`, body: { metadata: { generateName: 'some-' } } },
  {
    name: 'yaml',
    method: 'POST',
    path: `${full}/configmaps`,
    headers: type('yaml'),
    body: 'metadata:\n  name: yaml\ndata:\n  a: b\n',
  },
  { name: 'dry-run', method: 'POST', path: `${full}/configmaps?dryRun=All`, body: configMap('dry') },
  { name: 'broken', method: 'POST', path: `${core}/configmaps`, body: '{"kind":' },
  { name: 'invalid', method: 'POST', path: `${core}/configmaps`, body: configMap('Not_A_Name') },
  { name: 'get', path: `${core}/configmaps/one` },
  { name: 'get-full', path: `${full}/configmaps/one` },
  { name: 'get-protobuf', path: `${full}/configmaps/one`, headers: { Accept: 'application/vnd.kubernetes.protobuf' } },
  { name: 'get-yaml', path: `${full}/configmaps/one`, headers: { Accept: 'application/yaml' } },
  {
    name: 'get-table',
    path: `${full}/configmaps/one`,
    headers: { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
  },
  { name: 'get-missing', path: `${core}/configmaps/missing` },
  { name: 'list', path: `${core}/configmaps?limit=1` },
  { name: 'list-named', path: `${core}/configmaps?fieldSelector=metadata.name%3Done` },
  { name: 'list-full', path: `${full}/configmaps?labelSelector=a%3Db` },
  { name: 'watch', path: `${core}/configmaps?watch=true&timeoutSeconds=1&resourceVersion=0` },
  {
    name: 'merge-patch',
    method: 'PATCH',
    path: `${core}/configmaps/one`,
    headers: type('merge-patch+json'),
    body: '{"data": {"c": "d"}}',
  },
  {
    name: 'apply',
    method: 'PATCH',
    path: `${full}/configmaps/applied?fieldManager=me`,
    headers: type('apply-patch+yaml'),
    body: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata: {a: b}\n',
  },
  {
    name: 'json-patch',
    method: 'PATCH',
    path: `${full}/configmaps/one`,
    headers: type('json-patch+json'),
    body: '[{"op": "add", "path": "/data/x", "value": "y"}]',
  },
  { name: 'update', method: 'PUT', path: `${full}/configmaps/one`, body: configMap('one', { new: 'text' }) },
  {
    name: 'update-conflict',
    method: 'PUT',
    path: `${full}/configmaps/one`,
    body: { metadata: { name: 'one', resourceVersion: '1' } },
  },
  { name: 'deployment', method: 'POST', path: '/apis/apps/v1/namespaces/plain/deployments', body: deployment },
  { name: 'scale', path: '/apis/apps/v1/namespaces/plain/deployments/web/scale' },
  {
    name: 'scale-update',
    method: 'PATCH',
    path: '/apis/apps/v1/namespaces/plain/deployments/web/scale',
    headers: type('merge-patch+json'),
    body: { spec: { replicas: 3 } },
  },
  {
    name: 'status',
    method: 'PATCH',
    path: '/apis/apps/v1/namespaces/plain/deployments/web/status',
    headers: type('merge-patch+json'),
    body: { status: { replicas: 1 } },
  },
  { name: 'delete-deployment', method: 'DELETE', path: '/apis/apps/v1/namespaces/plain/deployments/web' },
  {
    name: 'eviction',
    method: 'POST',
    path: `${core}/pods/none/eviction`,
    body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'none' } },
  },
  { name: 'account', method: 'POST', path: `${core}/serviceaccounts`, body: { metadata: { name: 'robot' } } },
  {
    name: 'token',
    method: 'POST',
    path: `${core}/serviceaccounts/robot/token`,
    body: { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', spec: { audiences: [] } },
  },
  {
    name: 'token-review',
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/tokenreviews',
    body: { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1', spec: { token: 'not-a-token' } },
  },
  {
    name: 'access-review',
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: {
      kind: 'SelfSubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
    },
  },
  {
    name: 'secret',
    method: 'POST',
    path: `${core}/secrets`,
    body: { metadata: { name: 's' }, stringData: { a: 'hidden' } },
  },
  { name: 'secret-get', path: `${core}/secrets/s` },
  {
    name: 'role',
    method: 'POST',
    path: `${rbac}/roles`,
    body: { metadata: { name: 'reader' }, rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }] },
  },
  {
    name: 'binding',
    method: 'POST',
    path: `${rbac}/rolebindings`,
    body: {
      metadata: { name: 'readers' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'alice' }],
    },
  },
  { name: 'alice', path: `${core}/configmaps/one`, headers: alice },
  { name: 'alice-forbidden', path: `${core}/pods`, headers: alice },
  { name: 'impersonate-nobody', path: `${core}/pods`, headers: { 'Impersonate-Group': 'devs' } },
  { name: 'anonymous', path: `${core}/configmaps/one`, as: 'nobody' },
  { name: 'anonymous-version', path: '/version', as: 'nobody' },
  { name: 'bad-token', path: `${core}/configmaps/one`, as: 'bad token' },
  { name: 'bad-timeout', path: `${core}/configmaps/one?timeout=soon` },
  { name: 'deprecated', path: `${core}/endpoints` },
  { name: 'unknown-resource', path: '/api/v1/nonsense' },
  { name: 'unknown-path', path: '/nonsense?a=b%20c' },
  { name: 'not-allowed', method: 'POST', path: `${full}/configmaps/one`, body: configMap('one') },
  { name: 'discovery', path: '/apis/apps/v1' },
  { name: 'health', path: '/healthz' },
  { name: 'readiness', path: '/readyz/ping' },
  {
    name: 'proxied',
    path: `${core}/configmaps/one`,
    headers: { 'X-Forwarded-For': '192.0.2.1, 192.0.2.7', 'X-Real-Ip': '192.0.2.9' },
  },
  { name: 'long-agent', path: `${core}/configmaps/one`, headers: { 'User-Agent': 'x'.repeat(2000) } },
  { name: 'delete', method: 'DELETE', path: `${full}/configmaps/one` },
  {
    name: 'delete-options',
    method: 'DELETE',
    path: `${full}/configmaps/yaml`,
    body: { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' },
  },
  { name: 'delete-missing', method: 'DELETE', path: `${core}/configmaps/missing` },
  { name: 'delete-collection', method: 'DELETE', path: `${core}/configmaps?fieldSelector=metadata.name%3Done` },
]
