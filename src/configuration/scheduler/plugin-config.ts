/** `pluginConfig` of a profile: the arguments by plugin. */
import * as z from 'zod/mini'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, invalidValue } from '../../api/field.ts'
import { goQuote } from '../../go/quote.ts'
import { readFields, readVersioned } from '../versioned.ts'
import type { PluginArgs, PluginWithArgs } from './args.ts'
import { argsErrors, argsSchemas, defaultArgs, hasArgs } from './args.ts'
import { list, orElse } from './optional.ts'
import type { Plugins } from './plugins.ts'

export const pluginConfigSchema = list(
  z.strictObject({ name: orElse(z.string(), ''), args: orElse(z.looseObject({}), {}) }),
)

type PluginConfig = z.infer<typeof pluginConfigSchema>

const GROUP = 'kubescheduler.config.k8s.io'
const typeMeta = z.looseObject({ apiVersion: orElse(z.string(), `${GROUP}/v1`), kind: orElse(z.string(), '') })

/** Plugins that kube-scheduler had once. */
const removed: ReadonlySet<string> = new Set(['AzureDiskLimits', 'CinderLimits', 'EBSLimits', 'GCEPDLimits'])

/** The first word about a plugin counts; a second one is an error, which is found later. */
export function readPluginArgs(configs: PluginConfig, index: number): PluginArgs {
  const read = new Map<string, unknown>()
  for (const [at, { name, args }] of configs.entries()) {
    if (read.has(name)) continue
    const where = `decoding .profiles[${index}].pluginConfig[${at}]`
    if (hasArgs(name)) read.set(name, argsOf(name, args, where))
    else if (!removed.has(name)) throw new Error(`${where}: plugin ${goQuote(name)} takes no args`)
  }
  return { ...defaultArgs, ...Object.fromEntries(read) }
}

function argsOf(name: PluginWithArgs, raw: Readonly<Record<string, unknown>>, where: string): unknown {
  const type = { group: GROUP, versions: ['v1'], kind: `${name}Args` }
  const { apiVersion, kind: own } = readFields(typeMeta, raw)
  const kind = own || type.kind
  if (kind !== type.kind)
    throw new Error(`${where}: args for plugin ${name} were not of type ${type.kind}.${GROUP}, got ${kind}.${GROUP}`)
  try {
    return readVersioned<unknown>(argsSchemas[name], { ...raw, apiVersion, kind }, type)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    const within = `decoding args for plugin ${name}: ${why}`
    const strict = 'strict decoding error'
    throw new Error(why.startsWith(strict) ? `${strict}: ${where}: ${strict}: ${within}` : `${where}: ${within}`, {
      cause: error,
    })
  }
}

export function pluginConfigErrors(
  { plugins, pluginConfig }: { readonly plugins: Plugins | undefined; readonly pluginConfig: PluginConfig },
  args: PluginArgs,
  at: FieldPath,
): FieldError[] {
  const seen = new Set<string>()
  const ofArgs = pluginConfig.flatMap(({ name }, index): readonly FieldError[] => {
    const own = at.child('pluginConfig').index(index)
    if (seen.has(name)) return [duplicate(own, name)]
    seen.add(name)
    if (removed.has(name)) return [removedError(own, name)]
    return hasArgs(name) ? argsErrors(name, args[name], own.child('args')) : []
  })
  const ofPlugins = Object.entries(plugins ?? {}).flatMap(([point, { enabled }]) =>
    enabled.flatMap(({ name }, index) =>
      point !== 'multiPoint' && removed.has(name)
        ? [removedError(at.child('plugins', point, 'enabled').index(index), name)]
        : [],
    ),
  )
  return [...ofPlugins, ...ofArgs]
}

const removedError = (at: FieldPath, name: string): FieldError =>
  invalidValue(at, name, `was invalid in version "v1" (KubeSchedulerConfiguration is version "${GROUP}/v1")`)
