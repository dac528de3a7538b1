/**
 * Addresses of simulated nodes and their pods, in the families of the server's Services. Nodes are in 172.18.0.0/16 and
 * fd00:172:18::/64. The pods of each node have a /24 of 10.244.0.0/16 and a /64 of fd00:10:244::/48. The second
 * address of a pod or node follows from the first.
 */
import type { Node } from '../../api/core/v1.ts'
import type { IpFamily } from '../../api/ip-addresses.ts'

const NODES = 256

const hex = (number: number): string => number.toString(16)
/** From 1 on: canonical addresses write a 0 otherwise. */
const subnet = (index: number): string => `fd00:10:244:${hex(index + 1)}`

const podRange: Readonly<Record<IpFamily, (index: number) => string>> = {
  IPv4: (index) => `10.244.${index}.0/24`,
  IPv6: (index) => `${subnet(index)}::/64`,
}
const podAddress: Readonly<Record<IpFamily, (index: number, host: number) => string>> = {
  IPv4: (index, host) => `10.244.${index}.${host}`,
  IPv6: (index, host) => `${subnet(index)}::${hex(host)}`,
}
const addressOfNode: Readonly<Record<IpFamily, (host: number) => string>> = {
  IPv4: (host) => `172.18.0.${host}`,
  IPv6: (host) => `fd00:172:18::${hex(host)}`,
}

interface PodRange {
  readonly family: IpFamily
  /** Of the node, in both families. */
  readonly index: number
}

/** Undefined for a range that freePodRanges() does not give. */
function rangeOf(podCIDR: string | undefined): PodRange | undefined {
  const [, decimal] = /^10\.244\.(\d{1,3})\.0\/24$/.exec(podCIDR ?? '') ?? []
  if (decimal !== undefined) return { family: 'IPv4', index: Number(decimal) }
  const [, hexadecimal] = /^fd00:10:244:([0-9a-f]{1,3})::\/64$/.exec(podCIDR ?? '') ?? []
  return hexadecimal === undefined ? undefined : { family: 'IPv6', index: Number.parseInt(hexadecimal, 16) - 1 }
}

/** The ranges of a node in each family: the first that no node has. None: all are in use. */
export function freePodRanges(nodes: readonly Node[], families: readonly IpFamily[]): string[] {
  const taken = new Set(nodes.map(({ spec }) => rangeOf(spec?.podCIDR)?.index))
  for (let index = 0; index < NODES; index++)
    if (!taken.has(index)) return families.map((family) => podRange[family](index))
  return []
}

const podCIDRsOf = ({ spec }: Node): readonly string[] => spec?.podCIDRs ?? [spec?.podCIDR ?? '']

/** The addresses of a node, in the families of its pods. */
export function nodeAddresses(node: Node): readonly string[] {
  const found = podCIDRsOf(node).map((podCIDR) => rangeOf(podCIDR) ?? ({ family: 'IPv4', index: 0 } as const))
  return found.map(({ family, index }) => addressOfNode[family]((index % 254) + 1))
}

/** Allocates the free addresses of a node's first range, the lowest first. The first two belong to the network. */
export function addressesOf(podCIDR: string | undefined, taken: ReadonlySet<string>): () => string | undefined {
  const range = rangeOf(podCIDR)
  let next = 2
  return () => {
    if (range === undefined) return undefined
    for (; next < 255; next++) {
      const address = podAddress[range.family](range.index, next)
      if (taken.has(address)) continue
      next++
      return address
    }
    return undefined
  }
}

/** All addresses of a pod, by the ranges of its node. @param ip the first one */
export function podAddresses(node: Node, ip: string): readonly string[] {
  const [first, ...others] = podCIDRsOf(node).map(rangeOf)
  if (first === undefined || others.length === 0) return [ip]
  const host = Number.parseInt(
    ip.slice(ip.lastIndexOf(first.family === 'IPv4' ? '.' : ':') + 1),
    first.family === 'IPv4' ? 10 : 16,
  )
  // an address that somebody else gave
  if (ip !== podAddress[first.family](first.index, host)) return [ip]
  return [ip, ...others.flatMap((other) => (other === undefined ? [] : [podAddress[other.family](other.index, host)]))]
}
