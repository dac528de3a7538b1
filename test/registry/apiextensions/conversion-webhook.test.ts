import { expect, test } from 'vitest'
import { answer } from '../../../src/server.ts'
import { memoryServer } from '../../request-in-memory.ts'

const ADMINISTRATOR = 'an-administrator-whose-token-is-long-enough'
const PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?fieldManager=m'

test.each<[string, webhook: object, managed: object]>([
  ['no members', {}, { 'f:strategy': {} }],
  ['null for its versions', { conversionReviewVersions: null }, { 'f:strategy': {} }],
  [
    'an empty list of versions',
    { conversionReviewVersions: [] },
    { 'f:strategy': {}, 'f:webhook': { '.': {}, 'f:conversionReviewVersions': {} } },
  ],
])('a definition without conversion drops a webhook that has %s', async (_, webhook, managed) => {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: ADMINISTRATOR })
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }
  const spec = {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'things', kind: 'Thing' },
    conversion: { strategy: 'None', webhook },
    versions: [version],
  }
  const headers = { Authorization: `Bearer ${ADMINISTRATOR}`, 'Content-Type': 'application/json' }
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec,
  }
  const response = await answer(server.request(PATH, { method: 'POST', headers, body: JSON.stringify(definition) }))
  const created = (await response.json()) as typeof definition & {
    metadata: { managedFields: { fieldsV1: Record<string, Record<string, object>> }[] }
  }
  expect(created.spec.conversion).toEqual({ strategy: 'None' })
  expect(created.metadata.managedFields[0]?.fieldsV1['f:spec']?.['f:conversion']).toEqual({ '.': {}, ...managed })
})
