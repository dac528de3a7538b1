// The status of a quota is a write like others: kube-apiserver charges it through its own client, with all of admission.
import { expect, test } from 'vitest'
import { pluginServer } from '../../plugin-server.ts'

const GROUP = '/apis/admissionregistration.k8s.io/v1'

const configured = (kind: string, spec: object) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  metadata: { name: 'frozen' },
  spec,
})

test('a policy that refuses the charge refuses the write', async () => {
  const server = pluginServer()
  await server.namespace('blue')
  const metadata = { name: 'q', namespace: 'blue' }
  const hard = { 'count/configmaps': '5' }
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard } }
  await server.memory.put('', 'resourcequotas', { ...quota, status: { hard, used: { 'count/configmaps': '0' } } })
  const create = (name: string) =>
    server.send('POST', '/api/v1/namespaces/blue/configmaps', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
    })
  expect((await create('a')).code).toBe(201)
  const resourceRules = [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['resourcequotas/status'] },
  ]
  const validations = [{ expression: 'false', messageExpression: "'not by ' + request.userInfo.username" }]
  const policy = { matchConstraints: { resourceRules }, validations }
  await server.send('POST', `${GROUP}/validatingadmissionpolicies`, configured('ValidatingAdmissionPolicy', policy))
  await server.send(
    'POST',
    `${GROUP}/validatingadmissionpolicybindings`,
    configured('ValidatingAdmissionPolicyBinding', { policyName: 'frozen', validationActions: ['Deny'] }),
  )
  server.memory.now = new Date(server.memory.now.getTime() + 60_000)
  expect(await create('b')).toMatchObject({
    code: 422,
    body: {
      message:
        "resourcequotas \"q\" is forbidden: ValidatingAdmissionPolicy 'frozen' with binding 'frozen' denied request: not by system:apiserver",
    },
  })
  expect((await server.send('GET', '/api/v1/namespaces/blue/configmaps/b')).code).toBe(404)
})
