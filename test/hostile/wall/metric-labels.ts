// Nothing that a client makes up becomes a label: no series comes of a request that was refused.
import type { Who } from './row.ts'
import type { World } from './world.ts'

export const MARK = 'made-up-by-a-client'

type Asked = readonly [who: Who, method: string, path: string, headers?: Record<string, string>, body?: unknown]

/** @param n another text each time */
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
  ]
}

/** The lines of all metrics, and the text of each. */
export async function metricLines(world: World): Promise<readonly string[]> {
  const { text } = await world.send('admin', 'GET', '/metrics')
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}
