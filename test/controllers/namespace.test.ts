import { expect, test } from 'vitest'
import type { Namespace } from '../../src/api/core/v1.ts'
import type { Remains } from '../../src/controllers/namespace.ts'
import { setConditions } from '../../src/controllers/namespace.ts'

const NOW = '2026-01-01T00:00:00Z'

const conditionsOf = (remains: Partial<Remains>) => {
  const namespace: Namespace = { metadata: { name: 'a' } }
  setConditions(namespace, { resources: new Map(), finalizers: new Map(), failures: [], ...remains }, NOW)
  return namespace.status?.conditions?.map(
    ({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`,
  )
}

const DISCOVERED = [
  'NamespaceDeletionDiscoveryFailure False ResourcesDiscovered: All resources successfully discovered',
  'NamespaceDeletionGroupVersionParsingFailure False ParsedGroupVersions: All legacy kube types successfully parsed',
]
const DELETED =
  'NamespaceDeletionContentFailure False ContentDeleted: All content successfully deleted, may be waiting on finalization'
const EMPTY = [
  'NamespaceContentRemaining False ContentRemoved: All content successfully removed',
  'NamespaceFinalizersRemaining False ContentHasNoFinalizers: All content-preserving finalizers finished',
]

test.each<[string, Partial<Remains>, string[]]>([
  ['nothing is left', {}, [...DISCOVERED, DELETED, ...EMPTY]],
  [
    'finalizers hold objects back',
    {
      resources: new Map([
        ['secrets.', 1],
        ['configmaps.', 2],
      ]),
      finalizers: new Map([['a.b/c', 3]]),
    },
    [
      ...DISCOVERED,
      DELETED,
      'NamespaceContentRemaining True SomeResourcesRemain: Some resources are remaining: configmaps. has 2 resource instances, secrets. has 1 resource instances',
      'NamespaceFinalizersRemaining True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: a.b/c in 3 resource instances',
    ],
  ],
  [
    'pods come to their end: what is left is not counted before they are gone',
    { resources: new Map([['pods.', 2]]), finalizers: new Map([['a.b/c', 1]]) },
    [...DISCOVERED, DELETED, ...EMPTY],
  ],
  [
    'pods should have gone',
    { resources: new Map([['pods.', 1]]), failures: ['unexpected items still remain'] },
    [
      ...DISCOVERED,
      'NamespaceDeletionContentFailure True ContentDeletionFailed: Failed to delete all resource types, 1 remaining: unexpected items still remain',
      ...EMPTY,
    ],
  ],
])('%s', (_, remains, conditions) => {
  expect(conditionsOf(remains)).toEqual(conditions)
})
