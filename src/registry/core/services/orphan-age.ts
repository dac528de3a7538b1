/**
 * Milliseconds. What is reserved for a Service that is not there stays until then, because the write of the Service may
 * not be finished: its time is that of the beginning of the request, whose body may take a minute and whose webhooks 34
 * seconds.
 */
export const ORPHAN_AGE = 180_000
