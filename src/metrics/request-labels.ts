/** The labels of kube-apiserver's metrics of requests. */
import type { ApiRequest } from '../request/context.ts'

export interface RequestLabels extends Readonly<Record<string, string>> {
  readonly group: string
  readonly resource: string
  readonly scope: '' | 'resource' | 'namespace' | 'cluster'
  readonly subresource: string
  readonly verb: string
  readonly version: string
}

export function requestLabels({ info, method }: Pick<ApiRequest, 'info' | 'method'>): RequestLabels {
  const { isResourceRequest, apiGroup: group, apiVersion: version, resource } = info
  const verb = (isResourceRequest ? verbLabels.get(info.verb) : undefined) ?? (methods.has(method) ? method : 'OTHER')
  const subresource = isResourceRequest ? info.subresource : info.path
  return { group, resource, scope: scopeOf(info), subresource, verb, version }
}

function scopeOf({ isResourceRequest, name, namespace, verb }: ApiRequest['info']): RequestLabels['scope'] {
  if (!isResourceRequest) return ''
  if (name !== '' || verb === 'create') return 'resource'
  return namespace !== '' ? 'namespace' : 'cluster'
}

/** Methods with a label of their own. All other methods have the label OTHER. */
const methods: ReadonlySet<string> = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'])

const verbLabels: ReadonlyMap<string, string> = new Map([
  ['get', 'GET'],
  ['list', 'LIST'],
  ['watch', 'WATCH'],
  ['create', 'POST'],
  ['update', 'PUT'],
  ['patch', 'PATCH'],
  ['delete', 'DELETE'],
  ['deletecollection', 'DELETECOLLECTION'],
])
