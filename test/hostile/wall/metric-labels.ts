// No text that a client invents becomes a label of a metric. A refused request adds no series.
import type { Who } from './row.ts'
import type { World } from './world.ts'

export const MARK = 'made-up-by-a-client'

type Asked = readonly [who: Who, method: string, path: string, headers?: Record<string, string>, body?: unknown]

/** @param n makes the texts differ from those of other calls */
export const askedFor = (n: number): readonly Asked[] => {
  const name = `${MARK}-${n}`
  return [
    ['anonymous', 'GET', `/${name}`],
    ['nobody', 'GET', `/api/${name}`],
    ['nobody', 'GET', `/apis/${name}`],
    ['nobody', 'GET', `/apis/${name}.example/v1/things`],
    ['nobody', 'GET', `/apis/apps/${name}/deployments`],
    ['nobody', 'GET', `/api/v1/${name}`],
    ['nobody', 'GET', `/api/v1/namespaces/${name}/configmaps`],
    ['nobody', 'GET', `/api/v1/namespaces/a/pods/x/${name}`],
    ['nobody', 'GET', `/healthz/${name}`],
    ['admin', 'GET', `/healthz/${name}`],
    ['admin', 'GET', `/readyz?exclude=${name}`],
    ['admin', 'GET', `/apis/${name}.example/v1/things`],
    ['admin', 'GET', `/api/v1/namespaces/a/pods/x/${name}`],
    ['admin', 'GET', '/api/v1/namespaces/a/configmaps', { 'User-Agent': name }],
    ['admin', 'GET', '/api/v1/namespaces/a/configmaps', { Accept: `application/${name}` }],
    ['admin', 'GET', '/api/v1/namespaces/a/configmaps', { 'Audit-Id': name }],
    ['admin', 'GET', '/api', { 'Impersonate-User': name }],
    ['admin', 'GET', '/api', { 'Impersonate-User': 'x', 'Impersonate-Group': name }],
    ['anonymous', 'GET', '/api', { Authorization: `Bearer ${name}` }],
    ['anonymous', 'GET', '/api', { 'X-Remote-User': name }],
    [
      'admin',
      'PATCH',
      '/api/v1/namespaces/a/configmaps/one?dryRun=All',
      { 'Content-Type': `application/${name}` },
      '{}',
    ],
    ['admin', 'POST', `/api/v1/namespaces/a/configmaps?dryRun=All&fieldManager=${name}`, {}, { metadata: { name } }],
    ['admin', 'POST', `/api/v1/namespaces/a/configmaps?fieldValidation=${name}`, {}, { metadata: { name } }],
    [
      'admin',
      'POST',
      '/api/v1/namespaces/a/pods?dryRun=All',
      {},
      { metadata: { name }, spec: { schedulerName: name, containers: [] } },
    ],
    ['admin', 'GET', `/api/v1/namespaces/a/configmaps?labelSelector=${name}`],
    ['admin', 'GET', `/metrics?name=${name}`],
    // discovery answers these, whatever number of slashes there is
    ['nobody', 'GET', `/apis/apps/v1${SLASHES}${'/'.repeat(n)}`],
    ['nobody', 'GET', `/api/v1${SLASHES}${'/'.repeat(n)}`],
    ['nobody', 'GET', `/apis/apps${SLASHES}${'/'.repeat(n)}`],
    ['admin', 'GET', `/readyz${SLASHES}${'/'.repeat(n)}`],
    ['nobody', 'GET', `/apis/apps/v1?${name}=${name}`],
    ['nobody', `MADE-UP-${n}`, '/api'],
    ['nobody', `MADE-UP-${n}`, `/api/v1/namespaces/a/${name}`],
    ['nobody', 'GET', `/openapi/v3/apis/${name}/v1`],
    ['nobody', 'GET', `/openapi/v3/apis/apps/v1?hash=${name}`],
    ['nobody', 'GET', `/version/${name}`],
    ['nobody', 'GET', `/.well-known/${name}`],
    ['scraper', 'GET', `/metrics/${name}`],
    ['scraper', 'GET', `/debug/pprof/${name}`],
    ['admin', 'GET', `/api/v1/watch/${name}`],
    ['admin', 'GET', `/api/v1/proxy/namespaces/a/pods/${name}`],
    ['admin', 'GET', `/api/v1/namespaces/a/pods/${name}/proxy/${name}`],
    ['admin', 'GET', `/api/v1/namespaces/a/pods/${name}/log`],
    ['admin', 'OPTIONS', `/api/v1/namespaces/a/services/${name}/proxy/${name}`],
    ['admin', 'GET', `/api/v1/namespaces/${name}/configmaps`],
    ['admin', 'GET', `/api/v1/namespaces/a/configmaps/${name}`],
    ['admin', 'DELETE', `/api/v1/namespaces/${name}/configmaps?dryRun=All`],
    ['admin', 'POST', '/api/v1/namespaces/a/configmaps?dryRun=All', { 'Content-Type': `application/${name}` }, '{}'],
    ['admin', 'GET', '/api', { 'Impersonate-User': 'x', [`Impersonate-Extra-${name}`]: 'x' }],
    ['anonymous', 'GET', '/api', { 'X-Forwarded-For': name, 'X-Forwarded-Host': name, traceparent: name }],
    ['anonymous', 'GET', '/api', { Authorization: `Basic ${btoa(`${name}:${name}`)}` }],
    ['admin', 'POST', '/apis/authentication.k8s.io/v1/tokenreviews', {}, { spec: { token: name, audiences: [name] } }],
    ['admin', 'POST', SUBJECT_REVIEWS, {}, { spec: { user: name, nonResourceAttributes: { path: name, verb: name } } }],
    [
      'admin',
      'POST',
      SUBJECT_REVIEWS,
      {},
      { spec: { user: name, resourceAttributes: { verb: name, resource: name } } },
    ],
    [
      'admin',
      'POST',
      '/api/v1/namespaces/a/events?dryRun=All',
      {},
      { metadata: { name }, involvedObject: { namespace: 'a', kind: name }, reason: name, source: { component: name } },
    ],
  ]
}
/** No path of the server has two slashes in a row. */
const SLASHES = '//'
const SUBJECT_REVIEWS = '/apis/authorization.k8s.io/v1/subjectaccessreviews'

/** Requests that anybody may send, thousands of times. */
export const sentByAnybody = (n: number): readonly Asked[] => {
  const name = `${MARK}-${n}`
  return [
    ['anonymous', 'GET', `/${name}/${n}`],
    ['anonymous', `X${n}`, `/api/v1/${name}`],
    ['anonymous', 'GET', '/healthz', { 'User-Agent': name, Accept: `${name}/${n}` }],
    ['nobody', 'GET', `/apis/apps/v1${'/'.repeat((n % 500) + 2)}`],
    ['nobody', 'GET', `/apis/${name}/v${n}/things`],
    ['nobody', 'POST', `/api/v1/namespaces/${name}/pods`, { 'Content-Type': name }, '{}'],
  ]
}

/** Whether the line has a label that a client invented. */
export const isMadeUp = (line: string): boolean =>
  line.includes(MARK) || line.includes('//') || line.includes('MADE-UP')

/** The lines of all metrics, and the text of each. */
export async function metricLines(world: World): Promise<readonly string[]> {
  const { text } = await world.send('admin', 'GET', '/metrics')
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}
