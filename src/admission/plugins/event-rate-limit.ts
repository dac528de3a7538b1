/**
 * EventRateLimit: how many Events a second the server takes, in all or for each namespace, user or object. Each
 * isolate counts for itself, like each kube-apiserver.
 */
import type { Event } from '../../api/core/v1.ts'
import { BoundedMap } from '../../base/bounded-map.ts'
import { StatusError } from '../../api/status.ts'
import type { EventLimit } from '../../configuration/event-rate-limit.ts'
import { settingsOf } from '../../settings.ts'
import { perTenant } from '../../tenancy/tenant-state.ts'
import type { AdmissionPlugin, Attributes } from '../attributes.ts'

interface Bucket {
  tokens: number
  /** The time to which `tokens` belongs, in milliseconds. */
  at: number
}

/** Bound: the limits of the configuration, with `cacheSize` buckets each. */
const bucketsOf = perTenant('counts', () => new Map<EventLimit, BoundedMap<string, Bucket>>())

export const eventRateLimit: AdmissionPlugin = {
  name: 'EventRateLimit',
  handles: ({ operation, kind, dryRun }) =>
    (operation === 'CREATE' || operation === 'UPDATE') && kind.group === '' && kind.kind === 'Event' && !dryRun,
  validate(attributes) {
    const { eventLimits } = settingsOf(attributes.request.env).admission
    const all = eventLimits.flatMap((limit) => {
      const key = keyOf(limit, attributes)
      return takeToken(limit, key, attributes) ? [] : [`limit reached on type ${limit.type} for key ${key}`]
    })
    if (all.length === 0) return
    const refusals = [...new Set(all)] // two limits may be of one type
    const why = refusals.length === 1 ? refusals[0]! : `[${refusals.join(', ')}]`
    throw new StatusError(429, 'TooManyRequests', `Too many requests: ${why}`)
  },
}

function takeToken(limit: EventLimit, key: string, { request }: Attributes): boolean {
  const all = bucketsOf(request.tenant)
  let buckets = all.get(limit)
  if (buckets === undefined) all.set(limit, (buckets = new BoundedMap({ entries: limit.cacheSize })))
  const now = request.clock()
  const bucket = buckets.getOrMake(key, () => ({ tokens: limit.burst, at: now }))
  const passed = Math.max(0, now - bucket.at)
  bucket.tokens = Math.min(limit.burst, bucket.tokens + (passed * limit.qps) / 1000)
  bucket.at = Math.max(bucket.at, now)
  if (bucket.tokens < 1) return false
  bucket.tokens--
  return true
}

function keyOf({ type }: EventLimit, { namespace, user, object }: Attributes): string {
  switch (type) {
    case 'Server':
      return ''
    case 'Namespace':
      return namespace
    case 'User':
      return user.name
    case 'SourceAndObject': {
      // the body was decoded as an Event
      const { source = {}, involvedObject: about = {} } = object as unknown as Event
      return [source.component, source.host, about.kind, about.namespace, about.name, about.uid, about.apiVersion]
        .map((part) => part ?? '')
        .join('')
    }
  }
}
