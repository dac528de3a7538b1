import { expect, test } from 'vitest'
import { answer } from '../../../src/server.ts'
import { memoryServer } from '../../request-in-memory.ts'

const ADMINISTRATOR = 'an-administrator-whose-token-is-long-enough'

test.each([
  ['', undefined],
  ['VolumeLimitScaling=true', false],
])('preventPodSchedulingIfMissing of a new driver, with the feature gates "%s"', async (gates, value) => {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: ADMINISTRATOR, KEDGE_FEATURE_GATES: gates })
  const headers = { Authorization: `Bearer ${ADMINISTRATOR}`, 'Content-Type': 'application/json' }
  const body = JSON.stringify({ metadata: { name: 'csi.example.com' }, spec: {} })
  const request = server.request('/apis/storage.k8s.io/v1/csidrivers', { method: 'POST', headers, body })
  const response = await answer(request)
  expect(response.status).toBe(201)
  const { spec } = (await response.json()) as { spec: { preventPodSchedulingIfMissing?: boolean } }
  expect(spec.preventPodSchedulingIfMissing).toBe(value)
})
