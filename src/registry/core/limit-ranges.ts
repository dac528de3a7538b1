import { append } from '../../base/append.ts'
import type { LimitRange, LimitRangeItem } from '../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, forbiddenField, invalidValue, named, path, required } from '../../api/field.ts'
import { ownValue, setOwn } from '../../base/own.ts'
import { repeatsIn } from '../../base/lookup.ts'
import { Quantity } from '../../schema/quantity.ts'
import { validateNamed } from '../../validation/field-rules.ts'
import {
  isHugePages,
  isNative,
  validateContainerResourceName,
  validateResourceName,
} from '../../validation/pod/resources.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { eachName, kept } from '../../base/parts.ts'
import { errorsByName, errorsOf } from '../../validation/errors-of.ts'

const limitsAt = path('spec', 'limits')
const types = ['Pod', 'Container', 'PersistentVolumeClaim']
const notForPods = "may not be specified when `type` is 'Pod'"
/** Below this, kube-apiserver computes ratios in thousandths. */
const MAX_MILLI_VALUE = (2n ** 63n - 1n) / 1000n

export const limitRanges: BuiltInDefinition<LimitRange> = {
  allowCreateOnUpdate: true,
  prepareForCreate({ metadata }) {
    metadata.name ||= crypto.randomUUID()
  },
  validate: limitErrors,
  metadataOnUpdate: 'as new',
  validateUpdate: limitErrors,
}

function limitErrors({ spec }: LimitRange): FieldError[] {
  const limits = spec?.limits ?? []
  const repeats = repeatsIn(limits.map(({ type = '' }) => type))
  return errorsOf(limits, (limit, index) => {
    const at = limitsAt.index(index)
    const { type = '' } = limit
    return [
      ...typeErrors(at.child('type'), type),
      ...(repeats.has(index) ? [duplicate(at.child('type'), named(type))] : []),
      ...itemErrors(at, limit),
    ]
  })
}

function typeErrors(at: FieldPath, type: string): FieldError[] {
  const errors = validateNamed(at, type)
  if (errors.length > 0 || type.includes('/') || types.includes(type)) return errors
  return [invalidValue(at, named(type), 'must be a standard limit type or fully qualified')]
}

type List = Readonly<Record<string, string>>

function itemErrors(at: FieldPath, limit: LimitRangeItem): FieldError[] {
  const { type, min = {}, max = {}, maxLimitRequestRatio = {} } = limit
  const isPod = type === 'Pod'
  const { default: defaults = {}, defaultRequest = {} } = limit
  const errors = [...nameErrors(at.child('max'), type, max), ...nameErrors(at.child('min'), type, min)]
  for (const [field, list] of [
    ['default', defaults],
    ['defaultRequest', defaultRequest],
  ] as const) {
    if (!isPod) append(errors, nameErrors(at.child(field), type, list))
    else if (Object.keys(list).length > 0) errors.push(forbiddenField(at.child(field), notForPods))
  }
  if (type === 'PersistentVolumeClaim' && min.storage === undefined && max.storage === undefined)
    errors.push(
      required(at.child('limits'), 'either minimum or maximum storage value is required, but neither was provided'),
    )
  append(errors, nameErrors(at.child('maxLimitRequestRatio'), type, maxLimitRequestRatio))
  const amounts: Record<string, List> = isPod
    ? { min, max, maxLimitRequestRatio }
    : { min, max, defaults, defaultRequest, maxLimitRequestRatio }
  const all = kept(limit, (): Record<string, true> => ({}))
  for (const list of Object.values(amounts)) eachName(list, Object.keys, (name) => setOwn(all, name, true))
  return [...errors, ...errorsByName(all, (name) => relationErrors(at, name, amountsOf(amounts, name)))]
}

const nameErrors = (at: FieldPath, type: string | undefined, list: List): FieldError[] =>
  errorsByName(list, (name) =>
    type === 'Pod' || type === 'Container'
      ? validateContainerResourceName(at.key(name), name)
      : validateResourceName(at.key(name), name),
  )

interface Amounts {
  readonly min?: Quantity
  readonly max?: Quantity
  readonly defaults?: Quantity
  readonly defaultRequest?: Quantity
  readonly maxLimitRequestRatio?: Quantity
}

const amountsOf = (lists: Readonly<Record<string, List>>, name: string): Amounts =>
  Object.fromEntries(
    Object.entries(lists).flatMap(([field, list]) => {
      const text = ownValue(list, name)
      return text === undefined ? [] : [[field, Quantity.parse(text)]]
    }),
  )

/** Compares the limits of one resource with each other. */
function relationErrors(at: FieldPath, name: string, amounts: Amounts): FieldError[] {
  const { min, max, defaults, defaultRequest, maxLimitRequestRatio: ratio } = amounts
  const errors: FieldError[] = []
  const ordered = (
    field: string,
    [small, smallName]: readonly [Quantity | undefined, string],
    [large, largeName]: readonly [Quantity | undefined, string],
    shown: Quantity | undefined,
  ): void => {
    if (small !== undefined && large !== undefined && small.compare(large) > 0)
      errors.push(
        invalidValue(
          at.child(field).key(name),
          shown,
          `${smallName} value ${small} is greater than ${largeName} value ${large}`,
        ),
      )
  }
  ordered('min', [min, 'min'], [max, 'max'], min)
  ordered('defaultRequest', [min, 'min'], [defaultRequest, 'default request'], defaultRequest)
  ordered('defaultRequest', [defaultRequest, 'default request'], [max, 'max'], defaultRequest)
  ordered('defaultRequest', [defaultRequest, 'default request'], [defaults, 'default limit'], defaultRequest)
  // kube-apiserver prints the minimum here, not the default
  ordered('default', [min, 'min'], [defaults, 'default'], min)
  ordered('default', [defaults, 'default'], [max, 'max'], max)
  const ratioAt = at.child('maxLimitRequestRatio').key(name)
  if (ratio !== undefined) {
    if (ratio.compare(Quantity.of(1)) < 0) errors.push(invalidValue(ratioAt, ratio, `ratio ${ratio} is less than 1`))
    if (min !== undefined && max !== undefined) append(errors, ratioErrors(ratioAt, ratio, min, max))
  }
  const mayDiffer = isNative(name) && !isHugePages(name)
  if (!mayDiffer && defaults !== undefined && defaultRequest !== undefined && !defaults.equals(defaultRequest))
    errors.push(
      invalidValue(
        at.child('defaultRequest').key(name),
        defaultRequest,
        `default value ${defaults} must equal to defaultRequest value ${defaultRequest} in ${name}`,
      ),
    )
  return errors
}

function ratioErrors(at: FieldPath, ratio: Quantity, min: Quantity, max: Quantity): FieldError[] {
  const whole = [ratio, max, min].map((amount) => amount.scaledValue(0))
  const isSmall = whole.every((value) => value < MAX_MILLI_VALUE)
  const [wanted = 0, high = 0, low = 0] = isSmall
    ? [Number(ratio.scaledValue(-3)) / 1000, Number(max.scaledValue(-3)), Number(min.scaledValue(-3))]
    : whole.map(Number)
  const limit = high / low
  if (!(wanted > limit)) return []
  return [invalidValue(at, ratio, `ratio ${ratio} is greater than max/min = ${fixedText(limit)}`)]
}

/** Prints a number as Go's %f does. */
const fixedText = (value: number): string =>
  Number.isFinite(value) ? value.toFixed(6) : Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
