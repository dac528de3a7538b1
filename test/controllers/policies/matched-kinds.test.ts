import { expect, test } from 'vitest'
import { matchedKinds } from '../../../src/controllers/policies/matched-kinds.ts'
import { builtInServed } from '../../../src/registry/served/built-in-served.ts'
import { memoryServer } from '../../request-in-memory.ts'

const { resources } = builtInServed(memoryServer().env)

test.each<[string, object[], string[]]>([
  ['a resource', [{ apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] }], ['apps/v1/Deployment']],
  [
    'its singular name, in any case',
    [{ apiGroups: ['apps'], apiVersions: ['v1'], resources: ['Deployment'] }],
    ['apps/v1/Deployment'],
  ],
  [
    'several rules, each kind once, sorted',
    [
      { apiGroups: ['batch'], apiVersions: ['v1'], resources: ['jobs', 'cronjobs'] },
      { apiGroups: ['apps'], apiVersions: ['v1'], resources: ['replicasets'] },
      { apiGroups: ['batch'], apiVersions: ['v1'], resources: ['jobs'] },
    ],
    ['apps/v1/ReplicaSet', 'batch/v1/CronJob', 'batch/v1/Job'],
  ],
  [
    'the core group, which says nothing of a group',
    [{ apiGroups: [''], apiVersions: ['v1'], resources: ['deployments'] }],
    ['apps/v1/Deployment'],
  ],
  ['a version that is not served', [{ apiGroups: ['apps'], apiVersions: ['v2'], resources: ['deployments'] }], []],
  ['all groups', [{ apiGroups: ['*'], apiVersions: ['v1'], resources: ['deployments'] }], []],
  ['all versions', [{ apiGroups: ['apps'], apiVersions: ['*'], resources: ['deployments'] }], []],
  [
    'all resources, and subresources',
    [{ apiGroups: ['apps'], apiVersions: ['v1'], resources: ['*', 'deployments/scale'] }],
    [],
  ],
])('%s', (_what, rules, kinds) => {
  expect(matchedKinds(rules, resources).map(({ group, version, kind }) => `${group}/${version}/${kind}`)).toEqual(kinds)
})

test('a rule that names ten kinds ends the search', () => {
  const names = [
    'deployments',
    'replicasets',
    'daemonsets',
    'statefulsets',
    'controllerrevisions',
    'jobs',
    'cronjobs',
    'pods',
    'services',
    'secrets',
    'nodes',
  ]
  const rule = { apiGroups: [''], apiVersions: ['v1'], resources: names }
  const next = { apiGroups: ['policy'], apiVersions: ['v1'], resources: ['poddisruptionbudgets'] }
  expect(matchedKinds([rule, next], resources)).toHaveLength(10)
})
