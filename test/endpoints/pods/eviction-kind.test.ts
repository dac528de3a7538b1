import { expect, test } from 'vitest'
import { pluginServer } from '../../admission/plugin-server.ts'

const GROUP = 'admissionregistration.k8s.io'

// as kube-apiserver's: the connection's kind is policy/v1
test.each(['policy/v1', 'policy/v1beta1'])('policies see an Eviction of %s in policy/v1', async (apiVersion) => {
  const server = pluginServer()
  await server.namespace('blue')
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods/eviction'] }
  const said = "object.apiVersion + ' ' + request.kind.version + ' ' + request.requestKind.version"
  await server.send('POST', `/apis/${GROUP}/v1/validatingadmissionpolicies`, {
    metadata: { name: 'p' },
    spec: {
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression: 'false', messageExpression: said }],
    },
  })
  await server.send('POST', `/apis/${GROUP}/v1/validatingadmissionpolicybindings`, {
    metadata: { name: 'b' },
    spec: { policyName: 'p', validationActions: ['Deny'] },
  })
  const pods = '/api/v1/namespaces/blue/pods'
  await server.send('POST', pods, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } })
  const eviction = { apiVersion, kind: 'Eviction', metadata: { name: 'p' } }
  const { code, body } = await server.send('POST', `${pods}/p/eviction`, eviction)
  expect(code).toBe(422)
  expect(body.message).toMatch(/denied request: policy\/v1 v1 v1$/)
})
