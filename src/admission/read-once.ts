/**
 * Other objects that plug-ins read for one request. Each object is read once, and the objects that a write certainly
 * needs are read together, so that they cost one round trip.
 */
import type { AdmissionPlugin, Attributes } from './attributes.ts'

/**
 * A WeakMap rather than a member of the request: the server's other writes copy the request, and must make their own
 * reads. Bound: the reads of one request's plugins.
 */
const known = new WeakMap<Attributes['request'], Map<string, Promise<unknown>>>()

/** @param what key of the read within the request: RESOURCE NAME */
export function readOnce<T>({ request }: Attributes, what: string, read: () => Promise<T>): Promise<T> {
  let reads = known.get(request)
  if (reads === undefined) known.set(request, (reads = new Map()))
  const begun = reads.get(what)
  // equal keys have answers of one type
  if (begun !== undefined) return begun as Promise<T>
  const reading = read()
  reads.set(what, reading)
  return reading
}

/** Begins the reads of the plugins. The plugin that uses a read gets its error. */
export function beginReads(plugins: readonly AdmissionPlugin[], attributes: Attributes): void {
  for (const plugin of plugins)
    if (plugin.handles(attributes)) for (const reading of plugin.reads?.(attributes) ?? []) reading.catch(() => {})
}
