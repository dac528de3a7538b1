/**
 * `request` in expressions: an AdmissionRequest without its objects. Empty fields are left out, as in kube-apiserver.
 */
import type { GroupVersionKind } from '../../api/group-version.ts'
import type { Json, JsonObject } from '../../api/object.ts'
import type { Attributes, Operation } from '../attributes.ts'
import type { ResourceKind } from '../equivalent-resources.ts'

const kindValue = ({ group, version, kind }: GroupVersionKind): JsonObject => ({ group, version, kind })

const unlessEmpty = (name: string, text: string): JsonObject => (text === '' ? {} : { [name]: text })

export function requestValue(attributes: Attributes, matched: ResourceKind): JsonObject {
  const { kind, resource, subresource, name, namespace, operation, dryRun } = attributes
  return {
    kind: kindValue(matched.kind),
    resource: { ...matched.resource },
    ...unlessEmpty('subResource', subresource),
    requestKind: kindValue(kind),
    requestResource: { ...resource },
    ...unlessEmpty('requestSubResource', subresource),
    ...unlessEmpty('name', name),
    ...unlessEmpty('namespace', namespace),
    operation,
    userInfo: userValue(attributes),
    dryRun,
    options: operationOptions(attributes),
  }
}

function userValue({ user: { name, uid, groups, extra } }: Attributes): JsonObject {
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

/** As the client sent them: nothing is filled in. */
function operationOptions({ operation, options, dryRun, request: { query } }: Attributes): Json {
  const kind = optionsKinds[operation]
  if (kind === undefined) return null
  const type = { kind, apiVersion: 'meta.k8s.io/v1' }
  const dry = dryRun ? { dryRun: ['All'] } : {}
  if (operation === 'DELETE') {
    // the options of a deletion are JSON, of its body or its query
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
