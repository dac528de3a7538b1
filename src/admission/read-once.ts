/**
 * Other objects that plug-ins read for one request. The phases of a quick write share each read, and the objects that
 * a write certainly needs are read together, so that they cost one round trip. A body or a webhook may take half a
 * minute. What was read before is then read again, because admission judges by what holds when the object is written.
 */
import { isRecent } from '../base/clock.ts'
import type { AdmissionPlugin, Attributes } from './attributes.ts'

/** Milliseconds for which a request uses what it read. */
const MAX_AGE = 1_000

interface Read {
  /** When it began. */
  readonly at: number
  readonly found: Promise<unknown>
}

/**
 * A WeakMap rather than a member of the request: the server's other writes copy the request, and must make their own
 * reads. Bound: the reads of one request's plugins.
 */
const known = new WeakMap<Attributes['request'], Map<string, Read>>()

/** @param what key of the read within the request: RESOURCE NAME */
export function readOnce<T>({ request }: Attributes, what: string, read: () => Promise<T>): Promise<T> {
  let reads = known.get(request)
  if (reads === undefined) known.set(request, (reads = new Map()))
  const at = request.clock()
  const begun = reads.get(what)
  // equal keys have answers of one type
  if (begun !== undefined && isRecent(begun.at, at, MAX_AGE)) return begun.found as Promise<T>
  const found = read()
  reads.set(what, { at, found })
  return found
}

/** Begins the reads of the plugins. The plugin that uses a read gets its error. */
export function beginReads(plugins: readonly AdmissionPlugin[], attributes: Attributes): void {
  for (const plugin of plugins)
    if (plugin.handles(attributes)) for (const reading of plugin.reads?.(attributes) ?? []) reading.catch(() => {})
}
