import type { KubeObject } from '../api/object.ts'
import type { Strategy } from './strategy.ts'

/** The store hands a strategy only objects of its own kind, decoded by that kind's schema. */
export function untyped<O extends KubeObject>(strategy: Strategy<O>): Strategy {
  return strategy as unknown as Strategy
}
