import { socketPaceOf } from '../../flowcontrol/socket-pace.ts'
import { checkStream, negotiateOutput } from '../../codec/negotiation/negotiate.ts'
import { watchFramer } from '../../codec/encode/watch-framer.ts'
import { watchHeaders } from '../../codec/respond.ts'
import { takeWatchPlace } from '../../flowcontrol/open-watches.ts'
import { parseListOptions } from '../../request/options.ts'
import type { ListOptions } from '../../request/options.ts'
import { wantsWebSocket } from '../../request/upgrade.ts'
import { settingsOf } from '../../settings.ts'
import type { WatchQuery } from '../../storage/storage.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'
import { parseRevisionOfWatch } from '../verbs/resource-version.ts'
import { selectionOf } from '../verbs/selection.ts'
import { socketSink, streamSink } from './watch-sink.ts'
import { pumpWatch } from './watch-stream.ts'

export async function watch(scope: RequestScope): Promise<Response> {
  const { request } = scope
  const output = negotiateOutput(request, { kind: 'watch', forms: scope.resource.forms })
  const options = parseListOptions(request.query, true, scope.enabled)
  const selection = selectionOf(scope, options)
  const namespace = scope.resource.namespaced && scope.place.namespace !== '' ? scope.place.namespace : undefined
  const revision = options.resourceVersion === '' ? 0 : parseRevisionOfWatch(options.resourceVersion)
  checkStream(request, output)
  const seconds = secondsOf(options, settingsOf(request.env).watchSeconds)
  await scope.resource.announceWatch?.(request)
  const beginning = await beginningOf(scope, options, revision)
  const framer = watchFramer(scope.resource, output, request.clock)
  const place = takeWatchPlace(request)
  const sink = wantsWebSocket(request.headers)
    ? socketSink(request.headers, framer.isText, socketPaceOf(request))
    : streamSink(watchHeaders(scope, output))
  if (sink instanceof Response) {
    place.leave()
    return sink
  }
  const isOfNow = options.sendInitialEvents === true || options.resourceVersion === ''
  const bookmarks = options.allowWatchBookmarks
  const plan = { query: { namespace, selection, ...beginning }, isOfNow, bookmarks, seconds }
  request.waitUntil(pumpWatch(scope, framer, sink, plan, place))
  return sink.response
}

/**
 * Without timeoutSeconds a watch ends at a random time, so that not all clients return at once. Like Go, it counts
 * nanoseconds in 64 bits. Below 0 the watch ends before its first event.
 */
function secondsOf({ timeoutSeconds = 0 }: ListOptions, shortest: number): number {
  const nanos = BigInt.asIntN(64, BigInt(timeoutSeconds) * 1_000_000_000n)
  return nanos === 0n ? shortest * (1 + Math.random()) : Number(nanos) / 1e9
}

/** Where the watch begins: after a revision, or with the existing objects (WatchList, KEP-3157). */
async function beginningOf(
  scope: RequestScope,
  { sendInitialEvents }: ListOptions,
  revision: number,
): Promise<Pick<WatchQuery, 'from' | 'notOlderThan'>> {
  if (sendInitialEvents === true) return revision === 0 ? {} : { notOlderThan: revision }
  if (revision !== 0) return { from: revision }
  if (sendInitialEvents === false) return { from: await scope.storage.revision(scope.collection) }
  return {}
}
