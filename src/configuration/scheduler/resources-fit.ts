/** Arguments of NodeResourcesFit, and the resources that it and NodeResourcesBalancedAllocation weigh. */
import * as z from 'zod/mini'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { forbiddenField, invalidValue, notSupported, path, required } from '../../api/field.ts'
import { labelKeyErrors } from '../../api/label-syntax.ts'
import { list, optional, orElse } from './optional.ts'

export interface WeighedResource {
  readonly name: string
  readonly weight: number
}

export const resources: readonly WeighedResource[] = [
  { name: 'cpu', weight: 1 },
  { name: 'memory', weight: 1 },
]

const resource = z.strictObject({ name: orElse(z.string(), ''), weight: orElse(z.int(), 0) })

/** A weight of 0 is none. */
export const resourcesOrDefault = z.pipe(
  list(resource),
  z.transform((all): readonly WeighedResource[] =>
    all.length === 0 ? resources : all.map(({ name, weight }) => ({ name, weight: weight || 1 })),
  ),
)

const point = z.strictObject({ utilization: orElse(z.int32(), 0), score: orElse(z.int32(), 0) })

export interface ShapePoint {
  /** Percent. */
  readonly utilization: number
  /** 0 to 10. */
  readonly score: number
}

export interface ScoringStrategy {
  readonly type: string
  readonly resources: readonly WeighedResource[]
  readonly requestedToCapacityRatio?: { readonly shape: readonly ShapePoint[] } | undefined
}

const TYPES = ['LeastAllocated', 'MostAllocated', 'RequestedToCapacityRatio']

export const LEAST_ALLOCATED: ScoringStrategy = { type: 'LeastAllocated', resources }

export const fitSchema = z.strictObject({
  ignoredResources: list(z.string()),
  ignoredResourceGroups: list(z.string()),
  scoringStrategy: orElse<ScoringStrategy>(
    z.strictObject({
      type: orElse(z.string(), ''),
      resources: resourcesOrDefault,
      requestedToCapacityRatio: optional(z.strictObject({ shape: list(point) })),
    }),
    LEAST_ALLOCATED,
  ),
})

const within = (value: number, most: number): boolean => value >= 0 && value <= most

export function fitErrors({ ignoredResources, ignoredResourceGroups, scoringStrategy }: z.infer<typeof fitSchema>) {
  const groupErrors = (group: string, at: FieldPath) => [
    ...(group.includes('/') ? [invalidValue(at, group, "resource group name can't contain '/'")] : []),
    ...nameErrors(group, at),
  ]
  return [
    ...ignoredResources.flatMap((name, index) => nameErrors(name, path('ignoredResources').index(index))),
    ...ignoredResourceGroups.flatMap((group, index) => groupErrors(group, path('ignoredResourceGroups').index(index))),
    ...strategyErrors(scoringStrategy, path('scoringStrategy')),
  ]
}

const nameErrors = (name: string, at: FieldPath): FieldError[] =>
  labelKeyErrors(name).map((why) => invalidValue(at, name, why))

function strategyErrors({ type, resources: all, requestedToCapacityRatio: ratio }: ScoringStrategy, at: FieldPath) {
  const errors: FieldError[] = TYPES.includes(type) ? [] : [notSupported(at.child('type'), type, TYPES)]
  for (const [index, { name, weight }] of all.entries())
    if (weight <= 0 || weight > 100) {
      const why = `resource weight of ${name} not in valid range (0, 100]`
      errors.push(invalidValue(at.child('resources').index(index).child('weight'), weight, why))
    }
  const ratioAt = at.child('requestedToCapacityRatio')
  if (type !== 'RequestedToCapacityRatio')
    return ratio === undefined
      ? errors
      : [...errors, forbiddenField(ratioAt, 'must be nil when type is not RequestedToCapacityRatio')]
  return ratio === undefined
    ? [...errors, required(ratioAt, 'must be specified when type is RequestedToCapacityRatio')]
    : [...errors, ...shapeErrors(ratio.shape, ratioAt.child('shape'))]
}

function shapeErrors(shape: readonly ShapePoint[], at: FieldPath): FieldError[] {
  if (shape.length === 0) return [required(at, 'at least one point must be specified')]
  const back = shape.findIndex(({ utilization }, index) => index > 0 && shape[index - 1]!.utilization >= utilization)
  const order = 'values must be sorted in increasing order'
  return [
    ...(back < 0 ? [] : [invalidValue(at.index(back).child('utilization'), shape[back]!.utilization, order)]),
    ...shape.flatMap(({ utilization, score }, index) => [
      ...(within(utilization, 100)
        ? []
        : [invalidValue(at.index(index).child('utilization'), utilization, 'not in valid range [0, 100]')]),
      ...(within(score, 10) ? [] : [invalidValue(at.index(index).child('score'), score, 'not in valid range [0, 10]')]),
    ]),
  ]
}
