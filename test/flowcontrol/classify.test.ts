import { expect, test } from 'vitest'
import { authenticated } from '../../src/request/user-info.ts'
import type { UserInfo } from '../../src/request/user-info.ts'
import { attributesOf } from '../../src/authorization/attributes.ts'
import { classify } from '../../src/flowcontrol/classify.ts'
import { SnapshotData, controlSnapshot } from '../../src/tenancy/control-snapshot.ts'
import { memoryServer } from '../request-in-memory.ts'

const user = (name: string, ...groups: string[]) => authenticated({ name, groups })
const server = memoryServer()

test.each<[UserInfo, string, string, string]>([
  [user('alice'), '/api/v1/pods', 'global-default', 'global-default'],
  [user('alice'), '/healthz', 'probes', 'exempt'],
  [user('alice'), '/livez/ping', 'probes', 'exempt'],
  [user('alice'), '/livezz', 'global-default', 'global-default'],
  [user('root', 'system:masters'), '/api/v1/pods', 'exempt', 'exempt'],
  [user('system:kube-scheduler'), '/api/v1/nodes', 'kube-scheduler', 'workload-high'],
  [user('system:serviceaccount:kube-system:x'), '/api/v1/nodes', 'kube-system-service-accounts', 'workload-high'],
  [user('system:serviceaccount:a:x', 'system:serviceaccounts'), '/api/v1/nodes', 'service-accounts', 'workload-low'],
  [user('system:node:n', 'system:nodes'), '/api/v1/nodes/n/status', 'system-node-high', 'node-high'],
  [user('system:node:n', 'system:nodes'), '/api/v1/pods', 'system-nodes', 'system'],
])('%j %s', async (user, target, schema, level) => {
  const { info, query } = server.request(target)
  const found = classify(await controlSnapshot(server), attributesOf(user, info, query))
  expect([found.schema.metadata.name, found.level?.metadata.name]).toEqual([schema, level])
})

test('mandatory schemas count even when they are gone', () => {
  const name = (groups: string[]) => {
    const { info, query } = server.request('/api/v1/pods')
    return classify(SnapshotData.empty, attributesOf({ ...user('u'), groups }, info, query)).schema
  }
  expect(name(['system:masters'])).toMatchObject({ metadata: { name: 'exempt' } })
  expect(name(['system:authenticated'])).toMatchObject({ metadata: { name: 'catch-all' } })
  expect(name([])).toMatchObject({ metadata: { name: 'catch-all' } })
})

test('a schema whose level is not there is passed over', async () => {
  const server = memoryServer()
  await server.put('flowcontrol.apiserver.k8s.io', 'flowschemas', {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    kind: 'FlowSchema',
    metadata: { name: 'dangling' },
    spec: {
      priorityLevelConfiguration: { name: 'nowhere' },
      matchingPrecedence: 5,
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: 'alice' } }],
          nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
        },
      ],
    },
  })
  const { info, query } = server.request('/healthz')
  const found = classify(await controlSnapshot(server), attributesOf(user('alice'), info, query))
  expect(found.schema.metadata.name).toBe('probes')
})
