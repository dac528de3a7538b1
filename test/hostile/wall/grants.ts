// RBAC escalation: a user cannot grant rights that he lacks, by roles, bindings or aggregation.
import { row } from './row.ts'
import type { Row } from './row.ts'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const ROLES = `${RBAC}/namespaces/a/roles`
const BINDINGS = `${RBAC}/namespaces/a/rolebindings`
const CLUSTER_ROLES = `${RBAC}/clusterroles`
const CLUSTER_BINDINGS = `${RBAC}/clusterrolebindings`
const DRY = '?dryRun=All'
const FORBIDDEN = '403 Forbidden'

interface Rule {
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
  readonly verbs: readonly string[]
}
const on = (resource: string, verb: string, group = '', resourceNames?: readonly string[]): Rule => ({
  apiGroups: [group],
  resources: [resource],
  verbs: [verb],
  ...(resourceNames ? { resourceNames } : {}),
})
const role = (...rules: readonly Rule[]) => ({ body: { metadata: { name: 'tried' }, rules } })
const binding = (
  kind: string,
  name: string,
  subjects: readonly object[] = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'eve' }],
) => ({
  body: { metadata: { name: 'tried' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name }, subjects },
})

const TOO_MUCH: readonly (readonly [what: string, rule: Rule])[] = [
  ['another verb', on('configmaps', 'list')],
  ['every verb', on('configmaps', '*')],
  ['another resource', on('secrets', 'get')],
  ['every resource', on('*', 'get')],
  ['a subresource', on('configmaps/status', 'get')],
  ['every subresource', on('*/status', 'get')],
  ['another group', on('configmaps', 'get', 'apps')],
  ['every group', on('configmaps', 'get', '*')],
  ['everything', on('*', '*', '*')],
  ['a name of another resource', on('secrets', 'get', '', ['one'])],
  ['impersonation', on('users', 'impersonate')],
  ['escalation', on('roles', 'escalate', 'rbac.authorization.k8s.io')],
  ['binding', on('clusterroles', 'bind', 'rbac.authorization.k8s.io')],
  ['a resource in other letters', on('Configmaps', 'get')],
  ['a verb in other letters', on('configmaps', 'GET')],
  ['a name of Object.prototype', on('constructor', 'get')],
]
const WITHIN: readonly (readonly [what: string, rule: Rule])[] = [
  ['the same', on('configmaps', 'get')],
  ['less: one name', on('configmaps', 'get', '', ['one'])],
  ['the same twice', { apiGroups: ['', ''], resources: ['configmaps'], verbs: ['get', 'get'] }],
]

export const grants: readonly Row[] = [
  ...TOO_MUCH.map(([what, rule]) =>
    row(`a role gives away ${what}`, 'granter', `POST ${ROLES}${DRY}`, FORBIDDEN, role(rule)),
  ),
  ...TOO_MUCH.map(([what, rule]) =>
    row(`a cluster role gives away ${what}`, 'granter', `POST ${CLUSTER_ROLES}${DRY}`, FORBIDDEN, role(rule)),
  ),
  ...WITHIN.map(([what, rule]) => row(`a role gives ${what}`, 'granter', `POST ${ROLES}${DRY}`, '201', role(rule))),
  row(
    'a good rule carries no bad one',
    'granter',
    `POST ${ROLES}${DRY}`,
    FORBIDDEN,
    role(on('configmaps', 'get'), on('secrets', 'get')),
  ),
  ...['/metrics', '/healthz/extra', '/*', '*', '/backup'].map((url) =>
    row(
      `a cluster role gives away the URL ${url}`,
      'granter',
      `POST ${CLUSTER_ROLES}${DRY}`,
      FORBIDDEN,
      role({ nonResourceURLs: [url], verbs: ['get'] }),
    ),
  ),
  row(
    'a URL that everybody has',
    'granter',
    `POST ${CLUSTER_ROLES}${DRY}`,
    '201',
    role({ nonResourceURLs: ['/version'], verbs: ['get'] }),
  ),
  ...['/metrics', '*'].map((url) =>
    row(
      `a role in a namespace has no URLs: ${url}`,
      'admin',
      `POST ${ROLES}${DRY}`,
      '422 Invalid',
      role({ nonResourceURLs: [url], verbs: ['get'] }),
    ),
  ),
  row('the owner of a namespace gives what is his', 'owner', `POST ${ROLES}${DRY}`, '201', role(on('*', '*', '*'))),
  row(
    'and nothing elsewhere',
    'owner',
    `POST ${RBAC}/namespaces/b/roles${DRY}`,
    FORBIDDEN,
    role(on('configmaps', 'get')),
  ),
  row('nor in the cluster', 'owner', `POST ${CLUSTER_ROLES}${DRY}`, FORBIDDEN, role(on('configmaps', 'get'))),
  row('escalate is leave to give more', 'escalator', `POST ${ROLES}${DRY}`, '201', role(on('*', '*', '*'))),
  row(
    'for roles, not for cluster roles',
    'escalator',
    `POST ${CLUSTER_ROLES}${DRY}`,
    FORBIDDEN,
    role(on('*', '*', '*')),
  ),
  row(
    'an aggregated role takes its rules from whatever is labelled',
    'granter',
    `POST ${CLUSTER_ROLES}${DRY}`,
    FORBIDDEN,
    {
      body: {
        metadata: { name: 'tried' },
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { x: 'y' } }] },
        rules: [],
      },
    },
  ),
  row('aggregation is everything in this respect', 'escalator', `POST ${CLUSTER_ROLES}${DRY}`, FORBIDDEN, {
    body: { metadata: { name: 'tried' }, aggregationRule: { clusterRoleSelectors: [{}] } },
  }),
  ...['admin', 'edit', 'view'].map((aggregate) =>
    row(`what a role adds to ${aggregate} has to be one’s own`, 'granter', `POST ${CLUSTER_ROLES}${DRY}`, FORBIDDEN, {
      body: {
        metadata: { name: 'tried', labels: { [`rbac.authorization.k8s.io/aggregate-to-${aggregate}`]: 'true' } },
        rules: [on('*', '*', '*')],
      },
    }),
  ),
  // updates
  row('an update gives no more than a create', 'granter', `PUT ${CLUSTER_ROLES}/hostile-granter${DRY}`, FORBIDDEN, {
    body: { metadata: { name: 'hostile-granter' }, rules: [on('*', '*', '*')] },
  }),
  ...['application/merge-patch+json', 'application/strategic-merge-patch+json'].map((type) =>
    row(`nor does a patch (${type})`, 'granter', `PATCH ${CLUSTER_ROLES}/hostile-granter${DRY}`, FORBIDDEN, {
      headers: { 'Content-Type': type },
      body: { rules: [on('*', '*', '*')] },
    }),
  ),
  row('nor a JSON patch', 'granter', `PATCH ${CLUSTER_ROLES}/hostile-granter${DRY}`, FORBIDDEN, {
    headers: { 'Content-Type': 'application/json-patch+json' },
    body: [{ op: 'replace', path: '/rules/0/verbs', value: ['*'] }],
  }),
  row('nor an apply', 'granter', `PATCH ${CLUSTER_ROLES}/tried?fieldManager=m&dryRun=All`, FORBIDDEN, {
    headers: { 'Content-Type': 'application/apply-patch+yaml' },
    body: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'tried' },
      rules: [on('*', '*', '*')],
    },
  }),
  row('nor an update that makes it', 'granter', `PUT ${CLUSTER_ROLES}/tried${DRY}`, FORBIDDEN, role(on('*', '*', '*'))),
  row(
    'a role that has more than one’s own is not to be touched',
    'granter',
    `PATCH ${CLUSTER_ROLES}/cluster-admin${DRY}`,
    FORBIDDEN,
    {
      headers: { 'Content-Type': 'application/merge-patch+json' },
      body: { metadata: { labels: { x: 'y' } } },
    },
  ),
  // bindings
  ...['cluster-admin', 'admin', 'edit', 'system:node', 'hostile-reader', 'hostile-scraper'].map((name) =>
    row(
      `a binding to ${name} gives more than one has`,
      'granter',
      `POST ${CLUSTER_BINDINGS}${DRY}`,
      FORBIDDEN,
      binding('ClusterRole', name),
    ),
  ),
  row('in a namespace, too', 'granter', `POST ${BINDINGS}${DRY}`, FORBIDDEN, binding('ClusterRole', 'cluster-admin')),
  row(
    'a binding of one’s own rights',
    'granter',
    `POST ${CLUSTER_BINDINGS}${DRY}`,
    '201',
    binding('ClusterRole', 'hostile-granter'),
  ),
  row(
    'bind is leave for the role it names',
    'binder',
    `POST ${CLUSTER_BINDINGS}${DRY}`,
    '201',
    binding('ClusterRole', 'hostile-reader'),
  ),
  row('in a namespace, too', 'binder', `POST ${BINDINGS}${DRY}`, '201', binding('ClusterRole', 'hostile-reader')),
  row(
    'and for no other',
    'binder',
    `POST ${CLUSTER_BINDINGS}${DRY}`,
    FORBIDDEN,
    binding('ClusterRole', 'cluster-admin'),
  ),
  row(
    'nor for a role of that name',
    'binder',
    `POST ${BINDINGS}${DRY}`,
    '404 NotFound',
    binding('Role', 'hostile-reader'),
  ),
  row('nor for the owner’s role', 'binder', `POST ${BINDINGS}${DRY}`, FORBIDDEN, binding('Role', 'owner')),
  row(
    'escalate is not bind',
    'escalator',
    `POST ${BINDINGS}${DRY}`,
    FORBIDDEN,
    binding('ClusterRole', 'cluster-admin'),
  ),
  row(
    'a role that is not there yet cannot be bound',
    'granter',
    `POST ${CLUSTER_BINDINGS}${DRY}`,
    '404 NotFound',
    binding('ClusterRole', 'later'),
  ),
  row(
    'a binding for all namespaces names no role of one',
    'granter',
    `POST ${CLUSTER_BINDINGS}${DRY}`,
    '400 BadRequest',
    binding('Role', 'owner'),
  ),
  row('the owner binds his own role', 'owner', `POST ${BINDINGS}${DRY}`, '201', binding('Role', 'owner')),
  row(
    'a cluster role gives in a namespace what is there',
    'owner',
    `POST ${BINDINGS}${DRY}`,
    '201',
    binding('ClusterRole', 'hostile-scraper'),
  ),
  row('and none in the cluster', 'owner', `POST ${CLUSTER_BINDINGS}${DRY}`, FORBIDDEN, binding('Role', 'owner')),
  row('the role of a binding stays', 'admin', `PATCH ${CLUSTER_BINDINGS}/hostile-reader${DRY}`, '422 Invalid', {
    headers: { 'Content-Type': 'application/merge-patch+json' },
    body: { roleRef: { name: 'cluster-admin' } },
  }),
  row(
    'subjects are added by those who may bind',
    'granter',
    `PATCH ${CLUSTER_BINDINGS}/cluster-admin${DRY}`,
    FORBIDDEN,
    {
      headers: { 'Content-Type': 'application/merge-patch+json' },
      body: { subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'eve' }] },
    },
  ),
  row('bind reaches updates', 'binder', `PATCH ${CLUSTER_BINDINGS}/hostile-reader${DRY}`, '200', {
    headers: { 'Content-Type': 'application/merge-patch+json' },
    body: { subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'eve' }] },
  }),
]
