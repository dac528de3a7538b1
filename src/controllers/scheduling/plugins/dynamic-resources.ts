/** DynamicResources: whether a node has devices for the claims of a pod. */
import type { FilterPlugin, ScorePlugin } from '../framework.ts'
import { forGood } from '../framework.ts'
import { largestIsBest } from '../normalize.ts'

export const dynamicResources: FilterPlugin & ScorePlugin = {
  name: 'DynamicResources',
  *begin({ claims }) {
    if (claims === undefined) return undefined
    return claims.problem === undefined ? { refuses: (node) => claims.refusalOn(node) } : forGood(claims.problem)
  },
  *score({ claims, work }, nodes) {
    if (claims?.hasLists !== true) return undefined
    return largestIsBest(yield* work.map(nodes, (node) => claims.scoreOn(node)))
  },
}
