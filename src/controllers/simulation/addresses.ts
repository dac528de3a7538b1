/** Addresses of simulated nodes and of their pods: nodes in 172.18.0.0/16, each with a /24 of 10.244.0.0/16 for its pods. */
import type { Node } from '../../api/core/v1.ts'

const NODES = 256

/** The number of a node in both ranges; undefined where its range is none of ours. */
const indexOf = (podCIDR: string | undefined): number | undefined => {
  const [, index] = /^10\.244\.(\d{1,3})\.0\/24$/.exec(podCIDR ?? '') ?? []
  return index === undefined ? undefined : Number(index)
}

/** The first range that no node has; undefined where all are taken. */
export function freePodRange(nodes: readonly Node[]): string | undefined {
  const taken = new Set(nodes.map(({ spec }) => indexOf(spec?.podCIDR)))
  for (let index = 0; index < NODES; index++) if (!taken.has(index)) return `10.244.${index}.0/24`
  return undefined
}

export const nodeAddress = (podCIDR: string | undefined): string => `172.18.0.${((indexOf(podCIDR) ?? 0) % 254) + 1}`

/** Gives out the addresses of a range that are not taken, the lowest first. The first two are the network's own. */
export function addressesOf(podCIDR: string | undefined, taken: ReadonlySet<string>): () => string | undefined {
  const [, prefix] = /^(\d+\.\d+\.\d+)\.0\/24$/.exec(podCIDR ?? '') ?? []
  let next = 2
  return () => {
    if (prefix === undefined) return undefined
    for (; next < 255; next++) {
      const address = `${prefix}.${next}`
      if (taken.has(address)) continue
      next++
      return address
    }
    return undefined
  }
}
