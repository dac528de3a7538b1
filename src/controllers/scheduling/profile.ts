/** The profiles of the scheduler. Each has plug-ins with their arguments, in the order of the configuration. */
import type { PluginArgs } from '../../configuration/scheduler/args.ts'
import type { SchedulerProfile } from '../../configuration/scheduler/configuration.ts'
import type { FilterPlugin, PostFilter, Profile, ScorePlugin } from './framework.ts'
import { dynamicResources } from './plugins/dynamic-resources.ts'
import { imageLocality } from './plugins/image-locality.ts'
import { interPodAffinity } from './plugins/inter-pod-affinity.ts'
import { nodeAffinity } from './plugins/node-affinity.ts'
import {
  nodeDeclaredFeatures,
  nodeName,
  nodePorts,
  nodeUnschedulable,
  taintToleration,
} from './plugins/node-filters.ts'
import { balancedAllocation, resourcesFit } from './plugins/resources.ts'
import { podTopologySpread } from './plugins/topology-spread.ts'
import { nodeVolumeLimits } from './plugins/volume-limits.ts'
import { volumeBinding, volumeRestrictions, volumeZone } from './plugins/volumes.ts'

/** Profiles by scheduler name. */
export type Profiles = ReadonlyMap<string, Profile>

export const profilesOf = (profiles: readonly SchedulerProfile[]): Profiles =>
  new Map(profiles.map((profile) => [profile.schedulerName, profileOf(profile)]))

export function profileOf({ schedulerName, at, weights, args, percentageOfNodes }: SchedulerProfile): Profile {
  const plugins = pluginsWith(args)
  const filters = (names: readonly string[]) => names.flatMap((name) => plugins.filters.get(name) ?? [])
  const prepared = new Set(at.preFilter)
  const preFilters = filters([...at.preFilter, ...at.filter.filter((name) => !prepared.has(name))])
  return {
    schedulerName,
    preFilters,
    hints: byName<FilterPlugin>(preFilters),
    filters: at.filter,
    scores: at.score.flatMap((name) => {
      const plugin = plugins.scores.get(name)
      return plugin === undefined ? [] : [{ plugin, weight: weights.get(name) ?? 1 }]
    }),
    postFilters: at.postFilter.filter(isPostFilter),
    candidates: {
      percentage: args.DefaultPreemption.minCandidateNodesPercentage,
      absolute: args.DefaultPreemption.minCandidateNodesAbsolute,
    },
    percentageOfNodes,
    bindsVolumes: at.preBind.includes('VolumeBinding'), // few: the plugins of one point
    allocatesDevices: at.preBind.includes('DynamicResources'), // few: the plugins of one point
  }
}

const isPostFilter = (name: string): name is PostFilter => name === 'DynamicResources' || name === 'DefaultPreemption'

const byName = <T extends { readonly name: string }>(all: readonly T[]): ReadonlyMap<string, T> =>
  new Map(all.map((one) => [one.name, one]))

function pluginsWith(args: PluginArgs) {
  const both = [
    taintToleration,
    nodeAffinity(args.NodeAffinity.addedAffinity),
    resourcesFit(args.NodeResourcesFit),
    podTopologySpread(args.PodTopologySpread),
    interPodAffinity(args.InterPodAffinity),
    dynamicResources,
  ] satisfies (FilterPlugin & ScorePlugin)[]
  return {
    filters: byName<FilterPlugin>([
      ...both,
      nodeUnschedulable,
      nodeName,
      nodePorts,
      nodeDeclaredFeatures,
      volumeRestrictions,
      nodeVolumeLimits,
      volumeBinding,
      volumeZone,
    ]),
    scores: byName<ScorePlugin>([
      ...both,
      balancedAllocation(args.NodeResourcesBalancedAllocation.resources),
      imageLocality,
    ]),
  }
}
