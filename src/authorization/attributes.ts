/** The attributes of a request for authorizers (apiserver's pkg/authorization/authorizer Attributes). */
import type { UserInfo } from '../request/user-info.ts'
import type { RequestInfo } from '../request/request-info.ts'
import { parseFieldSelector } from '../storage/field-selector.ts'
import type { FieldRequirement } from '../storage/selection.ts'
import type { QueryParameters } from '../request/query-parameters.ts'

export interface AuthorizationAttributes {
  readonly user: UserInfo
  readonly verb: string
  /** Otherwise it is about `path` alone. */
  readonly isResourceRequest: boolean
  readonly apiGroup: string
  readonly apiVersion: string
  readonly namespace: string
  readonly resource: string
  readonly subresource: string
  readonly name: string
  readonly path: string
  /** Of list, watch and deletecollection; empty where there is none, it cannot be read, or the path is deprecated. */
  readonly fields: readonly FieldRequirement[]
  /** The same as it was sent, for authorizers outside of this server. */
  readonly labelSelector: string
}

const noResource = {
  apiGroup: '',
  apiVersion: '',
  namespace: '',
  resource: '',
  subresource: '',
  name: '',
  path: '',
  fields: [],
  labelSelector: '',
}

export function resourceAttributes(
  user: UserInfo,
  verb: string,
  resource: Partial<Omit<AuthorizationAttributes, 'user' | 'verb' | 'isResourceRequest'>>,
): AuthorizationAttributes {
  return { ...noResource, ...resource, user, verb, isResourceRequest: true }
}

export const pathAttributes = (user: UserInfo, verb: string, path: string): AuthorizationAttributes => ({
  ...noResource,
  path,
  user,
  verb,
  isResourceRequest: false,
})

const selecting = new Set(['list', 'watch', 'deletecollection'])

/** As in kube-apiserver, selectors give no rights on the deprecated paths (/watch/…): those of one object take none. */
const isSelecting = ({ verb, prefix }: RequestInfo): boolean => prefix === '' && selecting.has(verb)

export function attributesOf(user: UserInfo, info: RequestInfo, query: QueryParameters): AuthorizationAttributes {
  if (!info.isResourceRequest) return pathAttributes(user, info.verb, info.path)
  const { verb, apiGroup, apiVersion, namespace, resource, subresource, name, path } = info
  const selects = isSelecting(info)
  const fields = readableFields(selects ? (query.get('fieldSelector') ?? '') : '')
  const labelSelector = selects ? (query.get('labelSelector') ?? '') : ''
  // of one shape with those that are spread from `noResource`
  return {
    apiGroup,
    apiVersion,
    namespace,
    resource,
    subresource,
    name,
    path,
    fields,
    labelSelector,
    user,
    verb,
    isResourceRequest: true,
  }
}

/** A selector that cannot be read narrows nothing; the verb will complain of it. */
export function readableFields(selector: string): readonly FieldRequirement[] {
  if (selector === '') return noResource.fields
  try {
    return parseFieldSelector(selector)
  } catch {
    return []
  }
}
