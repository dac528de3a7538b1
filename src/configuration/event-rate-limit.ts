/** Configuration of EventRateLimit (eventratelimit.admission.k8s.io/v1alpha1). */
import * as z from 'zod/mini'
import type { FieldError } from '../api/field.ts'
import { invalidValue, messageOf, notSupported, path } from '../api/field.ts'
import { readVersioned } from './versioned.ts'

const TYPES = ['Server', 'Namespace', 'User', 'SourceAndObject'] as const

export interface EventLimit {
  readonly type: (typeof TYPES)[number]
  /** Events a second, once the burst is used up. */
  readonly qps: number
  readonly burst: number
  /** How many namespaces, users or objects have a bucket of their own. */
  readonly cacheSize: number
}

const DEFAULT_CACHE_SIZE = 4096

const int32 = z._default(z.int32(), 0)
const configuration = z.strictObject({
  limits: z._default(
    z.array(z.strictObject({ type: z._default(z.string(), ''), qps: int32, burst: int32, cacheSize: int32 })),
    [],
  ),
})

const TYPE = { group: 'eventratelimit.admission.k8s.io', versions: ['v1alpha1'], kind: 'Configuration' }

/** @throws Error */
export function readEventLimits(raw: unknown): readonly EventLimit[] {
  const { limits } = raw === undefined ? { limits: [] } : readVersioned(configuration, raw, TYPE)
  const errors: FieldError[] = limits.length > 0 ? [] : [invalidValue(path('limits'), undefined, 'must not be empty')]
  const read = limits.flatMap(({ type: name, qps, burst, cacheSize }, index): EventLimit[] => {
    const at = path('limits').index(index)
    const type = TYPES.find((one) => one === name)
    if (type === undefined) errors.push(notSupported(at.child('type'), name, TYPES))
    if (burst <= 0) errors.push(invalidValue(at.child('burst'), burst, 'must be positive'))
    if (qps <= 0) errors.push(invalidValue(at.child('qps'), qps, 'must be positive'))
    if (type !== 'Server' && cacheSize < 0)
      errors.push(invalidValue(at.child('cacheSize'), cacheSize, 'must not be negative'))
    return type === undefined ? [] : [{ type, qps, burst, cacheSize: cacheSize || DEFAULT_CACHE_SIZE }]
  })
  if (errors.length > 0) throw new Error(messageOf(errors))
  return read
}
