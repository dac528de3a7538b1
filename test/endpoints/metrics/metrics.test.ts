// This file needs modules of its own: they count what all files do.
import { expect, test, vi } from 'vitest'
import { ruleTreeOf } from '../../../src/expressions/rule-tree.ts'
import { validateByRules } from '../../../src/expressions/validate-rules.ts'
import { measurePolicyCheck, measureRequest } from '../../../src/metrics/measurements.ts'
import { serveMetrics } from '../../../src/endpoints/metrics/metrics.ts'
import { takeWatchPlace } from '../../../src/flowcontrol/open-watches.ts'
import { noteFault } from '../../../src/request/fault.ts'
import { memoryServer } from '../../request-in-memory.ts'

const server = memoryServer()

const count = (target: string, status: number, init: RequestInit = {}): void =>
  measureRequest(server.request(target, init))(new Response(null, { status }))

const total = (counted: readonly string[]): number =>
  counted.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)

const lines = async (name: string): Promise<string[]> => {
  const response = await serveMetrics(server.request('/metrics'), { slis: false })
  return (await response.text()).split('\n').filter((line) => line.startsWith(name))
}

test('the metrics count requests by verb, resource and code', async () => {
  count('/api/v1/namespaces/a/pods/b', 200)
  count('/api/v1/namespaces/a/pods/c', 200)
  count('/api/v1/namespaces/a/pods/d', 404)
  count('/apis/apps/v1/deployments', 403)
  count('/version', 401)
  const labels =
    'component="apiserver",dry_run="",group="",resource="pods",scope="resource",subresource="",verb="GET",version="v1"'
  expect(await lines('apiserver_request_total{')).toEqual([
    `apiserver_request_total{code="200",${labels}} 2`,
    `apiserver_request_total{code="404",${labels}} 1`,
    'apiserver_request_total{code="403",component="apiserver",dry_run="",group="apps",resource="deployments",scope="cluster",subresource="",verb="LIST",version="v1"} 1',
    'apiserver_request_total{code="401",component="apiserver",dry_run="",group="",resource="",scope="",subresource="",verb="",version=""} 1',
  ])
  expect(await lines('apiserver_request_duration_seconds_count{')).toHaveLength(3)
})

test('the metrics know dry runs, creates as requests for one object, and the bodies of writes', async () => {
  const write = (target: string, method: string, status: number) =>
    count(target, status, { method, headers: { 'Content-Length': '60000' } })
  const names = 'group="batch",resource="jobs"'
  write('/apis/batch/v1/namespaces/a/jobs', 'POST', 201)
  write('/apis/batch/v1/namespaces/a/jobs?dryRun=All&dryRun=All', 'POST', 201)
  write('/apis/batch/v1/namespaces/a/jobs/b/status?dryRun=Some', 'PUT', 422)
  write('/apis/batch/v1/namespaces/a/jobs', 'DELETE', 200)
  const start = 'apiserver_request_total{code='
  const end = 'version="v1"} 1'
  expect((await lines(start)).filter((line) => line.includes(names))).toEqual([
    `${start}"201",component="apiserver",dry_run="",${names},scope="resource",subresource="",verb="POST",${end}`,
    `${start}"201",component="apiserver",dry_run="All",${names},scope="resource",subresource="",verb="POST",${end}`,
    `${start}"422",component="apiserver",dry_run="invalid",${names},scope="resource",subresource="status",verb="PUT",${end}`,
    `${start}"200",component="apiserver",dry_run="",${names},scope="namespace",subresource="",verb="DELETECOLLECTION",${end}`,
  ])
  const bodies = (await lines('apiserver_request_body_size_bytes_count{')).filter((line) => line.includes(names))
  expect(bodies).toEqual(
    Object.entries({ create: 2, update: 1, delete_collection: 1 }).map(
      ([verb, times]) => `apiserver_request_body_size_bytes_count{${names},verb="${verb}"} ${times}`,
    ),
  )
  const ofDryRuns = (await lines('apiserver_request_sli_duration_seconds_count')).filter((line) => line.includes(names))
  expect(ofDryRuns).toHaveLength(2)
  expect((await lines('apiserver_response_sizes_count')).filter((line) => line.includes(names))).toEqual([])
})

test('the metrics know the watches that are open', async () => {
  const name = 'apiserver_longrunning_requests'
  expect(await lines(`${name}{`)).toEqual([])
  const places = [
    '/api/v1/namespaces/a/pods?watch=1',
    '/api/v1/namespaces/b/pods?watch=1',
    '/apis/apps/v1/deployments?watch=1',
  ].map((target) => takeWatchPlace(server.request(target)))
  const ofPods = 'group="",resource="pods",scope="namespace",subresource="",verb="WATCH",version="v1"'
  const ofDeployments = 'group="apps",resource="deployments",scope="cluster",subresource="",verb="WATCH",version="v1"'
  expect(await lines(`${name}{`)).toEqual([
    `${name}{component="apiserver",${ofPods}} 2`,
    `${name}{component="apiserver",${ofDeployments}} 1`,
  ])
  const other = memoryServer()
  const ofOther = await serveMetrics(other.request('/metrics'), { slis: false })
  expect(await ofOther.text()).not.toContain(`${name}{`)
  for (const place of places) place.leave()
  expect(await lines(`${name}{`)).toEqual([])
})

test("policies and rules tell how often, and how long, under kube-apiserver's names", async () => {
  const check = { policy: 'p', binding: 'b', problem: undefined, seconds: 0.05 }
  measurePolicyCheck(server.request('/'), 'validating', check, 'deny')
  measurePolicyCheck(server.request('/'), 'mutating', check)
  const labels = 'error_type="no_error",policy="p",policy_binding="b"'
  const name = (type: string) => `apiserver_${type}_admission_policy_check`
  expect(await lines(`${name('validating')}_total{`)).toEqual([
    `${name('validating')}_total{enforcement_action="deny",${labels}} 1`,
  ])
  expect(await lines(`${name('mutating')}_total{`)).toEqual([`${name('mutating')}_total{${labels}} 1`])
  const times = await lines(`${name('mutating')}_duration_seconds`)
  expect(times.map((line) => line.slice(line.indexOf('_seconds') + 8))).toEqual([
    ...['5e-7', '0.001', '0.01'].map((le) => `_bucket{${labels},le="${le}"} 0`),
    ...['0.1', '1', '+Inf'].map((le) => `_bucket{${labels},le="${le}"} 1`),
    `_sum{${labels}} 0.05`,
    `_count{${labels}} 1`,
  ])
  const before = total(await lines('apiserver_cel_evaluation_duration_seconds_count'))
  const tree = ruleTreeOf({ type: 'object', 'x-kubernetes-validations': [{ rule: 'true' }] }, true)!
  validateByRules(tree, {})
  validateByRules(tree, {})
  expect(total(await lines('apiserver_cel_evaluation_duration_seconds_count'))).toBe(before + 2)
  expect(total(await lines('apiserver_cel_compilation_duration_seconds_count'))).toBeGreaterThan(0)
})

test('a path, a group and a resource are named once a request for them succeeded', async () => {
  count('/openid/v1/jwks', 404)
  count('/openid/v1/jwks', 200)
  count('/openid/v1/jwks', 500)
  count('/apis/example.com/v1/widgets', 404)
  count('/apis/example.com/v1/widgets', 200)
  count('/apis/example.com/v1/widgets', 403)
  const named = (await lines('apiserver_request_total{')).filter((line) => /jwks|widgets/.test(line))
  expect(named.map((line) => /code="(\d+)"/.exec(line)![1])).toEqual(['200', '500', '200', '403'])
})

test('made-up names make no series: paths, methods, groups, versions, resources, subresources', async () => {
  const before = await lines('apiserver_')
  const made = total(await lines('apiserver_request_total{'))
  const long = 'x'.repeat(60_000)
  for (let n = 0; n < 1_000; n++) {
    count(`/made-up-${n}/${long}`, 404)
    count(`/apis/group-${n}.example/v1/things`, 403)
    count(`/apis/apps/v${n}/deployments`, 404)
    count(`/api/v1/pods-${n}`, 401)
    count(`/api/v1/namespaces/a/pods/b/sub-${n}`, 404)
    count('/healthz', 404, { method: `METHOD${n}`, headers: { 'User-Agent': `agent-${n}` } })
  }
  const after = await lines('apiserver_')
  // these add no labels of their own: three codes, and histogram buckets for slow requests and long answers
  expect(after.length - before.length).toBeLessThan(40)
  expect(total(await lines('apiserver_request_total{')) - made).toBe(6_000)
  const { size } = new Blob(after)
  expect(size).toBeLessThan(100_000)
})

test('an unknown method of a path that answers is OTHER', async () => {
  for (let n = 0; n < 100; n++) count('/healthz', 200, { method: `METHOD${n}` })
  expect((await lines('apiserver_request_total{')).filter((line) => line.includes('/healthz'))).toEqual([
    'apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="",scope="",subresource="/healthz",verb="OTHER",version=""} 100',
  ])
})

test('faults are counted by what they broke', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  noteFault('watch', new Error('one'))
  noteFault('watch', new Error('another'))
  expect(await lines('kedge_faults_total{')).toEqual(['kedge_faults_total{fault="watch"} 2'])
})
