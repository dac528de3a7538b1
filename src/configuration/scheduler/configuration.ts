/**
 * How the scheduler is set up: the KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1) that kube-scheduler's
 * --config names. The texts are kube-scheduler's; what it knows and is not built in is refused in ours.
 */
import * as z from 'zod/mini'
import type { FieldError } from '../../api/field.ts'
import { duplicate, invalidValue, messageOf, path, required } from '../../api/field.ts'
import { readVersioned } from '../versioned.ts'
import type { PluginArgs } from './args.ts'
import { checkArgs, defaultArgs, lateErrors } from './args.ts'
import { checkExternals, extenderErrors, externals, parallelismErrors } from './externals.ts'
import { list, optional, orElse } from './optional.ts'
import { pluginConfigErrors, pluginConfigSchema, readPluginArgs } from './plugin-config.ts'
import type { RunningPlugins } from './plugins.ts'
import { pluginsSchema, pluginsThatRun } from './plugins.ts'
import { queueSortErrors } from './queue-sort.ts'

export interface SchedulerProfile extends RunningPlugins {
  readonly schedulerName: string
  /** How many of the nodes are looked for places for a pod, in percent; 0: all. */
  readonly percentageOfNodes: number
  readonly args: PluginArgs
}

export interface SchedulerSetting {
  readonly profiles: readonly SchedulerProfile[]
  /** Seconds between tries of a binding that was refused: first, and at most. */
  readonly backoffSeconds: { readonly first: number; readonly last: number }
}

const DEFAULT_SCHEDULER = 'default-scheduler'

/** Without a configuration. */
export const defaultScheduler: SchedulerSetting = {
  profiles: [
    {
      schedulerName: DEFAULT_SCHEDULER,
      percentageOfNodes: 0,
      args: defaultArgs,
      ...pluginsThatRun(DEFAULT_SCHEDULER, undefined),
    },
  ],
  backoffSeconds: { first: 1, last: 10 },
}

const profile = z.strictObject({
  schedulerName: optional(z.string()),
  percentageOfNodesToScore: optional(z.int32()),
  plugins: optional(pluginsSchema),
  pluginConfig: pluginConfigSchema,
})

const configuration = z.strictObject({
  ...externals,
  percentageOfNodesToScore: orElse(z.int32(), 0),
  podInitialBackoffSeconds: orElse(z.int(), 1),
  podMaxBackoffSeconds: orElse(z.int(), 10),
  profiles: list(profile),
})

export type ProfileConfiguration = z.infer<typeof profile>

const TYPE = { group: 'kubescheduler.config.k8s.io', versions: ['v1'], kind: 'KubeSchedulerConfiguration' }

/** @param json a KubeSchedulerConfiguration @throws Error */
export function readSchedulerConfiguration(json: string): SchedulerSetting {
  const read = readVersioned(configuration, parsed(json), TYPE)
  const { percentageOfNodesToScore: share, podInitialBackoffSeconds: first, podMaxBackoffSeconds: last } = read
  const profiles = withNames(read.profiles)
  const args = profiles.map(({ pluginConfig }, index) => readPluginArgs(pluginConfig, index))
  const errors = [
    ...parallelismErrors(read),
    ...profileErrors(profiles, args),
    ...percentageErrors(share, []),
    ...backoffErrors(first, last),
    ...extenderErrors(read),
  ]
  if (errors.length > 0) throw new Error(messageOf(errors))
  const setting = {
    profiles: profiles.map((one, index) => made(one, args[index]!, share)),
    backoffSeconds: { first, last },
  }
  checkExternals(read)
  return setting
}

/** The parser's own words would show what stands there. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw new Error('it is not JSON')
  }
}

/** A profile that is alone needs no name. */
function withNames(profiles: readonly ProfileConfiguration[]): readonly ProfileConfiguration[] {
  const [
    first = { schedulerName: undefined, percentageOfNodesToScore: undefined, plugins: undefined, pluginConfig: [] },
  ] = profiles
  return profiles.length > 1 ? profiles : [{ ...first, schedulerName: first.schedulerName ?? DEFAULT_SCHEDULER }]
}

function profileErrors(profiles: readonly ProfileConfiguration[], args: readonly PluginArgs[]): FieldError[] {
  const seen = new Set<string>()
  const errors = profiles.flatMap(({ schedulerName = '', ...own }, index) => {
    const at = path('profiles').index(index)
    const found = [
      ...(schedulerName === '' ? [required(at.child('schedulerName'))] : []),
      ...percentageErrors(own.percentageOfNodesToScore ?? 0, ['profiles', index]),
      ...pluginConfigErrors(own, args[index]!, at),
      // kube-scheduler means to name the other one, and prints a path as an object
      ...(seen.has(schedulerName) ? [duplicate(at.child('schedulerName'), {})] : []),
    ]
    seen.add(schedulerName)
    return found
  })
  return [...errors, ...queueSortErrors(profiles)]
}

function percentageErrors(share: number, [field, index]: readonly [] | readonly [string, number]): FieldError[] {
  const name = 'percentageOfNodesToScore'
  const at = field === undefined ? path(name) : path(field).index(index!).child(name)
  return share < 0 || share > 100 ? [invalidValue(at, share, 'not in valid range [0-100]')] : []
}

function backoffErrors(first: number, last: number): FieldError[] {
  const errors: FieldError[] = []
  if (first <= 0) errors.push(invalidValue(path('podInitialBackoffSeconds'), first, 'must be greater than 0'))
  if (last < first) {
    const why = 'must be greater than or equal to PodInitialBackoffSeconds'
    errors.push(invalidValue(path('podMaxBackoffSeconds'), last, why))
  }
  return errors
}

function made(own: ProfileConfiguration, args: PluginArgs, share: number): SchedulerProfile {
  const { schedulerName = '', percentageOfNodesToScore: percentageOfNodes = share } = own
  try {
    const late = lateErrors(args)
    if (late.length > 0) throw new Error(`initializing plugin "NodeResourcesFit": ${messageOf(late)}`)
    checkArgs(args)
    return { schedulerName, percentageOfNodes, args, ...pluginsThatRun(schedulerName, own.plugins) }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`initializing profiles: creating profile for scheduler name ${schedulerName}: ${why}`, {
      cause: error,
    })
  }
}
