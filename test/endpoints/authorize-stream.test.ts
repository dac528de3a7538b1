/** A stream to a pod needs the permission to create, also by GET, with which a WebSocket begins. */
import { expect, test } from 'vitest'
import { StatusError } from '../../src/api/status.ts'
import { answer } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'

const RBAC = 'rbac.authorization.k8s.io'
const SUBRESOURCES = ['exec', 'attach', 'portforward']

async function outcomeOf(method: string, subresource: string, verbs: readonly string[], gates?: string) {
  const server = memoryServer({
    KEDGE_TOKEN_AUTH_FILE: 'token-of-eve,eve,1',
    ...(gates === undefined ? {} : { KEDGE_FEATURE_GATES: gates }),
  })
  const metadata = { name: 'streams', namespace: 'blue' }
  const resources = SUBRESOURCES.map((name) => `pods/${name}`)
  await server.put(RBAC, 'roles', { metadata, rules: [{ apiGroups: [''], resources, verbs: [...verbs] }] })
  await server.put(RBAC, 'rolebindings', {
    metadata,
    roleRef: { apiGroup: RBAC, kind: 'Role', name: 'streams' },
    subjects: [{ apiGroup: RBAC, kind: 'User', name: 'eve' }],
  })
  await server.put('', 'pods', {
    metadata: { name: 'web', namespace: 'blue' },
    spec: { containers: [{ name: 'main', image: 'i' }] },
  })
  const headers = { Authorization: 'Bearer token-of-eve' }
  const request = server.request(`/api/v1/namespaces/blue/pods/web/${subresource}?command=ls`, { method, headers })
  const error: unknown = await answer(request).catch((thrown: unknown) => thrown)
  return error instanceof StatusError ? `${error.code} ${error.message}` : error
}

const NO_NODE = '400 pod web does not have a host assigned'

test.each(
  SUBRESOURCES.flatMap((subresource): [string, string, readonly string[], string | undefined, string][] => [
    ['GET', subresource, ['get'], undefined, '403 pods "web" is forbidden: '],
    ['GET', subresource, ['get', 'create'], undefined, NO_NODE],
    ['POST', subresource, ['create'], undefined, NO_NODE],
    ['GET', subresource, ['get'], 'AuthorizePodWebsocketUpgradeCreatePermission=false', NO_NODE],
  ]),
)('%s %s with %j and the gates %s: %s', async (method, subresource, verbs, gates, expected) => {
  expect(await outcomeOf(method, subresource, verbs, gates)).toBe(expected)
})
