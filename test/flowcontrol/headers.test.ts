import { expect, test, vi } from 'vitest'
import { answer } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'

const TOKEN = 'an-administrator-whose-token-is-long-enough'
const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })

// kube-apiserver's flow control classifies watches, but no other long requests
test.each([
  ['/api/v1/configmaps', true],
  ['/api/v1/configmaps?watch=true', true],
  ['/healthz', true],
  ['/api/v1/namespaces/default/pods/a/log', false],
  ['/api/v1/namespaces/default/pods/a/exec', false],
  ['/api/v1/proxy/namespaces/default/pods/a', false],
])('the answer at %s names its FlowSchema: %s', async (path, isNamed) => {
  vi.spyOn(console, 'error').mockImplementation(() => {}) // the storage in memory has no watches
  const request = server.request(path, { headers: { Authorization: `Bearer ${TOKEN}` } })
  await answer(request).catch(() => {})
  expect('X-Kubernetes-Pf-Flowschema-Uid' in request.answerHeaders).toBe(isNamed)
})
