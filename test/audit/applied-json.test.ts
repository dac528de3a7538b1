// This file needs modules of its own: in another file's isolate the YAML reader may be loaded.
import { expect, test } from 'vitest'
import { answer } from '../../src/server.ts'
import { RequestRecord } from '../../src/request/record.ts'
import { memoryServer } from '../request-in-memory.ts'

const TOKEN = 'an-administrator-whose-token-is-long-enough'

test('an apply in JSON is recorded before any YAML was read', async () => {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
  const request = server.request('/api/v1/namespaces/default/configmaps/a?fieldManager=m', {
    method: 'PATCH',
    headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/apply-patch+yaml' },
    body: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }),
  })
  const record = new RequestRecord()
  record.level = 'RequestResponse'
  expect((await answer({ ...request, record })).status).toBe(201)
  expect(record.requestObject).toBe('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}')
})
