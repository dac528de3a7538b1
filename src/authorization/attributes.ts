/** The attributes of a request for authorizers (apiserver's pkg/authorization/authorizer Attributes). */
import type { UserInfo } from '../request/user-info.ts'
import type { RequestInfo } from '../request/request-info.ts'
import { parseFieldSelector } from '../storage/selectors/field-selector.ts'
import type { FieldRequirement, LabelRequirement } from '../storage/selectors/selection.ts'
import type { QueryParameters } from '../request/query-parameters.ts'

export interface AuthorizationAttributes {
  readonly user: UserInfo
  readonly verb: string
  /** False: the request is about `path` only. */
  readonly isResourceRequest: boolean
  readonly apiGroup: string
  readonly apiVersion: string
  readonly namespace: string
  readonly resource: string
  readonly subresource: string
  readonly name: string
  readonly path: string
  /**
   * The field selector of list, watch and deletecollection. Empty where there is none, where it cannot be read, or
   * where the path is deprecated.
   */
  readonly fields: readonly FieldRequirement[]
  /** The selector as it was sent, or the requirements of a review, for authorizers outside of this server. */
  readonly labelSelector: string | readonly LabelRequirement[]
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

/** As in kube-apiserver, selectors do not count on the deprecated paths (/watch/…). */
const isSelecting = ({ verb, prefix }: RequestInfo): boolean => prefix === '' && selecting.has(verb)

export function attributesOf(user: UserInfo, info: RequestInfo, query: QueryParameters): AuthorizationAttributes {
  if (!info.isResourceRequest) return pathAttributes(user, info.verb, info.path)
  const { verb, apiGroup, apiVersion, namespace, resource, subresource, name, path } = info
  const selects = isSelecting(info)
  const fields = readableFields(selects ? (query.get('fieldSelector') ?? '') : '')
  const labelSelector = selects ? (query.get('labelSelector') ?? '') : ''
  // all attributes have one shape, also those that are spread from `noResource`
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

/** The requirements of a selector. One that cannot be read restricts nothing here, and the verb refuses it. */
export function readableFields(selector: string): readonly FieldRequirement[] {
  if (selector === '') return noResource.fields
  try {
    return parseFieldSelector(selector)
  } catch {
    return []
  }
}
