/**
 * Audits the writes of controllers and of the server itself, which have no client request. It writes the event where
 * the write reaches storage: a call that changes nothing has no event, and no write of a controller bypasses the audit.
 */
import type { OwnWrite } from '../../audit/audit.ts'
import { auditedWrite } from '../../audit/audit.ts'
import { resourceAttributes } from '../../authorization/attributes.ts'
import { API_SERVER } from '../../request/user-info.ts'
import { settingsOf } from '../../settings.ts'
import type { NewValue, StoredValue } from '../../storage/storage.ts'
import type { ResourceScope } from '../resource-scope.ts'

/** The verbs of calls that write. */
export type WritingVerb = 'create' | 'update' | 'patch' | 'delete'

/** The user agent of the program that makes this write in a Kubernetes cluster. */
const agentOf = (user: string): string =>
  user === API_SERVER.name ? 'kube-apiserver' : user === SCHEDULER ? 'kube-scheduler' : 'kube-controller-manager'

const SCHEDULER = 'system:kube-scheduler'

/** @param verb the verb of the call. Storage may get another one: a delete only marks an object with finalizers. */
export function auditedScope(scope: ResourceScope, verb: WritingVerb): ResourceScope {
  const { request, storage } = scope
  if (settingsOf(request.env).audit === undefined) return scope
  const write = (key: string, value: NewValue | undefined, work: () => Promise<StoredValue>): Promise<StoredValue> =>
    auditedWrite(request, ownWrite(scope, verb, key, value), work, ({ text }) => ({
      code: verb === 'create' ? 201 : 200,
      ...(verb === 'delete' ? {} : { object: text }),
    }))
  return {
    ...scope,
    storage: {
      ...storage,
      create: (collection, key, value) => write(key, value, () => storage.create(collection, key, value)),
      update: (collection, key, value, expected) =>
        write(key, verb === 'delete' ? undefined : value, () => storage.update(collection, key, value, expected)),
      delete: (collection, key, last, expected) =>
        write(key, undefined, () => storage.delete(collection, key, last, expected)),
    },
  }
}

function ownWrite(scope: ResourceScope, verb: WritingVerb, key: string, value: NewValue | undefined): OwnWrite {
  const {
    request,
    resource: { gvr: resource, namespaced },
    place: { subresource },
  } = scope
  const slash = namespaced ? key.indexOf('/') : -1
  const [namespace, name] = [key.slice(0, Math.max(0, slash)), key.slice(slash + 1)]
  const { group: apiGroup, version: apiVersion } = resource
  const place = {
    apiGroup,
    apiVersion,
    resource: resource.resource,
    namespace,
    subresource,
    // a POST to a subresource names its object
    name: verb === 'create' && subresource === '' ? '' : name,
  }
  return {
    asked: resourceAttributes(request.user, verb, place),
    written: { name, namespace },
    origin: { requestURI: pathOf(place), userAgent: agentOf(request.user.name) },
    ...(value && { requestObject: value.text }),
  }
}

interface ResourcePlace {
  readonly apiGroup: string
  readonly apiVersion: string
  readonly resource: string
  readonly namespace: string
  readonly name: string
  readonly subresource: string
}

function pathOf({ apiGroup, apiVersion, resource, namespace, name, subresource }: ResourcePlace): string {
  const version = apiGroup === '' ? ['api', apiVersion] : ['apis', apiGroup, apiVersion]
  const within = namespace === '' ? [] : ['namespaces', namespace]
  return `/${[...version, ...within, resource, name, subresource].filter((part) => part !== '').join('/')}`
}
