/** Counts each object as one, when a client creates it. */
import type { Amounts } from './amounts.ts'
import { ONE } from './amounts.ts'
import type { Evaluator } from './evaluator.ts'

/** @param names under which quotas count the objects */
export function countEvaluator(...names: readonly string[]): Evaluator {
  const usage: Amounts = new Map(names.map((name) => [name, ONE]))
  return {
    handles: ({ operation, subresource }) => subresource === '' && operation === 'CREATE',
    tracks: (name) => names.includes(name),
    usage: () => usage,
  }
}
