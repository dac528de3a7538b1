/**
 * What plug-ins read of other objects for one request: each object once, and what a write is sure to need all at the
 * same time, so that it costs one round trip.
 */
import type { AdmissionPlugin, Attributes } from './attributes.ts'

/**
 * Not a member of the request: a write that the server makes beside it copies the request, and must read for itself.
 * Bound: what the plug-ins of one request read.
 */
const known = new WeakMap<Attributes['request'], Map<string, Promise<unknown>>>()

/** @param what tells the reads of a request apart: RESOURCE NAME */
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

/** Begins what the plug-ins will read; an error is that of the plug-in which reads. */
export function beginReads(plugins: readonly AdmissionPlugin[], attributes: Attributes): void {
  for (const plugin of plugins)
    if (plugin.handles(attributes)) for (const reading of plugin.reads?.(attributes) ?? []) reading.catch(() => {})
}
