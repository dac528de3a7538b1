/** Who serves each verb and subresource. */
import { ownValue } from '../api/own.ts'
import { notServed } from '../api/status.ts'
import { parseListOptions } from '../request/options.ts'
import { admitConnect } from './admit-connect.ts'
import { isComponentStatuses, serveComponentStatuses } from './component-statuses.ts'
import { create } from './create.ts'
import { deleteCollection, deleteOne } from './delete.ts'
import { get } from './get.ts'
import { list } from './list.ts'
import { patch } from './patch.ts'
import { binding } from './pods/binding.ts'
import { execOrAttach, log, portForward } from './pods/connect.ts'
import { eviction } from './pods/eviction.ts'
import { proxy } from './pods/proxy.ts'
import type { RequestScope } from '../registry/resource-scope.ts'
import type { Route, Verb } from './route.ts'
import { token } from './token.ts'
import { update } from './update.ts'
import { watch } from './watch.ts'

/** @param verb as it was authorized. @param deeper the path behind the subresource */
export type Handler = (scope: RequestScope, verb: Verb | '', deeper: readonly string[]) => Promise<Response>

export interface Handlers {
  readonly verbs: Readonly<Record<Verb, Handler>>
  /** By `RESOURCE/SUBRESOURCE`: what is another kind than its resource, or no object at all. */
  readonly subresources: Readonly<Record<string, Handler>>
  /** Found out when asked. */
  readonly componentStatuses: Handler
}

/** Admission is asked before the object is looked for. */
const connecting =
  (connect: Handler): Handler =>
  async (scope, verb, deeper) => {
    await admitConnect(scope, deeper)
    return connect(scope, verb, deeper)
  }

export const handlers: Handlers = {
  verbs: {
    create,
    get,
    list: listAlone,
    watch: (scope) => watch(scope, parseListOptions(scope.request.query, true)),
    update,
    patch,
    delete: deleteOne,
    deletecollection: deleteCollection,
  },
  subresources: {
    'pods/attach': connecting(execOrAttach),
    'pods/binding': binding,
    'pods/eviction': eviction,
    'pods/exec': connecting(execOrAttach),
    'pods/log': log,
    'pods/portforward': connecting(portForward),
    'serviceaccounts/token': token,
    'pods/proxy': connecting(proxy),
    'services/proxy': connecting(proxy),
    'nodes/proxy': connecting(proxy),
  },
  componentStatuses: serveComponentStatuses,
}

/** A list never turns into a watch: the verb was decided, and authorized, before. */
async function listAlone(scope: RequestScope): Promise<Response> {
  const options = parseListOptions(scope.request.query, false)
  if (options.watch) throw new Error('assertion failed: a watch was authorized as a list')
  return list(scope, options)
}

/** Other subresources read and write the object of their resource. */
const ofObject: readonly (Verb | '')[] = ['get', 'update', 'patch']

/** @throws StatusError 404 */
export function handlerOf(table: Handlers, { entry, verb, subresource }: Route): Handler {
  if (subresource !== '') {
    const own = ownValue(table.subresources, `${entry.resource}/${subresource}`)
    if (own !== undefined && entry.group === '') return own
    if (!ofObject.includes(verb)) throw notServed()
  } else if (isComponentStatuses(entry)) return table.componentStatuses
  if (verb === '') throw notServed()
  return table.verbs[verb]
}
