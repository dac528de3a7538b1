import { expect, test } from 'vitest'
import { measureRequest, serveMetrics } from '../../src/endpoints/metrics.ts'
import { memoryServer } from '../request-in-memory.ts'

const server = memoryServer()

const count = (target: string, status: number, init: RequestInit = {}): void =>
  measureRequest(server.request(target, init))(new Response(null, { status }))

const lines = async (name: string): Promise<string[]> => {
  const response = await serveMetrics(server.request('/metrics'), { slis: false })
  return (await response.text()).split('\n').filter((line) => line.startsWith(name))
}

test('requests are counted by what they asked for, and by how they were answered', async () => {
  count('/api/v1/namespaces/a/pods/b', 200)
  count('/api/v1/namespaces/a/pods/c', 200)
  count('/api/v1/namespaces/a/pods/d', 404)
  count('/apis/apps/v1/deployments', 403)
  count('/version', 401)
  const labels =
    'component="apiserver",group="",resource="pods",scope="resource",subresource="",verb="GET",version="v1"'
  expect(await lines('apiserver_request_total{')).toEqual([
    `apiserver_request_total{code="200",${labels}} 2`,
    `apiserver_request_total{code="404",${labels}} 1`,
    'apiserver_request_total{code="403",component="apiserver",group="apps",resource="deployments",scope="cluster",subresource="",verb="LIST",version="v1"} 1',
    'apiserver_request_total{code="401",component="apiserver",group="",resource="",scope="",subresource="/version",verb="GET",version=""} 1',
  ])
  expect(await lines('authentication_attempts{')).toEqual([
    'authentication_attempts{result="success"} 4',
    'authentication_attempts{result="failure"} 1',
  ])
  expect(await lines('authorization_attempts_total{')).toEqual([
    'authorization_attempts_total{result="allowed"} 3',
    'authorization_attempts_total{result="denied"} 1',
  ])
  expect(await lines('apiserver_request_duration_seconds_count{')).toHaveLength(3)
})

test('paths that somebody makes up do not add up for ever', async () => {
  for (let n = 0; n < 6_000; n++) count(`/made-up-${n}`, 404)
  const counted = await lines('apiserver_request_total{')
  expect(counted.length).toBeLessThan(4_200)
  const sum = counted.reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0)
  expect(sum).toBe(6_005)
})
