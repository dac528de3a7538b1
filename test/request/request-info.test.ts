import { expect, test } from 'vitest'
import { parseQuery } from '../../src/request/query-parameters.ts'
import { requestInfoOf } from '../../src/request/request-info.ts'

/** Verb, group, namespace, resource, name and subresource, or the path alone. */
function readAs(method: string, path: string): string {
  const info = requestInfoOf(method, path, parseQuery(''))
  if (!info.isResourceRequest) return `${info.verb} ${info.path}`
  const { verb, apiGroup, apiVersion, namespace, resource, name, subresource } = info
  return [verb, apiGroup, apiVersion, namespace, resource, name, subresource].join('|')
}

// as kube-apiserver 1.36.3 says in its denials of these
test.each([
  ['GET', '/api/v1/namespaces/a/pods/p', 'get||v1|a|pods|p|'],
  ['GET', '/api/v1/namespaces/a/pods/p/log/', 'get||v1|a|pods|p|log'],
  ['GET', '///api/v1/namespaces/a/pods//', 'list||v1|a|pods||'],
  ['GET', '/api/v1/namespaces//configmaps/p', 'get||v1||configmaps|p|'],
  ['GET', '/api/v1/namespaces//configmaps', 'list||v1||configmaps||'],
  ['PATCH', '/api/v1//namespaces//pods', 'patch||v1|||namespaces|'],
  ['OPTIONS', '/api/v1//namespaces/a/status/x', '||v1|||namespaces|a'],
  ['DELETE', '/api/v1//pods', 'delete||v1|||pods|'],
  ['GET', '/apis//apps/v1/namespaces/a', 'get||apps||v1|namespaces|a'],
  ['DELETE', '/apis/apps/v1/namespaces/b/pods//status', 'deletecollection|apps|v1|b|pods||status'],
  ['PUT', '/apis/apps/v1/watch/namespaces//pods/p', 'watch|apps|v1||pods|p|'],
  ['GET', '/api/v1/proxy/namespaces/a/finalize/x', 'proxy||v1|a|namespaces|a|'],
  ['GET', '/api//v1', 'list||||v1||'],
  ['GET', '/api/v1//', 'get /api/v1//'],
])('%s %s is read as %s', (method, path, expected) => {
  expect(readAs(method, path)).toBe(expected)
})
