/**
 * `request` in expressions: an AdmissionRequest without its objects. Empty fields are left out, as in kube-apiserver.
 */
import type { GroupVersionKind } from '../../api/group-version.ts'
import type { Json, JsonObject } from '../../api/object.ts'
import type { UserInfo } from '../../request/user-info.ts'
import type { Attributes, Operation } from '../attributes.ts'
import type { ResourceKind } from '../equivalent-resources.ts'

const kindValue = ({ group, version, kind }: GroupVersionKind): JsonObject => ({ group, version, kind })

const unlessEmpty = (name: string, text: string): JsonObject => (text === '' ? {} : { [name]: text })

/** Of an AdmissionRequest all that is the same for each request to one resource. */
export function kindsValue({ kind, resource, subresource }: Attributes, matched: ResourceKind): JsonObject {
  return {
    kind: kindValue(matched.kind),
    resource: { ...matched.resource },
    ...unlessEmpty('subResource', subresource),
    requestKind: kindValue(kind),
    requestResource: { ...resource },
    ...unlessEmpty('requestSubResource', subresource),
  }
}

export function requestValue(attributes: Attributes, matched: ResourceKind): JsonObject {
  const { name, namespace, operation, dryRun } = attributes
  return {
    ...kindsValue(attributes, matched),
    ...unlessEmpty('name', name),
    ...unlessEmpty('namespace', namespace),
    operation,
    userInfo: userValue(attributes.user),
    dryRun,
    options: operationOptions(attributes),
  }
}

export function userValue({ name, uid, groups, extra }: UserInfo): JsonObject {
  const more = Object.entries(extra).map(([key, values]): [string, Json] => [key, [...values]])
  return {
    ...unlessEmpty('username', name),
    ...unlessEmpty('uid', uid),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
    ...(more.length === 0 ? {} : { extra: Object.fromEntries(more) }),
  }
}

const optionsKinds = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
  CONNECT: undefined,
} satisfies Record<Operation, string | undefined>

/** The options as the client sent them, without defaults. */
export function operationOptions({ operation, options, dryRun, request: { query } }: Attributes): Json {
  const kind = optionsKinds[operation]
  if (kind === undefined) return null
  const type = { kind, apiVersion: 'meta.k8s.io/v1' }
  const dry = dryRun ? { dryRun: ['All'] } : {}
  if (operation === 'DELETE') {
    // options of a deletion are JSON, from the body or the query
    const { dryRun: _, ...others } = options as JsonObject
    return { ...others, ...type, ...dry }
  }
  return {
    ...type,
    ...dry,
    ...unlessEmpty('fieldManager', query?.get('fieldManager') ?? ''),
    ...unlessEmpty('fieldValidation', query?.get('fieldValidation') ?? ''),
  }
}
