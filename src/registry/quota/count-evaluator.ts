/** Objects are counted, each as one, when they are created. */
import type { Amounts } from './amounts.ts'
import { ONE } from './amounts.ts'
import type { Evaluator } from './evaluator.ts'

/** @param names under which quotas count them */
export function countEvaluator(...names: readonly string[]): Evaluator {
  const usage: Amounts = new Map(names.map((name) => [name, ONE]))
  return {
    handles: ({ operation, subresource }) => subresource === '' && operation === 'CREATE',
    tracks: (name) => names.includes(name),
    usage: () => usage,
  }
}
