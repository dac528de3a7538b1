/** An owner that an object names twice counts once, whoever names it: the client, or mutating admission. */
import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/api/object.ts'
import { pluginServer } from '../../admission/plugin-server.ts'
import type { Hook } from '../../admission/webhooks/creating.ts'
import { allowing, hook, patching } from '../../admission/webhooks/creating.ts'
import { frontAnswering } from '../../webhooks/front.ts'

const OWNER = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' }
const TWICE = [OWNER, OWNER]
const PATH = '/api/v1/namespaces/blue/configmaps'
const doubling = patching({ op: 'add', path: '/metadata/ownerReferences', value: TWICE })

const warning = (entries: string) =>
  `.metadata.ownerReferences contains ${entries}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u`
const SENT = warning('duplicate entries')
const ADMITTED = warning('duplicate entries after mutating admission happens')

const object = (ownerReferences: object[] = []) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', ownerReferences },
})
const patch = { metadata: { ownerReferences: TWICE } }

test.each<[string, string, string, object, Hook['answers'], string[]]>([
  ['a client posts', 'POST', PATH, object(TWICE), allowing, [SENT]],
  ['a client puts', 'PUT', `${PATH}/a`, object(TWICE), allowing, [SENT]],
  // the server compares the owners of a patched object only once
  ['a client patches', 'PATCH', `${PATH}/a`, patch, allowing, [ADMITTED]],
  ['a webhook adds to a post', 'POST', PATH, object(), doubling, [ADMITTED]],
  ['a webhook adds to a put', 'PUT', `${PATH}/a`, object(), doubling, [ADMITTED]],
  ['a webhook adds to a patch', 'PATCH', `${PATH}/a`, { data: { a: 'b' } }, doubling, [ADMITTED]],
  ['both', 'POST', PATH, object(TWICE), doubling, [SENT, ADMITTED]],
])('owners that %s', async (_, method, path, body, answers, warnings) => {
  const server = pluginServer({ OUTGOING: frontAnswering(answers).binding })
  const { answers: __, ...webhook } = hook('a', answers)
  await server.memory.put('admissionregistration.k8s.io', 'mutatingwebhookconfigurations', {
    metadata: { name: 'configuration' },
    webhooks: [webhook] as unknown as JsonObject[], // they are JSON
  })
  await server.namespace('blue')
  if (method !== 'POST')
    await server.memory.put('', 'configmaps', { ...object(), metadata: { name: 'a', namespace: 'blue' } })
  const answer = await server.send(method, path, body)
  expect(answer.code).toBeLessThan(300)
  expect(answer.warnings).toEqual(warnings)
  expect(answer.body.metadata).toMatchObject({ ownerReferences: [OWNER] })
})
