/**
 * NodeMetrics and PodMetrics (metrics.k8s.io/v1beta1) of simulated nodes. They are not stored, so a list has no
 * resourceVersion.
 */
import type { Node, Pod } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { turnOfOthers } from '../../base/slices.ts'
import { notFound } from '../../api/status.ts'
import { negotiateOutput } from '../../codec/negotiation/negotiate.ts'
import { respondItems, respondObject } from '../../codec/respond.ts'
import { liveOf } from '../../codec/stored-object.ts'
import { isSimulated } from '../../api/simulated-node.ts'
import { NodeUsage, podMetrics } from '../../controllers/simulation/usage.ts'
import { withListPlace } from '../../flowcontrol/open-lists.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'
import { serverScope } from '../../registry/scope.ts'
import { parseListOptions } from '../../request/options.ts'
import { parseFieldSelector } from '../../storage/selectors/field-selector.ts'
import { linesOf } from '../../storage/streams/lines.ts'
import type { Selection } from '../../storage/selectors/selection.ts'
import { selectionOf } from './selection.ts'

/** Objects that are read between two turns of other requests. */
const TOGETHER = 100

export async function servePodUsage(scope: RequestScope): Promise<Response> {
  const { request, place } = scope
  return answered(scope, async (selection) => {
    const found: object[] = []
    for await (const pod of stored<Pod>(scope, 'pods', selection, place.namespace)) {
      const metrics = podMetrics(pod, request.now)
      if (metrics !== undefined) found.push(metrics)
    }
    return found
  })
}

export async function serveNodeUsage(scope: RequestScope): Promise<Response> {
  const { request, place } = scope
  return answered(scope, async (selection) => {
    const usage = new Map<string, NodeUsage>()
    for await (const node of stored<Node>(scope, 'nodes', selection))
      if (isSimulated(node)) usage.set(node.metadata.name ?? '', new NodeUsage(node))
    if (usage.size === 0) return []
    // the name of an existing node has no characters that mean something in a selector
    const wanted = { labels: [], fields: parseFieldSelector(place.name === '' ? '' : `spec.nodeName=${place.name}`) }
    for await (const pod of stored<Pod>(scope, 'pods', wanted)) usage.get(pod.spec?.nodeName ?? '')?.add(pod)
    return [...usage.values()].map((one) => one.metrics(request.now))
  })
}

async function answered(scope: RequestScope, find: (selection: Selection) => Promise<object[]>): Promise<Response> {
  const { request, resource, place } = scope
  const { forms } = resource
  // each has kind and metadata of its resource
  const found = async () =>
    (await find(selectionOf(scope, parseListOptions(request.query, false, scope.enabled)))) as KubeObject[]
  if (place.name === '') {
    const output = negotiateOutput(request, { kind: 'list', forms })
    return withListPlace(request, async (use) => respondItems(scope, output, { items: await found(), use }))
  }
  const output = negotiateOutput(request, { kind: 'object', forms })
  const [only] = await found()
  if (only === undefined) throw notFound(resource.gvr, place.name)
  return respondObject(scope, output, 200, only)
}

async function* stored<O extends KubeObject>(
  { request }: RequestScope,
  resource: 'pods' | 'nodes',
  selection: Selection,
  namespace = '',
): AsyncGenerator<O> {
  const { storage, collection } = serverScope(request, { group: '', version: 'v1', resource })
  const where = namespace === '' ? {} : { namespace }
  const { values, revision } = await storage.list(collection, { selection, at: { kind: 'latest' }, ...where })
  let seen = 0
  for await (const text of linesOf(values)) {
    // only objects of this type are stored under the resource
    yield liveOf({ revision, text }).object as O
    if (++seen % TOGETHER === 0) await turnOfOthers()
  }
}
