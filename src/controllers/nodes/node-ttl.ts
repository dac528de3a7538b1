/**
 * Sets how long kubelets may cache ConfigMaps and Secrets (kube-controller-manager's ttl-controller): the more nodes,
 * the longer. All nodes share one key: ''.
 */
import type { Node } from '../../api/core/v1.ts'
import { ownValue } from '../../base/own.ts'
import { flatMapParts } from '../../base/parts.ts'
import { NODE_TTL } from '../../registry/core/nodes/node-work.ts'
import { clientsetFor, typedResource } from '../client/clientset.ts'
import type { Controller } from '../controller.ts'
import { inTurns, PLANNED, planned } from '../work/in-turns.ts'
import { unlessGone } from '../work/unless-gone.ts'

const NODES = typedResource<Node>('', 'nodes')

interface Size {
  readonly atLeast: number
  readonly atMost: number
  readonly seconds: number
}

/** Cluster sizes. They overlap, so that a cluster at the edge of two sizes does not change with each node. */
const SIZES: readonly Size[] = [
  { atLeast: 0, atMost: 100, seconds: 0 },
  { atLeast: 90, atMost: 500, seconds: 15 },
  { atLeast: 450, atMost: 1000, seconds: 30 },
  { atLeast: 900, atMost: 2000, seconds: 60 },
  { atLeast: 1800, atMost: Infinity, seconds: 300 },
]

/** @param before the seconds in the annotations of nodes now; their size stays valid as long as it includes `count` */
export function nodeTtl(count: number, before: number): number {
  const fitting = SIZES.filter(({ atLeast, atMost }) => atLeast <= count && count <= atMost)
  const known = SIZES.find(({ seconds }) => seconds === before) ?? SIZES[0]!
  if (fitting.includes(known)) return known.seconds
  // a growing cluster gets the first size that includes it, a shrinking one the last
  return (count > known.atMost ? fitting[0] : fitting.at(-1))?.seconds ?? 0
}

export const nodeTtlController: Controller = {
  async reconcile(_key, context) {
    const nodes = clientsetFor(context, 'ttl-controller').resource(NODES)
    const all = await nodes.list({ shared: true })
    const { seconds, others } = await planned(all, () => secondsFor(all))
    const body = { metadata: { annotations: { [NODE_TTL]: String(seconds) } } }
    await inTurns(
      others,
      (node) =>
        nodes
          .patch(node, 'application/strategic-merge-patch+json', body)
          .catch((error: unknown) => unlessGone(nodes, node, error)),
      context.budget,
    )
    return undefined
  },
}

/** The seconds for all nodes, and the nodes whose annotation differs. */
function secondsFor(nodes: readonly Node[]): { readonly seconds: number; readonly others: readonly Node[] } {
  const said = flatMapParts(nodes, (node) => [secondsOf(node)].filter((one) => one !== undefined), PLANNED)
  const seconds = nodeTtl(nodes.length, mostFrequent(said))
  return { seconds, others: flatMapParts(nodes, (node) => (secondsOf(node) === seconds ? [] : [node]), PLANNED) }
}

function secondsOf({ metadata }: Pick<Node, 'metadata'>): number | undefined {
  const text = ownValue(metadata?.annotations, NODE_TTL)
  return text !== undefined && /^[+-]?\d{1,18}$/.test(text) ? Number(text) : undefined
}

function mostFrequent(values: readonly number[]): number {
  const counts = new Map<number, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].reduce((most, one) => (one[1] > most[1] ? one : most), [0, 0] as const)[0]
}
