/**
 * componentstatuses (core v1, deprecated): the state of the control plane's components, checked on request. They are
 * not stored, so a list has no resourceVersion.
 */
import type { KubeObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import { notFound } from '../../api/status.ts'
import { negotiateOutput } from '../../codec/negotiation/negotiate.ts'
import { respondItems, respondObject } from '../../codec/respond.ts'
import { withListPlace } from '../../flowcontrol/open-lists.ts'
import { parseListOptions } from '../../request/options.ts'
import type { ApiRequest } from '../../request/context.ts'
import { matches } from '../../storage/selectors/selection.ts'
import { failureOf } from './health.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'
import { selectionOf } from '../verbs/selection.ts'
import { builtInForms } from '../../codec/built-in-forms.ts'

/** The check of each component, which returns its error. The controllers run within this server, so theirs has none. */
const parts: Readonly<Record<string, (request: ApiRequest) => Promise<string | undefined>>> = {
  'controller-manager': async () => undefined,
  'etcd-0': (request) => failureOf('etcd', request),
}

export async function serveComponentStatuses(scope: RequestScope): Promise<Response> {
  const {
    request,
    place: { name },
  } = scope
  if (name !== '') {
    const output = negotiateOutput(request, { kind: 'object', forms: builtInForms })
    if (!Object.hasOwn(parts, name)) throw notFound({ group: '', resource: 'componentstatus' }, name)
    return respondObject(scope, output, 200, await statusOf(name, request))
  }
  const output = negotiateOutput(request, { kind: 'list', forms: builtInForms })
  const selection = selectionOf(scope, parseListOptions(request.query, false, scope.enabled))
  return withListPlace(request, async (use) => {
    const all = await Promise.all(Object.keys(parts).map((part) => statusOf(part, request)))
    const items = all.filter(({ metadata }) => matches(selection, metadata.name ?? '', {}))
    return respondItems(scope, output, { items, use })
  })
}

async function statusOf(name: string, request: ApiRequest): Promise<KubeObject> {
  const failure = await ownValue(parts, name)!(request)
  const condition = {
    type: 'Healthy',
    status: failure === undefined ? 'True' : 'False',
    message: failure ?? 'ok',
  }
  return { kind: 'ComponentStatus', apiVersion: 'v1', metadata: { name }, conditions: [condition] } as KubeObject
}
