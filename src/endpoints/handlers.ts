/** The handler of each verb and subresource. */
import { notServed } from '../api/status.ts'
import { admitConnect } from './verbs/admit-connect.ts'
import { authorizeStream } from './verbs/authorize-create.ts'
import { serveComponentStatuses } from './health/component-statuses.ts'
import { create } from './verbs/create.ts'
import { deleteCollection, deleteOne } from './verbs/delete.ts'
import { get } from './verbs/get.ts'
import { list } from './verbs/list.ts'
import { patch } from './verbs/patch.ts'
import { binding, legacyBinding } from './pods/binding.ts'
import { execOrAttach, log, portForward } from './pods/connect.ts'
import { eviction } from './pods/eviction.ts'
import { nodeProxy, podProxy, serviceProxy } from './pods/proxy.ts'
import type { Endpoint } from '../registry/endpoint.ts'
import type { RequestScope } from '../registry/resource-scope.ts'
import type { Verb } from '../registry/served/serving.ts'
import type { Route } from './route.ts'
import { token } from './verbs/token.ts'
import { update } from './verbs/update.ts'
import { serveNodeUsage, servePodUsage } from './verbs/usage.ts'
import { watch } from './watch/watch.ts'

/**
 * @param verb the authorized one
 * @param deeper the path behind the subresource
 */
export type Handler = (scope: RequestScope, verb: Verb | '', deeper: readonly string[]) => Promise<Response>

export interface Handlers {
  readonly verbs: Readonly<Record<Verb, Handler>>
  /**
   * Handlers for subresources whose kind is not that of their resource, or that have no object. Definitions name
   * them.
   */
  readonly endpoints: Readonly<Record<Endpoint, Handler>>
}

/** Runs admission before the object is read. What admission has let through is what runs. */
const connecting =
  (connect: (scope: RequestScope, path: string) => Promise<Response>): Handler =>
  async (scope, _verb, deeper) => {
    const admitted = await admitConnect(scope, deeper)
    return connect(admitted.scope, admitted.path)
  }

const streaming = (stream: (scope: RequestScope) => Promise<Response>): Handler =>
  connecting(async (scope) => {
    await authorizeStream(scope)
    return stream(scope)
  })

export const handlers: Handlers = {
  verbs: {
    create,
    get,
    list,
    watch,
    update,
    patch,
    delete: deleteOne,
    deletecollection: deleteCollection,
  },
  endpoints: {
    'component-statuses': serveComponentStatuses,
    eviction,
    exec: streaming(execOrAttach),
    'legacy-binding': legacyBinding,
    log,
    'node-usage': serveNodeUsage,
    'pod-binding': binding,
    'pod-usage': servePodUsage,
    'port-forward': streaming(portForward),
    'node-proxy': connecting(nodeProxy),
    'pod-proxy': connecting(podProxy),
    'service-proxy': connecting(serviceProxy),
    token,
  },
}

/** Verbs of other subresources, which read and write the object of their resource. */
const ofObject: readonly (Verb | '')[] = ['get', 'update', 'patch']

/** @throws StatusError 404 */
export function handlerOf(table: Handlers, { verb, subresource }: Route, endpoint: Endpoint | undefined): Handler {
  if (endpoint !== undefined) return table.endpoints[endpoint]
  if (verb === '' || (subresource !== '' && !ofObject.includes(verb))) throw notServed()
  return table.verbs[verb]
}
