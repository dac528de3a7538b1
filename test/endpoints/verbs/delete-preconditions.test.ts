import { expect, test } from 'vitest'
import { pluginServer } from '../../admission/plugin-server.ts'

const API = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const definition = {
  metadata: { name: 'foos.example.com', finalizers: ['example.com/keep'] },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'foos', kind: 'Foo' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}
const namespace = { metadata: { name: 'green', finalizers: ['example.com/keep'] } }
const OWN = (what: string) =>
  new RegExp(
    `^Operation cannot be fulfilled on .* Precondition failed: ${what} in precondition: 7, ${what} in object meta: `,
  )

// kube-apiserver's storage of these two kinds has its own DELETE
test.each<[string, string, string, object]>([
  ['namespaces', '/api/v1/namespaces', 'green', namespace],
  ['customresourcedefinitions.apiextensions.k8s.io', API, 'foos.example.com', definition],
])('%s have their own messages, before and after a DELETE', async (resource, path, name, object) => {
  const server = pluginServer()
  await server.send('POST', path, object)
  const remove = (preconditions: object) => server.send('DELETE', `${path}/${name}`, { preconditions })
  for (const round of ['live', 'terminating']) {
    const byVersion = await remove({ resourceVersion: '7' })
    expect([round, byVersion.code]).toEqual([round, 409])
    expect(byVersion.body.message).toMatch(OWN('ResourceVersion'))
    expect(byVersion.body.message).toContain(`on ${resource} "${name}"`)
    expect((await remove({ uid: '7', resourceVersion: '7' })).body.message).toMatch(OWN('UID'))
    await remove({})
  }
})

test('other kinds have those of the storage of all', async () => {
  const server = pluginServer()
  await server.namespace('blue')
  const path = '/api/v1/namespaces/blue/configmaps'
  await server.send('POST', path, { metadata: { name: 'a' } })
  const { body } = await server.send('DELETE', `${path}/a`, { preconditions: { resourceVersion: '7' } })
  expect(body.message).toMatch(/^Operation .* on ConfigMap "a": the ResourceVersion in the precondition \(7\) does not/)
})
