import { expect, test } from 'vitest'
import { answer } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'

const ADMINISTRATOR = 'an-administrator-whose-token-is-long-enough'

const template = {
  metadata: { labels: { app: 'web' } },
  spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
}

test.each([
  ['/apis/batch/v1/namespaces/a/jobs', { spec: { template } }, { active: 0 }],
  [
    '/api/v1/namespaces/a/replicationcontrollers',
    { spec: { template: { ...template, spec: { ...template.spec, restartPolicy: 'Always' } } } },
    { replicas: 0 },
  ],
])('an update of the status without labels at %s leaves those of the template', async (path, object, status) => {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: ADMINISTRATOR })
  await server.put('', 'namespaces', { metadata: { name: 'a' } })
  const send = async (method: string, path: string, body?: object): Promise<{ metadata: { labels: object } }> => {
    const headers = { Authorization: `Bearer ${ADMINISTRATOR}`, 'Content-Type': 'application/json' }
    const response = await answer(
      server.request(path, { method, headers, ...(body && { body: JSON.stringify(body) }) }),
    )
    return response.json()
  }
  const { labels } = (await send('POST', path, { metadata: { name: 'x' }, ...object })).metadata
  expect(labels).toMatchObject({ app: 'web' })
  const bare = { metadata: { name: 'x' }, status }
  expect((await send('PUT', `${path}/x/status`, bare)).metadata.labels).toEqual(labels)
  expect((await send('GET', `${path}/x`)).metadata.labels).toEqual(labels)
})
