/** A PUT that names a version: 409 where another write came between, after what admission says of it. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/api/object.ts'
import type { Answer } from '../../admission/plugin-server.ts'
import { lineOf, pluginServer } from '../../admission/plugin-server.ts'
import { hook } from '../../admission/webhooks/creating.ts'
import { frontAnswering, responding } from '../../webhooks/front.ts'

const PATH = '/api/v1/namespaces/blue/configmaps/a'
const map = (n: number, resourceVersion?: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', ...(resourceVersion !== undefined && { resourceVersion }) },
  data: { [`key-${n}`]: `${n}` },
})

// as every object that is stored
const metadataOf = ({ metadata }: Answer['body']) =>
  metadata as { readonly resourceVersion: string; readonly managedFields: object[] }

async function serverWithMap(denies: string[] = []) {
  const answers = responding({ allowed: false, status: { message: 'no' } })
  const server = pluginServer({ OUTGOING: frontAnswering(answers).binding })
  if (denies.length > 0) {
    const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: denies, resources: ['configmaps'] }]
    const { answers: _, ...webhook } = hook('a', answers, { rules })
    await server.memory.put('admissionregistration.k8s.io', 'mutatingwebhookconfigurations', {
      metadata: { name: 'configuration' },
      webhooks: [webhook] as unknown as JsonObject[], // they are JSON
    })
  }
  await server.namespace('blue')
  const { body } = await server.send('POST', PATH.replace(/\/a$/, ''), map(0))
  return { server, version: metadataOf(body).resourceVersion }
}

describe('a PUT of the version', () => {
  test('that is stored changes the object and its managers', async () => {
    const { server, version } = await serverWithMap()
    const { code, body } = await server.send('PUT', PATH, map(1, version))
    expect(code).toBe(200)
    expect(JSON.stringify(metadataOf(body).managedFields)).toContain('"f:key-1"')
  })
  test('in other digits does the same', async () => {
    const { server, version } = await serverWithMap()
    const { code, body } = await server.send('PUT', PATH, map(1, `00${version}`))
    expect(code).toBe(200)
    expect(JSON.stringify(metadataOf(body).managedFields)).toContain('"f:key-1"')
  })
  test.each([
    ['of an earlier write', -1],
    ['of no write yet', 1],
  ])('%s is 409', async (_, by) => {
    const { server, version } = await serverWithMap()
    const answer = await server.send('PUT', PATH, map(1, String(Number(version) + by)))
    expect(lineOf(answer)).toMatch(/^409 .*the object has been modified/)
  })
  test('of an earlier write is refused where admission refuses the change', async () => {
    const { server } = await serverWithMap(['UPDATE'])
    expect(lineOf(await server.send('PUT', PATH, map(1, '1')))).toMatch(/^400 .*denied the request: no/)
  })
})
