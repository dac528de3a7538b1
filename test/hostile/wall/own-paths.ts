// Paths that only Kedge serves, and operations for system:masters alone: backups, restores, definitions of built-in
// groups.
import { row, stricter } from './row.ts'
import type { Row } from './row.ts'

const DEFINITIONS = 'POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All'
const definition = (group: string) => ({
  body: {
    metadata: { name: `hostiles.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: { plural: 'hostiles', kind: 'Hostile' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  },
})

export const ownPaths: readonly Row[] = [
  ...(['nobody', 'anonymous', 'reader', 'owner', 'node'] as const).flatMap((who) => [
    row('all URLs are no backup', who, 'GET /backup', '403 Forbidden'),
    row('nor a restore', who, 'POST /restore', '403 Forbidden', { body: 'x' }),
  ]),
  // kube-apiserver has neither backups nor restores
  stricter('403 Forbidden', row('all URLs are no backup', 'scraper', 'GET /backup', '404')),
  stricter('403 Forbidden', row('nor a restore', 'scraper', 'POST /restore', '404', { body: 'x' })),
  ...['certificates.k8s.io', 'rbac.authorization.k8s.io', 'authentication.k8s.io'].map((group) =>
    row(
      'a definition in a group of Kubernetes needs an approval',
      'admin',
      DEFINITIONS,
      '422 Invalid',
      definition(group),
    ),
  ),
  ...(['nobody', 'reader', 'owner', 'granter'] as const).map((who) =>
    row('definitions are the administrator’s', who, DEFINITIONS, '403 Forbidden', definition('example.com')),
  ),
]
