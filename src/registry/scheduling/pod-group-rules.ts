/**
 * The rules that PodGroups share with the PodGroup templates in Workloads. kube-apiserver declares all of them in the
 * types.
 */
import type {
  PodGroupResourceClaim,
  PodGroupSchedulingPolicy,
  PodGroupTemplate,
  TopologyConstraint,
} from '../../api/scheduling/v1alpha2.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, invalidValue, notSupported, required, tooMany } from '../../api/field.ts'
import { ownValue } from '../../base/own.ts'
import { repeatsIn } from '../../base/lookup.ts'
import { longName, optionalFormat, requiredFormat, shortName } from '../../validation/declared-formats.ts'
import { qualifiedNameProblems } from '../../validation/names.ts'
import { FIELD_IS_IMMUTABLE } from '../../validation/object-meta.ts'
import { sameValue } from '../../validation/same-value.ts'
import { writtenJson } from '../../validation/written-json.ts'
import { errorsOf } from '../../validation/errors-of.ts'
import type { StrategyContext } from '../strategy.ts'
import { makesClaimsHere, schedulesHere } from '../unserved-work.ts'

export const MODELS = 'io.k8s.api.scheduling.v1alpha2.'
export const MAX_CLAIMS = 4
const MAX_TOPOLOGIES = 1
const MODES = ['Pod', 'PodGroup']
/** Higher priorities belong to the system's classes. */
const HIGHEST_PRIORITY = 1_000_000_000

/** The spec of a group has all fields of a template except the name. */
export function templateErrors(template: Omit<PodGroupTemplate, 'name'>, at: FieldPath): FieldError[] {
  const { schedulingPolicy = {}, resourceClaims, disruptionMode, priorityClassName, priority } = template
  // storage keeps an absent value as null
  const topology = template.schedulingConstraints?.topology ?? []
  const topologyAt = at.child('schedulingConstraints', 'topology')
  const modeAt = at.child('disruptionMode')
  const priorityAt = at.child('priority')
  return [
    ...policyErrors(schedulingPolicy, at.child('schedulingPolicy')),
    ...(topology.length > MAX_TOPOLOGIES
      ? [tooManyOf(topologyAt, topology, MAX_TOPOLOGIES)]
      : errorsOf(topology, (constraint, index) => topologyErrors(constraint, topologyAt.index(index)))),
    ...uniqueErrors(resourceClaims ?? [], 'PodGroupResourceClaim', at.child('resourceClaims'), claimErrors),
    ...(disruptionMode === undefined || MODES.includes(disruptionMode)
      ? []
      : [notSupported(modeAt, disruptionMode, MODES)]),
    ...optionalFormat(at.child('priorityClassName'), priorityClassName || undefined, longName),
    ...(priority !== undefined && priority > HIGHEST_PRIORITY
      ? [invalidValue(priorityAt, priority, `must be less than or equal to ${HIGHEST_PRIORITY}`)]
      : []),
  ]
}

/** Tells of what the scheduler and the controllers of this server do not heed, where they run. */
export function templateWarnings(
  { schedulingPolicy, schedulingConstraints, resourceClaims, disruptionMode }: Omit<PodGroupTemplate, 'name'>,
  at: FieldPath,
  context: StrategyContext,
): string[] {
  const places = schedulesHere(context)
  const unheeded = (isSet: boolean, field: FieldPath, who: string, does: string): string[] =>
    isSet ? [`${field.toString()}: has no effect, as ${who} of this server ${does} each pod of a group by itself`] : []
  const gang = at.child('schedulingPolicy', 'gang')
  const topology = at.child('schedulingConstraints', 'topology')
  const hasTopology = (schedulingConstraints?.topology ?? []).length > 0
  const hasClaims = (resourceClaims ?? []).length > 0
  return [
    ...unheeded(places && Boolean(schedulingPolicy?.gang), gang, 'the scheduler', 'places'),
    ...unheeded(places && hasTopology, topology, 'the scheduler', 'places'),
    ...unheeded(
      hasClaims && (places || makesClaimsHere(context)),
      at.child('resourceClaims'),
      'the controllers',
      'make and reserve claims for',
    ),
    ...unheeded(places && disruptionMode === 'PodGroup', at.child('disruptionMode'), 'the scheduler', 'preempts'),
  ]
}

function policyErrors({ basic, gang }: PodGroupSchedulingPolicy, at: FieldPath): FieldError[] {
  const minCountAt = at.child('gang', 'minCount')
  const { minCount = 0 } = gang ?? {}
  return [
    ...oneOf({ basic, gang }, at),
    ...(gang === undefined
      ? []
      : minCount === 0
        ? [required(minCountAt)]
        : minCount < 0
          ? [invalidValue(minCountAt, minCount, 'must be greater than or equal to 1')]
          : []),
  ]
}

/** Exactly one member of a union must be set. */
export function oneOf(members: Readonly<Record<string, unknown>>, at: FieldPath): FieldError[] {
  const names = Object.keys(members)
  const given = names.filter((name) => ownValue(members, name) !== undefined && ownValue(members, name) !== null)
  const all = names.map((name) => `\`${name}\``).join(', ')
  if (given.length === 0) return [invalidValue(at, '', `must specify one of: ${all}`)]
  if (given.length === 1) return []
  return [invalidValue(at, `{${given.join(', ')}}`, `must specify exactly one of: ${all}`)]
}

const topologyErrors = ({ key }: TopologyConstraint, at: FieldPath): FieldError[] =>
  requiredFormat(at.child('key'), key, labelKey)

/** The rule for label keys. The message says label key in place of qualified name. */
const labelKey = (key: string): readonly string[] =>
  qualifiedNameProblems(key).map((text) => text.replace(/^a qualified name must/, 'a valid label key must'))

const claimErrors = (claim: PodGroupResourceClaim, at: FieldPath): FieldError[] => [
  ...oneOf(
    { resourceClaimName: claim.resourceClaimName, resourceClaimTemplateName: claim.resourceClaimTemplateName },
    at,
  ),
  ...requiredFormat(at.child('name'), claim.name, shortName),
  ...optionalFormat(at.child('resourceClaimName'), claim.resourceClaimName, longName),
  ...optionalFormat(at.child('resourceClaimTemplateName'), claim.resourceClaimTemplateName, longName),
]

/** Checks that the elements have unique names. @param max default: the number of claims that a pod may have */
export function uniqueErrors<T extends { readonly name?: string }>(
  list: readonly T[],
  model: string,
  at: FieldPath,
  rule: (element: T, at: FieldPath) => FieldError[],
  max = MAX_CLAIMS,
): FieldError[] {
  if (list.length > max) return [tooManyOf(at, list, max)]
  const repeats = repeatsIn(list.map(({ name = '' }) => name))
  return [
    ...errorsOf(list, (element, index) => rule(element, at.index(index))),
    ...errorsOf(list, (element, index) =>
      repeats.has(index) ? [duplicate(at.index(index), writtenJson(`${MODELS}${model}`, element))] : [],
    ),
  ]
}

const tooManyOf = (at: FieldPath, { length }: readonly unknown[], max: number): FieldError => {
  const error = tooMany(at, length, max)
  return max === 1 ? { ...error, message: error.message.replace(/items$/, 'item') } : error
}

/** @param model name of the type in scheduling.k8s.io/v1alpha2 */
export function unchangedErrors<T extends object>(
  model: string,
  value: T | undefined,
  old: T | undefined,
  at: FieldPath,
): FieldError[] {
  const same = value === undefined || old === undefined ? value === old : sameValue(`${MODELS}${model}`, value, old)
  return same ? [] : [changed(at)]
}

export const changed = (at: FieldPath): FieldError => invalidValue(at, null, FIELD_IS_IMMUTABLE)

/** If any element changed, returns one error for the whole list. */
export function unchangedListErrors<T extends object>(
  model: string,
  list: readonly T[],
  old: readonly T[],
  at: FieldPath,
): FieldError[] {
  const isSame =
    list.length === old.length && list.every((element, index) => sameValue(`${MODELS}${model}`, element, old[index]))
  return isSame ? [] : [changed(at)]
}
