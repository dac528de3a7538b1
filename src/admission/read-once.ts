/**
 * Other objects that plug-ins read for one request. Each object is read once, and the objects that a write certainly
 * needs are read together, so that they cost one round trip.
 */
import type { AdmissionPlugin, Attributes } from './attributes.ts'

/**
 * Not a member of the request: a write that the server makes beside it copies the request, and must make its own reads.
 * Bound: the reads of one request's plug-ins.
 */
const known = new WeakMap<Attributes['request'], Map<string, Promise<unknown>>>()

/** @param what identifies a read within the request: RESOURCE NAME */
export function readOnce<T>({ request }: Attributes, what: string, read: () => Promise<T>): Promise<T> {
  let reads = known.get(request)
  if (reads === undefined) known.set(request, (reads = new Map()))
  const begun = reads.get(what)
  // one name, one kind of answer
  if (begun !== undefined) return begun as Promise<T>
  const reading = read()
  reads.set(what, reading)
  return reading
}

/** Begins the reads of the plug-ins. An error surfaces in the plug-in that uses the read. */
export function beginReads(plugins: readonly AdmissionPlugin[], attributes: Attributes): void {
  for (const plugin of plugins)
    if (plugin.handles(attributes)) for (const reading of plugin.reads?.(attributes) ?? []) reading.catch(() => {})
}
