/**
 * Addresses of simulated nodes and their pods: nodes in 172.18.0.0/16, and for the pods of each node a /24 of
 * 10.244.0.0/16.
 */
import type { Node } from '../../api/core/v1.ts'

const NODES = 256

/** The index of a node in both ranges; undefined if its podCIDR is not one that freePodRange() gives. */
const indexOf = (podCIDR: string | undefined): number | undefined => {
  const [, index] = /^10\.244\.(\d{1,3})\.0\/24$/.exec(podCIDR ?? '') ?? []
  return index === undefined ? undefined : Number(index)
}

/** The first range without a node; undefined: all ranges are in use. */
export function freePodRange(nodes: readonly Node[]): string | undefined {
  const taken = new Set(nodes.map(({ spec }) => indexOf(spec?.podCIDR)))
  for (let index = 0; index < NODES; index++) if (!taken.has(index)) return `10.244.${index}.0/24`
  return undefined
}

export const nodeAddress = (podCIDR: string | undefined): string => `172.18.0.${((indexOf(podCIDR) ?? 0) % 254) + 1}`

/** Allocates the free addresses of a range, the lowest first. The first two belong to the network. */
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
