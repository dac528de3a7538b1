// A node has rights to its own objects and to the pods that run on it, and to nothing else.
import { row } from './row.ts'
import type { Row } from './row.ts'

const FORBIDDEN = '403 Forbidden'
const A = '/api/v1/namespaces/a'
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'
const merge = (body: unknown) => ({ headers: { 'Content-Type': 'application/merge-patch+json' }, body })
const pod = (nodeName: string, rest: object = {}) => ({
  body: {
    metadata: { name: `mirror-${nodeName || 'none'}`, annotations: { 'kubernetes.io/config.mirror': 'x' } },
    spec: { nodeName, containers: [{ name: 'c', image: 'i' }], ...rest },
  },
})

export const nodes: readonly Row[] = [
  row('a node reads itself', 'node', 'GET /api/v1/nodes/n1', '200'),
  row(
    'a node changes its own status',
    'node',
    'PATCH /api/v1/nodes/n1/status?dryRun=All',
    '200',
    merge({ status: { nodeInfo: { kubeletVersion: 'v1' } } }),
  ),
  row('and not that of another', 'node', 'PATCH /api/v1/nodes/n2/status?dryRun=All', FORBIDDEN, merge({ status: {} })),
  row(
    'nor another node',
    'node',
    'PATCH /api/v1/nodes/n2?dryRun=All',
    FORBIDDEN,
    merge({ metadata: { labels: { x: 'y' } } }),
  ),
  row('a node makes no other node', 'node', 'POST /api/v1/nodes?dryRun=All', FORBIDDEN, {
    body: { metadata: { name: 'n3' } },
  }),
  row('nor removes one', 'node', 'DELETE /api/v1/nodes/n2?dryRun=All', FORBIDDEN),
  row('not even itself', 'node', 'DELETE /api/v1/nodes/n1?dryRun=All', FORBIDDEN),
  row(
    'a node takes no taint off',
    'node',
    'PATCH /api/v1/nodes/n1?dryRun=All',
    FORBIDDEN,
    merge({ spec: { taints: [{ key: 'x', effect: 'NoSchedule' }] } }),
  ),
  ...[
    'node-role.kubernetes.io/control-plane',
    'node-restriction.kubernetes.io/x',
    'kubernetes.io/other',
    'x.k8s.io/y',
  ].map((label) =>
    row(
      `a node gives itself no label ${label}`,
      'node',
      'PATCH /api/v1/nodes/n1?dryRun=All',
      FORBIDDEN,
      merge({ metadata: { labels: { [label]: 'x' } } }),
    ),
  ),
  row(
    'a label of its own choice is its own',
    'node',
    'PATCH /api/v1/nodes/n1?dryRun=All',
    '200',
    merge({ metadata: { labels: { 'example.com/x': 'y' } } }),
  ),
  row(
    'a node does not configure itself from another source',
    'node',
    'PATCH /api/v1/nodes/n1?dryRun=All',
    FORBIDDEN,
    merge({
      metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'x', uid: 'x' }] },
      spec: { taints: [{ key: 'a', effect: 'NoExecute' }] },
    }),
  ),
  // pods
  row('a node makes mirror pods for itself', 'node', `POST ${A}/pods?dryRun=All`, FORBIDDEN, {
    body: { metadata: { name: 'plain' }, spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] } },
  }),
  row('and not for another node', 'node', `POST ${A}/pods?dryRun=All`, FORBIDDEN, pod('n2')),
  row('nor for nobody', 'node', `POST ${A}/pods?dryRun=All`, FORBIDDEN, pod('')),
  row(
    'a mirror pod has no secrets',
    'node',
    `POST ${A}/pods?dryRun=All`,
    FORBIDDEN,
    pod('n1', { volumes: [{ name: 'v', secret: { secretName: 'one' } }] }),
  ),
  row(
    'a mirror pod has no account',
    'node',
    `POST ${A}/pods?dryRun=All`,
    FORBIDDEN,
    pod('n1', { serviceAccountName: 'owner' }),
  ),
  row(
    'a node tells the status of its pods',
    'node',
    `PATCH ${A}/pods/pod-n1/status?dryRun=All`,
    '200',
    merge({ status: { message: 'x' } }),
  ),
  row(
    'and not of those of others',
    'node',
    `PATCH ${A}/pods/pod-n2/status?dryRun=All`,
    FORBIDDEN,
    merge({ status: { message: 'x' } }),
  ),
  row(
    'nor of those that are nowhere',
    'node',
    `PATCH ${A}/pods/unbound/status?dryRun=All`,
    FORBIDDEN,
    merge({ status: { message: 'x' } }),
  ),
  row(
    'the status of a pod changes no labels',
    'node',
    `PATCH ${A}/pods/pod-n1/status?dryRun=All`,
    FORBIDDEN,
    merge({ metadata: { labels: { x: 'y' } } }),
  ),
  row('a node deletes its pods', 'node', `DELETE ${A}/pods/pod-n1?dryRun=All`, '200'),
  row('and none of another', 'node', `DELETE ${A}/pods/pod-n2?dryRun=All`, FORBIDDEN),
  row(
    'a node changes no spec',
    'node',
    `PATCH ${A}/pods/pod-n1?dryRun=All`,
    FORBIDDEN,
    merge({ metadata: { labels: { x: 'y' } } }),
  ),
  row('a node evicts none of another', 'node', `POST ${A}/pods/pod-n2/eviction`, FORBIDDEN, {
    body: {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'pod-n2' },
      deleteOptions: { dryRun: ['All'] },
    },
  }),
  row('a node binds no pod', 'node', `POST ${A}/pods/unbound/binding`, FORBIDDEN, {
    body: { metadata: { name: 'unbound' }, target: { name: 'n1' } },
  }),
  // Secrets and ConfigMaps that pods use
  ...['secrets', 'configmaps'].flatMap((resource) => [
    row('a node reads what its pods use', 'node', `GET ${A}/${resource}/one`, FORBIDDEN),
    row('not all of a namespace', 'node', `GET ${A}/${resource}`, FORBIDDEN),
    row('not all of the cluster', 'node', `GET /api/v1/${resource}`, FORBIDDEN),
    row('not in kube-system', 'node', `GET /api/v1/namespaces/kube-system/${resource}/one`, FORBIDDEN),
    row('a node writes none', 'node', `POST ${A}/${resource}`, FORBIDDEN, { body: { metadata: { name: 'x' } } }),
    row('a node deletes none', 'node', `DELETE ${A}/${resource}/one`, FORBIDDEN),
  ]),
  row('a node takes tokens of its pods’ accounts alone', 'node', `POST ${A}/serviceaccounts/owner/token`, FORBIDDEN, {
    body: { spec: {} },
  }),
  row('and only bound to a pod', 'node', `POST ${A}/serviceaccounts/default/token`, FORBIDDEN, { body: { spec: {} } }),
  row('of its own', 'node', `POST ${A}/serviceaccounts/default/token`, FORBIDDEN, {
    body: { spec: { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'pod-n2', uid: 'x' } } },
  }),
  // leases
  row('a node makes its lease', 'node', `POST ${LEASES}?dryRun=All`, '201', { body: { metadata: { name: 'n1' } } }),
  row('and not that of another', 'node', `POST ${LEASES}?dryRun=All`, FORBIDDEN, {
    body: { metadata: { name: 'n2' } },
  }),
  row('nor reads it', 'node', `GET ${LEASES}/n2`, FORBIDDEN),
  row('nor removes it', 'node', `DELETE ${LEASES}/n2`, FORBIDDEN),
  row(
    'nor has leases elsewhere',
    'node',
    'GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/n1',
    FORBIDDEN,
  ),
  ...[
    '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    '/apis/storage.k8s.io/v1/csinodes/n2',
    '/api/v1/namespaces',
  ].map((path) => row('a node’s rights are few', 'node', `GET ${path}`, FORBIDDEN)),
]
