// Aggregated ClusterRoles give nobody more than the writer has: neither by rules, nor by selectors, nor by labels.
import { row } from './row.ts'
import type { Row } from './row.ts'

const FORBIDDEN = '403 Forbidden'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const ROLES = `${RBAC}/clusterroles`
const BINDINGS = `${RBAC}/namespaces/a/rolebindings`
const DRY = '?dryRun=All'
const GROUP = 'rbac.authorization.k8s.io'
const EVERYTHING = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }
const OWN = { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }
const TO_ADMIN = { [`${GROUP}/aggregate-to-admin`]: 'true' }
const merge = (body: unknown) => ({ headers: { 'Content-Type': 'application/merge-patch+json' }, body })
const role = (rest: object) => ({ body: { metadata: { name: 'tried' }, ...rest } })
const selecting = (...matchLabels: readonly object[]) => ({
  aggregationRule: { clusterRoleSelectors: matchLabels.map((one) => ({ matchLabels: one })) },
})
const bound = (kind: string, name: string, subject: object = { kind: 'User', apiGroup: GROUP, name: 'eve' }) => ({
  body: { metadata: { name: 'tried' }, roleRef: { apiGroup: GROUP, kind, name }, subjects: [subject] },
})

export const aggregatedRoles: readonly Row[] = [
  row('one’s own rights may be added to admin', 'granter', `POST ${ROLES}${DRY}`, '201', {
    body: { metadata: { name: 'tried', labels: TO_ADMIN }, rules: [OWN] },
  }),
  row('others not', 'granter', `POST ${ROLES}${DRY}`, FORBIDDEN, {
    body: { metadata: { name: 'tried', labels: TO_ADMIN }, rules: [OWN, EVERYTHING] },
  }),
  ...['cluster-admin', 'hostile-reader', 'hostile-scraper', 'system:node'].map((name) =>
    row(
      `a label adds ${name} to admin`,
      'granter',
      `PATCH ${ROLES}/${name}${DRY}`,
      FORBIDDEN,
      merge({ metadata: { labels: TO_ADMIN } }),
    ),
  ),
  row(
    'a label on one’s own role',
    'granter',
    `PATCH ${ROLES}/hostile-granter${DRY}`,
    '200',
    merge({ metadata: { labels: TO_ADMIN } }),
  ),
  ...['admin', 'edit', 'view'].flatMap((name) => [
    row(
      `${name} gets other selectors`,
      'granter',
      `PATCH ${ROLES}/${name}${DRY}`,
      FORBIDDEN,
      merge(selecting({ x: 'y' })),
    ),
    row(`${name} gets rules`, 'granter', `PATCH ${ROLES}/${name}${DRY}`, FORBIDDEN, merge({ rules: [EVERYTHING] })),
    row(
      `${name} loses its selectors`,
      'granter',
      `PATCH ${ROLES}/${name}${DRY}`,
      FORBIDDEN,
      merge({ aggregationRule: null }),
    ),
    row(`${name} is bound`, 'granter', `POST ${BINDINGS}${DRY}`, FORBIDDEN, bound('ClusterRole', name)),
  ]),
  row(
    'a role of one’s own begins to aggregate',
    'granter',
    `PATCH ${ROLES}/hostile-granter${DRY}`,
    FORBIDDEN,
    merge(selecting({ x: 'y' })),
  ),
  row(
    'an aggregated role beside one’s own rules',
    'granter',
    `POST ${ROLES}${DRY}`,
    FORBIDDEN,
    role({ rules: [OWN], ...selecting({ x: 'y' }) }),
  ),
  row(
    'selectors that select nothing',
    'granter',
    `POST ${ROLES}${DRY}`,
    '422 Invalid',
    role({ aggregationRule: { clusterRoleSelectors: [] } }),
  ),
  row('no selectors', 'granter', `POST ${ROLES}${DRY}`, '422 Invalid', role({ aggregationRule: {} })),
  row('selectors that are none', 'admin', `POST ${ROLES}${DRY}`, '422 Invalid', role(selecting({ '!': 'x' }))),
  row('who may everything aggregates', 'admin', `POST ${ROLES}${DRY}`, '201', role(selecting({ x: 'y' }))),
  row(
    'everything in a namespace is not everything',
    'owner',
    `POST ${ROLES}${DRY}`,
    FORBIDDEN,
    role(selecting({ x: 'y' })),
  ),
  row(
    'a role in a namespace does not aggregate',
    'owner',
    `POST ${RBAC}/namespaces/a/roles${DRY}&fieldValidation=Strict`,
    '400 BadRequest',
    role(selecting({ x: 'y' })),
  ),
  // binding
  row(
    'cluster-admin in a namespace has URLs, too',
    'owner',
    `POST ${BINDINGS}${DRY}`,
    '201',
    bound('ClusterRole', 'cluster-admin'),
  ),
  row('admin in one’s namespace', 'owner', `POST ${BINDINGS}${DRY}`, '201', bound('ClusterRole', 'admin')),
  row(
    'a binding in another namespace',
    'owner',
    `POST ${RBAC}/namespaces/b/rolebindings${DRY}`,
    FORBIDDEN,
    bound('ClusterRole', 'view'),
  ),
  row(
    'an account of another namespace is a subject',
    'owner',
    `POST ${BINDINGS}${DRY}`,
    '201',
    bound('Role', 'owner', { kind: 'ServiceAccount', namespace: 'b', name: 'default' }),
  ),
  row(
    'an account without a namespace is none',
    'owner',
    `POST ${BINDINGS}${DRY}`,
    '201',
    bound('Role', 'owner', { kind: 'ServiceAccount', name: 'default' }),
  ),
  row(
    'a kind that is none',
    'owner',
    `POST ${BINDINGS}${DRY}`,
    '422 Invalid',
    bound('Role', 'owner', { kind: 'constructor', name: 'x' }),
  ),
  row('a role of another group', 'owner', `POST ${BINDINGS}${DRY}`, '422 Invalid', {
    body: { metadata: { name: 'tried' }, roleRef: { apiGroup: 'x', kind: 'Role', name: 'owner' }, subjects: [] },
  }),
  row(
    'a role whose name is a path',
    'owner',
    `POST ${BINDINGS}${DRY}`,
    '422 Invalid',
    bound('Role', '../../b/roles/x'),
  ),
  row(
    'bind by name is no bind of another',
    'binder',
    `POST ${BINDINGS}${DRY}`,
    '404 NotFound',
    bound('ClusterRole', 'hostile-reader2'),
  ),
  row('bind of cluster roles is none of roles', 'binder', `POST ${BINDINGS}${DRY}`, FORBIDDEN, bound('Role', 'owner')),
  row(
    'escalate of roles reaches updates',
    'escalator',
    `PATCH ${RBAC}/namespaces/a/roles/owner${DRY}`,
    '200',
    merge({ rules: [EVERYTHING, OWN] }),
  ),
  row(
    'and not cluster roles',
    'escalator',
    `PATCH ${ROLES}/hostile-granter${DRY}`,
    FORBIDDEN,
    merge({ rules: [EVERYTHING] }),
  ),
  row('nor bindings', 'escalator', `POST ${BINDINGS}${DRY}`, FORBIDDEN, bound('Role', 'owner')),
  row(
    'a binding’s subjects by apply',
    'granter',
    `PATCH ${RBAC}/clusterrolebindings/cluster-admin?fieldManager=m&dryRun=All&force=true`,
    FORBIDDEN,
    {
      headers: { 'Content-Type': 'application/apply-patch+yaml' },
      body: {
        apiVersion: `${GROUP}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: { name: 'cluster-admin' },
        roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [{ kind: 'User', apiGroup: GROUP, name: 'eve' }],
      },
    },
  ),
  row('a binding is removed by who may', 'granter', `DELETE ${RBAC}/clusterrolebindings/hostile-reader${DRY}`, '200'),
]
