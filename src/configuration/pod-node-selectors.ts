/** Configuration of PodNodeSelector: one selector for namespaces that name none, and what a namespace may ask for. */
import * as z from 'zod/mini'
import { readFields } from './versioned.ts'

/** By namespace: `key=value,…`. */
export type PodNodeSelectors = ReadonlyMap<string, string>

export const CLUSTER_DEFAULT = 'clusterDefaultNodeSelector'

const configuration = z.object({
  podNodeSelectorPluginConfig: z._default(z.nullable(z.record(z.string(), z.nullable(z.string()))), {}),
})

/** @throws Error */
export function readPodNodeSelectors(raw: unknown): PodNodeSelectors {
  const { podNodeSelectorPluginConfig: selectors } = readFields(configuration, raw ?? {})
  return new Map(Object.entries(selectors ?? {}).map(([namespace, selector]) => [namespace, selector ?? '']))
}
