import type { GroupVersionResource } from '../api/group-version.ts'
import { apiVersionOf } from '../api/group-version.ts'
import type { ApiCall } from '../request/context.ts'
import { API_SERVER } from '../request/user-info.ts'
import { collectionOf } from '../storage/collections.ts'
import { storageFor } from '../storage/environment-storage.ts'
import { noticingControlWrites } from '../tenancy/control-snapshot.ts'
import { resourceOf } from './resource-of.ts'
import type { Place, ResourceScope } from './resource-scope.ts'
import type { ResourceEntry } from './served/resources.ts'
import { builtInByDefault, builtInServed } from './served/built-in-served.ts'
import { auditedScope } from './write/audited-scope.ts'
import type { WritingVerb } from './write/audited-scope.ts'

/** Returns the input of the verbs: the resource of the request, and the place in it. */
export function resourceScope<Call extends ApiCall>(
  request: Call,
  entry: ResourceEntry,
  { name, subresource, namespace }: Place,
): ResourceScope<Call> {
  const { tenant, env } = request
  const storage = noticingControlWrites(storageFor(request))
  const { gates } = builtInServed(env)
  return {
    request,
    place: { namespace: entry.namespaced ? namespace : '', name, subresource },
    resource: resourceOf(request, entry, subresource),
    collection: collectionOf(tenant, { group: entry.storage.group, resource: entry.storage.resource }),
    storage,
    strategyContext: (dryRun) => ({
      user: request.user,
      now: request.now,
      namespace,
      apiVersion: apiVersionOf(entry),
      verb: request.info?.verb,
      dryRun,
      tenant,
      env,
      storage,
      beside: (resource, within = '') => serverScope(request, resource, { namespace: within }),
      loopback: (verb, resource, within = '') => loopbackScope(request, verb, resource, { namespace: within }),
      enabled: gates.enabled,
      warn: (text) => void request.warnings.push(text),
    }),
    enabled: gates.enabled,
  }
}

/**
 * The scope of a request that kube-apiserver makes to itself (loopback client) while it serves a call. Its user is
 * system:apiserver, and it has its own audit events.
 */
export const loopbackScope = (
  call: ApiCall,
  verb: WritingVerb,
  resource: GroupVersionResource,
  place?: Partial<Place>,
): ResourceScope => auditedScope(serverScope({ ...call, auditId: crypto.randomUUID() }, resource, place), verb)

/**
 * The scope of a read or write that the server makes itself as part of a call. Warnings, audit and options of the call
 * do not apply to it.
 * @param resource a built-in resource; the settings may have switched it off
 */
export function serverScope(
  call: ApiCall,
  { group, version, resource }: GroupVersionResource,
  { namespace = '', name = '', subresource = '' }: Partial<Place> = {},
): ResourceScope {
  const { resources } = builtInServed(call.env)
  const entry = resources.find(group, version, resource) ?? builtInByDefault().resources.find(group, version, resource)
  if (entry === undefined) throw new Error(`assertion failed: ${resource} are built in`)
  const { query: _, ...about } = call
  const own: ApiCall = { ...about, user: API_SERVER, warnings: [], record: undefined }
  return resourceScope(own, entry, { name, subresource, namespace })
}
