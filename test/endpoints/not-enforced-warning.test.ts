import { expect, test } from 'vitest'
import { create } from '../../src/endpoints/create.ts'
import { resourceScope } from '../../src/registry/scope.ts'
import { servedResources } from '../../src/registry/served.ts'
import { memoryServer } from '../request-in-memory.ts'

const GROUP = 'apiextensions.k8s.io'
const CONVERSION = 'this server does not call conversion webhooks yet: requests in a version that needs one fail'

const version = (name: string) => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: { type: 'object' } },
})
const webhook = { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://convert.example.com' } }
const definition = {
  apiVersion: `${GROUP}/v1`,
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    conversion: { strategy: 'Webhook', webhook },
    versions: [version('v1'), version('v2')],
  },
}

async function warningsOfCreate(query: string) {
  const server = memoryServer()
  const headers = { 'Content-Type': 'application/json' }
  const target = `/apis/${GROUP}/v1/customresourcedefinitions${query}`
  const request = server.request(target, { method: 'POST', body: JSON.stringify(definition), headers })
  const entry = (await servedResources(request)).find(GROUP, 'v1', 'customresourcedefinitions')!
  const scope = resourceScope(request, entry, { name: '', subresource: '', namespace: '' })
  expect((await create(scope)).ok).toBe(true)
  return request.warnings
}

test('what is kept and not enforced is answered with a Warning', async () => {
  expect(await warningsOfCreate('')).toEqual([CONVERSION])
})

test('a dry run keeps nothing, and warns of nothing', async () => {
  expect(await warningsOfCreate('?dryRun=All')).toEqual([])
})
