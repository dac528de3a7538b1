/** Which plugins of kube-scheduler run at which extension point: its defaults, and what a profile says beside them. */
import * as z from 'zod/mini'
import { ownValue } from '../../base/own.ts'
import { goQuote } from '../../go/quote.ts'
import { list, orElse } from './optional.ts'

/** In the order in which kube-scheduler goes through them. */
const points = [
  'preFilter',
  'filter',
  'postFilter',
  'reserve',
  'preScore',
  'score',
  'preBind',
  'bind',
  'postBind',
  'permit',
  'preEnqueue',
  'queueSort',
  'placementGenerate',
  'placementScore',
] as const
export type ExtensionPoint = (typeof points)[number]

/** All that are built in, with the points that they are for. */
const builtIn: Readonly<Record<string, readonly ExtensionPoint[]>> = {
  SchedulingGates: ['preEnqueue'],
  PrioritySort: ['queueSort'],
  NodeUnschedulable: ['filter'],
  NodeName: ['filter'],
  TaintToleration: ['filter', 'preScore', 'score'],
  NodeAffinity: ['preFilter', 'filter', 'preScore', 'score'],
  NodePorts: ['preFilter', 'filter'],
  NodeResourcesFit: ['preFilter', 'filter', 'preScore', 'score', 'placementScore'],
  VolumeRestrictions: ['preFilter', 'filter'],
  NodeVolumeLimits: ['preFilter', 'filter'],
  VolumeBinding: ['preFilter', 'filter', 'reserve', 'preScore', 'score', 'preBind'],
  VolumeZone: ['preFilter', 'filter'],
  PodTopologySpread: ['preFilter', 'filter', 'preScore', 'score'],
  InterPodAffinity: ['preFilter', 'filter', 'preScore', 'score'],
  DynamicResources: ['preEnqueue', 'preFilter', 'filter', 'postFilter', 'score', 'reserve', 'preBind'],
  DefaultPreemption: ['preEnqueue', 'postFilter'],
  NodeResourcesBalancedAllocation: ['preScore', 'score'],
  ImageLocality: ['score'],
  DefaultBinder: ['bind'],
  NodeDeclaredFeatures: ['preFilter', 'filter'],
}

/** Of kube-scheduler, for pod groups. */
const absent: ReadonlySet<string> = new Set(['GangScheduling', 'TopologyPlacementGenerator', 'PodGroupPodsCount'])

const defaultWeights: Readonly<Record<string, number>> = {
  TaintToleration: 3,
  NodeAffinity: 2,
  PodTopologySpread: 2,
  InterPodAffinity: 2,
  DynamicResources: 2,
}

interface Plugin {
  readonly name: string
  readonly weight: number
}

interface PluginSet {
  readonly enabled: readonly Plugin[]
  readonly disabled: readonly Plugin[]
}

const plugin = z.strictObject({ name: orElse(z.string(), ''), weight: orElse(z.int32(), 0) })
const pluginSet = orElse(z.strictObject({ enabled: list(plugin), disabled: list(plugin) }), {
  enabled: [],
  disabled: [],
})

export const pluginsSchema = z.strictObject({
  multiPoint: pluginSet,
  preFilter: pluginSet,
  filter: pluginSet,
  postFilter: pluginSet,
  reserve: pluginSet,
  preScore: pluginSet,
  score: pluginSet,
  preBind: pluginSet,
  bind: pluginSet,
  postBind: pluginSet,
  permit: pluginSet,
  preEnqueue: pluginSet,
  queueSort: pluginSet,
  placementGenerate: pluginSet,
  placementScore: pluginSet,
} satisfies Record<ExtensionPoint | 'multiPoint', unknown>)

export type Plugins = z.infer<typeof pluginsSchema>

const defaults: PluginSet = {
  enabled: Object.keys(builtIn).map((name) => ({ name, weight: ownValue(defaultWeights, name) ?? 0 })),
  disabled: [],
}

/** What runs, point by point and in order, and what a score counts for. */
export interface RunningPlugins {
  readonly at: Readonly<Record<ExtensionPoint, readonly string[]>>
  readonly weights: ReadonlyMap<string, number>
}

const nothing: PluginSet = { enabled: [], disabled: [] }

/** @throws Error in kube-scheduler's words, and in ours for what is not built in */
export function pluginsThatRun(profile: string, own: Plugins | undefined): RunningPlugins {
  const multiPoint = own === undefined ? defaults : merged(own.multiPoint)
  const setOf = (point: ExtensionPoint): PluginSet => own?.[point] ?? nothing
  for (const { name } of [multiPoint, ...points.map(setOf)].flatMap(({ enabled }) => enabled))
    if (absent.has(name)) throw new Error(`plugin ${goQuote(name)} is not built in`)
  for (const point of points) checkEnabled(point, setOf(point).enabled)
  const at = Object.fromEntries(
    points.map((point) => [point, expanded(point, setOf(point), multiPoint)]),
  ) as RunningPlugins['at'] // one for each of the points
  if (at.queueSort.length !== 1)
    throw new Error(
      `only one queue sort plugin required for profile with scheduler name ${goQuote(profile)}, but got ${at.queueSort.length}`,
    )
  if (at.bind.length === 0)
    throw new Error(`at least one bind plugin is needed for profile with scheduler name ${goQuote(profile)}`)
  const running = { at, weights: weightsOf([...setOf('score').enabled, ...multiPoint.enabled]) }
  checkTogether(running)
  return running
}

/** The defaults with what a profile says of all points at once: what it names anew keeps its place. */
function merged(own: PluginSet): PluginSet {
  const off = new Set(own.disabled.map(({ name }) => name))
  const named = new Map(own.enabled.map((one) => [one.name, one]))
  const kept = off.has('*') ? [] : defaults.enabled.filter(({ name }) => !off.has(name))
  const replaced = new Set(kept.flatMap(({ name }) => named.get(name) ?? []))
  return {
    enabled: [...kept.map((one) => named.get(one.name) ?? one), ...own.enabled.filter((one) => !replaced.has(one))],
    disabled: own.disabled,
  }
}

/** Its name in kube-scheduler: `ScorePlugin`. */
const typeOf = (point: ExtensionPoint): string => `${point[0]!.toUpperCase()}${point.slice(1)}Plugin`

const isFor = (name: string, point: ExtensionPoint): boolean => ownValue(builtIn, name)?.includes(point) === true // few: the points of one plugin

function checkEnabled(point: ExtensionPoint, enabled: readonly Plugin[]): void {
  const seen = new Set<string>()
  for (const { name } of enabled) {
    if (ownValue(builtIn, name) === undefined) throw new Error(`${typeOf(point)} ${goQuote(name)} does not exist`)
    if (!isFor(name, point)) throw new Error(`plugin ${goQuote(name)} does not extend ${typeOf(point)} plugin`)
    if (seen.has(name)) throw new Error(`plugin ${goQuote(name)} already registered as ${goQuote(typeOf(point))}`)
    seen.add(name)
  }
}

/** First what is named for the point and for all, then what is for all, then what is named for the point alone. */
function expanded(point: ExtensionPoint, own: PluginSet, multiPoint: PluginSet): readonly string[] {
  const enabled = own.enabled.map(({ name }) => name)
  const off = new Set(own.disabled.map(({ name }) => name))
  if (off.has('*')) return enabled
  const named = new Set(enabled)
  const overriding = new Set<string>()
  const everywhere = new Set<string>()
  for (const { name } of multiPoint.enabled) {
    if (ownValue(builtIn, name) === undefined) throw new Error(`${typeOf(point)} ${goQuote(name)} does not exist`)
    if (!isFor(name, point) || off.has(name)) continue
    if (named.has(name)) overriding.add(name)
    else if (everywhere.has(name))
      throw new Error(`plugin ${goQuote(name)} already registered as ${goQuote(typeOf(point))}`)
    else everywhere.add(name)
  }
  return [
    ...enabled.filter((name) => overriding.has(name)),
    ...everywhere,
    ...enabled.filter((name) => !overriding.has(name)),
  ]
}

/** What is said for the point counts before what is said for all. A weight of 0 is none. */
function weightsOf(enabled: readonly Plugin[]): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const { name, weight } of enabled) {
    if (!isFor(name, 'score') || weights.has(name)) continue
    if (weight < 0) throw new Error('score plugins: total score of Score plugins could overflow')
    weights.set(name, weight || 1)
  }
  return weights
}

/** Points of a plugin that belong together, where kube-scheduler would fail or guess at the pods. */
function checkTogether({ at }: RunningPlugins): void {
  // few: the plugins of one point
  if (!at.preEnqueue.includes('SchedulingGates')) throw new Error('to run without "SchedulingGates" is not built in')
  const needs = (name: string, point: ExtensionPoint, other: ExtensionPoint): void => {
    // few: the plugins of one point
    if (at[point].includes(name) && isFor(name, other) && !at[other].includes(name))
      throw new Error(`plugin ${goQuote(name)} at ${point} without ${other} is not built in`)
  }
  for (const name of at.filter) needs(name, 'filter', 'preFilter')
  for (const name of at.score) needs(name, 'score', 'preScore')
  const volumes = ['preFilter', 'filter', 'reserve', 'preBind'] as const
  for (const point of volumes) for (const other of volumes) needs('VolumeBinding', point, other)
  const devices = ['preEnqueue', ...volumes] as const
  for (const point of devices) for (const other of devices) needs('DynamicResources', point, other)
}
