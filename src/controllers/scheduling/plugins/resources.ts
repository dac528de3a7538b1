/** What pods ask for and nodes have: NodeResourcesFit, which prefers the emptier node, and NodeResourcesBalancedAllocation. */
import type { FilterPlugin, ScorePlugin } from '../framework.ts'
import { MOST } from '../framework.ts'

export const resourcesFit: FilterPlugin & ScorePlugin = {
  name: 'NodeResourcesFit',
  weight: 1,
  begin({ info }) {
    const needs = [...info.needs].filter(([, wanted]) => wanted > 0)
    return {
      refuses(node) {
        let reasons: string[] | undefined
        let neverFits = false
        if (node.pods.size + 1 > (node.allocatable.get('pods') ?? 0)) reasons = ['Too many pods']
        for (const [name, wanted] of needs) {
          if (wanted <= node.free(name)) continue
          ;(reasons ??= []).push(`Insufficient ${name}`)
          if (wanted > (node.allocatable.get(name) ?? 0)) neverFits = true
        }
        return reasons && { reasons, forGood: neverFits }
      },
    }
  },
  score({ info }, nodes) {
    return nodes.map(({ allocatable, nonZero }) => {
      const capacities = [allocatable.get('cpu') ?? 0, allocatable.get('memory') ?? 0] as const
      const requested = [nonZero.cpu + info.nonZero.cpu, nonZero.memory + info.nonZero.memory] as const
      const free = capacities.flatMap((capacity, at) =>
        capacity === 0 ? [] : Math.trunc((Math.max(0, capacity - requested[at]!) * MOST) / capacity),
      )
      return free.length === 0 ? 0 : Math.trunc(free.reduce((sum, value) => sum + value, 0) / free.length)
    })
  },
}

export const balancedAllocation: ScorePlugin = {
  name: 'NodeResourcesBalancedAllocation',
  weight: 1,
  score({ info }, nodes) {
    const [cpu, memory] = [info.needs.get('cpu') ?? 0, info.needs.get('memory') ?? 0]
    if (cpu === 0 && memory === 0) return undefined
    return nodes.map(({ allocatable, requested }) => {
      const capacities = [allocatable.get('cpu') ?? 0, allocatable.get('memory') ?? 0] as const
      const used = [requested.get('cpu') ?? 0, requested.get('memory') ?? 0] as const
      const after = balance([used[0] + cpu, used[1] + memory], capacities)
      return MOST / 2 + Math.trunc((MOST / 2 + after - balance(used, capacities)) / 2)
    })
  },
}

type CpuAndMemory = readonly [cpu: number, memory: number]

/** 100: as much of the one as of the other. */
function balance(used: CpuAndMemory, capacities: CpuAndMemory): number {
  if (capacities[0] === 0 || capacities[1] === 0) return MOST
  const [cpu, memory] = [Math.min(used[0] / capacities[0], 1), Math.min(used[1] / capacities[1], 1)]
  return Math.trunc((1 - Math.abs(cpu - memory) / 2) * MOST)
}
