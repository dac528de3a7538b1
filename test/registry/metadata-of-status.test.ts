/** Whether a write of `status` changes labels and annotations: kube-apiserver's strategies differ in that. */
import { expect, test } from 'vitest'
import { answer } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'

const TOKEN = 'a-token-of-thirty-two-characters'

const NETWORKING = '/apis/networking.k8s.io/v1'
const RESOURCE = '/apis/resource.k8s.io/v1/namespaces/default'
const source = { persistentVolumeName: 'pv' }
const devices = { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] }

test.each([
  [`${NETWORKING}/servicecidrs`, { cidrs: ['10.99.0.0/24'] }, undefined],
  [`${RESOURCE}/resourceclaims`, { devices }, undefined],
  ['/apis/storage.k8s.io/v1/volumeattachments', { attacher: 'a', nodeName: 'n', source }, undefined],
  [
    `${NETWORKING}/namespaces/default/ingresses`,
    { defaultBackend: { resource: { kind: 'K', name: 'n' } } },
    { a: 'b' },
  ],
  ['/api/v1/namespaces/default/resourcequotas', { hard: { pods: '1' } }, { a: 'b' }],
])('%s', async (collection, spec, expected) => {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
  const send = async (method: string, path: string, body: object, type = 'application/json') => {
    const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': type }
    const response = await answer(server.request(path, { method, headers, body: JSON.stringify(body) }))
    return (await response.json()) as { metadata: { labels?: object; annotations?: object } }
  }
  await send('POST', collection, { metadata: { name: 'a' }, spec })
  const change = { metadata: { labels: { a: 'b' }, annotations: { a: 'b' } } }
  const { metadata } = await send('PATCH', `${collection}/a/status`, change, 'application/merge-patch+json')
  expect([metadata.labels, metadata.annotations]).toEqual([expected, expected])
})
