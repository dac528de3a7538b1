/** What a profile says to single plugins (kubescheduler.config.k8s.io/v1, NAMEArgs). The texts are kube-scheduler's. */
import * as z from 'zod/mini'
import { append } from '../../base/append.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, forbiddenField, invalidValue, notSupported, required } from '../../api/field.ts'
import { labelKeyErrors } from '../../api/label-syntax.ts'
import { affinitySchema, affinityErrors } from './added-affinity.ts'
import { list, optional, orElse } from './optional.ts'
import { fitErrors, fitSchema, LEAST_ALLOCATED, resources, resourcesOrDefault } from './resources-fit.ts'

const constraint = z.strictObject({
  maxSkew: orElse(z.int32(), 0),
  topologyKey: orElse(z.string(), ''),
  whenUnsatisfiable: orElse(z.string(), ''),
  labelSelector: optional(z.looseObject({})),
  minDomains: optional(z.int32()),
  nodeAffinityPolicy: optional(z.string()),
  nodeTaintsPolicy: optional(z.string()),
  matchLabelKeys: list(z.string()),
})

const DEFAULTING = ['System', 'List']
const ACTIONS = ['DoNotSchedule', 'ScheduleAnyway']

/** By plugin. What is left out gets kube-scheduler's default. */
export const argsSchemas = {
  DefaultPreemption: z.strictObject({
    minCandidateNodesPercentage: orElse(z.int32(), 10),
    minCandidateNodesAbsolute: orElse(z.int32(), 100),
  }),
  DynamicResources: z.strictObject({ filterTimeout: optional(z.string()), bindingTimeout: optional(z.string()) }),
  InterPodAffinity: z.strictObject({
    hardPodAffinityWeight: orElse(z.int32(), 1),
    ignorePreferredTermsOfExistingPods: orElse(z.boolean(), false),
  }),
  NodeAffinity: z.strictObject({ addedAffinity: optional(affinitySchema) }),
  NodeResourcesBalancedAllocation: z.strictObject({ resources: resourcesOrDefault }),
  NodeResourcesFit: fitSchema,
  PodTopologySpread: z.strictObject({
    defaultConstraints: list(constraint),
    defaultingType: z.pipe(
      optional(z.string()),
      z.transform((type) => type || 'System'),
    ),
  }),
  VolumeBinding: z.strictObject({
    bindTimeoutSeconds: orElse(z.int(), 600),
    shape: optional(z.array(z.strictObject({ utilization: orElse(z.int32(), 0), score: orElse(z.int32(), 0) }))),
  }),
} as const

export type PluginWithArgs = keyof typeof argsSchemas
export type PluginArgs = { readonly [Name in PluginWithArgs]: z.infer<(typeof argsSchemas)[Name]> }

export const hasArgs = (name: string): name is PluginWithArgs => Object.hasOwn(argsSchemas, name)

export const defaultArgs: PluginArgs = {
  DefaultPreemption: { minCandidateNodesPercentage: 10, minCandidateNodesAbsolute: 100 },
  DynamicResources: { filterTimeout: undefined, bindingTimeout: undefined },
  InterPodAffinity: { hardPodAffinityWeight: 1, ignorePreferredTermsOfExistingPods: false },
  NodeAffinity: { addedAffinity: undefined },
  NodeResourcesBalancedAllocation: { resources },
  NodeResourcesFit: { ignoredResources: [], ignoredResourceGroups: [], scoringStrategy: LEAST_ALLOCATED },
  PodTopologySpread: { defaultConstraints: [], defaultingType: 'System' },
  VolumeBinding: { bindTimeoutSeconds: 600, shape: undefined },
}

type Validate<Args> = (args: Args, at: FieldPath) => readonly FieldError[]

const validators: { readonly [Name in PluginWithArgs]?: Validate<PluginArgs[Name]> } = {
  DefaultPreemption: preemptionErrors,
  InterPodAffinity: ({ hardPodAffinityWeight: weight }, at) =>
    weight < 0 || weight > 100
      ? [invalidValue(at.child('hardPodAffinityWeight'), weight, 'not in valid range [0, 100]')]
      : [],
  NodeAffinity: ({ addedAffinity }, at) => affinityErrors(addedAffinity ?? {}, at.child('addedAffinity')),
  NodeResourcesBalancedAllocation: balanceErrors,
  PodTopologySpread: spreadErrors,
  VolumeBinding: volumeErrors,
}

export function argsErrors<Name extends PluginWithArgs>(
  name: Name,
  args: PluginArgs[Name],
  at: FieldPath,
): readonly FieldError[] {
  return validators[name]?.(args, at) ?? []
}

/** Of what kube-scheduler looks at when it makes the plugins. */
export const lateErrors = ({ NodeResourcesFit }: PluginArgs): readonly FieldError[] => fitErrors(NodeResourcesFit)

/** @throws Error for what cannot be honoured */
export function checkArgs({ DynamicResources: devices, VolumeBinding: { bindTimeoutSeconds } }: PluginArgs): void {
  if ((devices.filterTimeout ?? devices.bindingTimeout) !== undefined)
    throw new Error('args for plugin DynamicResources: filterTimeout and bindingTimeout are not built in')
  if (bindTimeoutSeconds !== defaultArgs.VolumeBinding.bindTimeoutSeconds)
    throw new Error('args for plugin VolumeBinding: bindTimeoutSeconds is not built in, a pod waits for its volumes')
}

function preemptionErrors(
  { minCandidateNodesPercentage: share, minCandidateNodesAbsolute: least }: PluginArgs['DefaultPreemption'],
  at: FieldPath,
): FieldError[] {
  const [shareAt, leastAt] = [at.child('minCandidateNodesPercentage'), at.child('minCandidateNodesAbsolute')]
  const errors: FieldError[] = []
  if (share < 0 || share > 100) errors.push(invalidValue(shareAt, share, 'not in valid range [0, 100]'))
  if (least < 0) errors.push(invalidValue(leastAt, least, 'not in valid range [0, inf)'))
  const both = (other: string) => `cannot be zero at the same time as ${other}`
  if (share === 0 && least === 0)
    errors.push(
      invalidValue(shareAt, share, both('minCandidateNodesAbsolute')),
      invalidValue(leastAt, least, both('minCandidateNodesPercentage')),
    )
  return errors
}

function balanceErrors({ resources: all }: PluginArgs['NodeResourcesBalancedAllocation'], at: FieldPath): FieldError[] {
  const seen = new Set<string>()
  return all.flatMap(({ name, weight }, index) => {
    const own = at.child('resources').index(index)
    const errors = [
      ...(seen.has(name) ? [duplicate(own.child('name'), name)] : []),
      ...(weight === 1 ? [] : [invalidValue(own.child('weight'), weight, 'must be 1')]),
    ]
    seen.add(name)
    return errors
  })
}

function spreadErrors(
  { defaultConstraints, defaultingType }: PluginArgs['PodTopologySpread'],
  at: FieldPath,
): FieldError[] {
  const typeAt = at.child('defaultingType')
  const seen = new Set<string>()
  const errors: FieldError[] = []
  if (!DEFAULTING.includes(defaultingType)) errors.push(notSupported(typeAt, defaultingType, DEFAULTING))
  else if (defaultingType === 'System' && defaultConstraints.length > 0)
    errors.push(invalidValue(typeAt, defaultingType, 'when .defaultConstraints are not empty'))
  for (const [index, one] of defaultConstraints.entries()) {
    const own = at.child('defaultConstraints').index(index)
    append(errors, constraintErrors(one, own))
    const pair = `{${one.topologyKey}, ${one.whenUnsatisfiable}}`
    if (seen.has(pair)) errors.push(duplicate(own, pair))
    seen.add(pair)
  }
  return errors
}

function constraintErrors(
  { maxSkew, topologyKey: key, whenUnsatisfiable: action, labelSelector }: z.infer<typeof constraint>,
  at: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  if (maxSkew <= 0) errors.push(invalidValue(at.child('maxSkew'), maxSkew, 'not in valid range (0, inf)'))
  if (key === '') errors.push(required(at.child('topologyKey'), 'can not be empty'))
  else for (const why of labelKeyErrors(key)) errors.push(invalidValue(at.child('topologyKey'), key, why))
  if (action === '') errors.push(required(at.child('whenUnsatisfiable'), 'can not be empty'))
  else if (!ACTIONS.includes(action)) errors.push(notSupported(at.child('whenUnsatisfiable'), action, ACTIONS))
  if (labelSelector !== undefined)
    errors.push(
      forbiddenField(at.child('labelSelector'), 'constraint must not define a selector, as they deduced for each pod'),
    )
  return errors
}

function volumeErrors(
  { bindTimeoutSeconds: seconds, shape }: PluginArgs['VolumeBinding'],
  at: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  if (seconds < 0)
    errors.push(
      invalidValue(
        at.child('bindTimeoutSeconds'),
        seconds,
        'invalid BindTimeoutSeconds, should not be a negative value',
      ),
    )
  if (shape !== undefined) {
    const shown = shape.map(({ utilization, score }) => ({ Utilization: utilization, Score: score }))
    const why = 'unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring'
    errors.push(invalidValue(at.child('shape'), shown, why))
  }
  return errors
}
