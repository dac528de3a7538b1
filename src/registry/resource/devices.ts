/** Validates devices in the form in which drivers publish them. */
import { append } from '../../base/append.ts'
import type {
  CapacityRequestPolicy,
  CapacityRequestPolicyRange,
  Counter,
  Device,
  DeviceAttribute,
  DeviceCapacity,
  DeviceCounterConsumption,
  DeviceTaint,
  NodeAllocatableResourceMapping,
} from '../../api/resource/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { forbiddenField, invalidValue, notFoundField, notSupported, required, tooLong } from '../../api/field.ts'
import { Quantity } from '../../schema/quantity.ts'
import { problems, validateLabelText, validateQualifiedName, validateSubdomain } from '../../validation/field-rules.ts'
import { labelValueProblems } from '../../validation/names.ts'
import { byteLength } from '../../base/utf8.ts'
import { isNative } from '../../validation/pod/resources.ts'
import { sentField } from '../../schema/emptied.ts'
import { sameValue } from '../../validation/same-value.ts'
import { validateNodeSelector } from '../../validation/pod/scheduling.ts'
import { bindingConditionErrors } from './binding-conditions.ts'
import { DEVICE_EFFECTS } from './device-claim.ts'
import { listErrors, mapErrors, qualifiedNameErrors, setErrors } from './names.ts'
import { isEmpty, ownValue } from '../../base/own.ts'
import { kept, mapNames } from '../../base/parts.ts'
import { errorsOf } from '../../validation/errors-of.ts'

const MAX_PROPERTIES = 32
const MAX_ATTRIBUTE_VALUES = 48
const MAX_PROPERTY_NAME = 63 + 1 + 32
const MAX_VALUE_BYTES = 64
const MAX_TAINTS = 16
const MAX_CONSUMPTIONS = 2
const MAX_COUNTERS = 32
const MAX_OPTIONS = 10
export const LABEL_LENGTH = 63

export function deviceErrors(
  device: Device,
  old: Device | undefined,
  at: FieldPath,
  choosesNodes: boolean,
): FieldError[] {
  const { name = '', attributes = {}, capacity = {}, taints, consumesCounters } = device
  const counts = mapNames(attributes, Object.keys, (name) => valueCount(ownValue(attributes, name)!))
  const properties = counts.length + mapNames(capacity, Object.keys, () => 1).length
  const values = kept(counts, () => counts.reduce((sum, count) => sum + count, 0))
  const tooManyOf = (what: string, count: number, max: number) =>
    count > max ? [invalidValue(at, count, `the total number of ${what} must not exceed ${max}`)] : []
  const capacityRule = device.allowMultipleAllocations === true ? sharedCapacityErrors : exclusiveCapacityErrors
  const map = <T>(of: Readonly<Record<string, T>>, here: FieldPath, rule: (item: T, at: FieldPath) => FieldError[]) =>
    mapErrors(of, Infinity, MAX_PROPERTY_NAME, here, qualifiedNameErrors, rule)
  return [
    ...validateLabelText(at.child('name'), name),
    ...tooManyOf('attributes and capacities', properties, MAX_PROPERTIES),
    ...tooManyOf('attribute values', values, MAX_ATTRIBUTE_VALUES),
    ...map(attributes, at.child('attributes'), attributeErrors),
    ...map(capacity, at.child('capacity'), capacityRule),
    ...(old !== undefined &&
    sameValue('io.k8s.api.resource.v1.Device', { taints: old.taints ?? [] }, { taints: taints ?? [] })
      ? []
      : listErrors(taints, MAX_TAINTS, at.child('taints'), (taint, here) => taintErrors(taint, here))),
    ...setErrors(
      consumesCounters,
      MAX_CONSUMPTIONS,
      at.child('consumesCounters'),
      consumptionErrors,
      ({ counterSet = '' }) => counterSet,
    ),
    ...nodeErrors(device, at, choosesNodes),
    ...bindingConditionErrors(device, at),
    ...mapErrors(
      device.nodeAllocatableResourceMappings,
      Infinity,
      Infinity,
      at.child('nodeAllocatableResourceMappings'),
      (resource, here) =>
        isNative(resource)
          ? []
          : [invalidValue(here.key(resource), resource, 'must be a node allocatable resource name')],
      (mapping, here) => mappingErrors(mapping, here, capacity),
    ),
  ]
}

const listFields = ['ints', 'bools', 'strings', 'versions'] as const
const attributeFields = ['int', 'bool', 'string', 'version', ...listFields] as const

function valueCount(attribute: DeviceAttribute): number {
  const inLists = listFields.reduce((sum, field) => sum + (attribute[field]?.length ?? 0), 0)
  return inLists === 0 ? 1 : inLists
}

function attributeErrors(attribute: DeviceAttribute, at: FieldPath): FieldError[] {
  const { string, version, strings = [], versions = [] } = attribute
  const errors: FieldError[] = []
  if (string !== undefined) append(errors, textErrors(string, at.child('string')))
  if (version !== undefined) append(errors, versionErrors(version, at.child('version')))
  for (const field of ['bools', 'ints', 'strings', 'versions'] as const)
    if (sentField(attribute, field)?.length === 0)
      errors.push(invalidValue(at.child(field), [], 'must not be empty if specified'))
  append(
    errors,
    errorsOf(strings, (item, index) => textErrors(item, at.child('strings').index(index))),
  )
  append(
    errors,
    errorsOf(versions, (item, index) => versionErrors(item, at.child('versions').index(index))),
  )
  const given = attributeFields.filter((field) => sentField(attribute, field) !== undefined)
  const ONE = 'exactly one value must be specified'
  if (given.length === 0) errors.push(invalidValue(at, '', ONE))
  else if (given.length > 1) errors.push(invalidValue(at, shownAttribute(attribute), ONE))
  return errors
}

/** kube-apiserver prints the field names of its internal type: `int` is IntValue, `ints` IntValues. */
const shownAttribute = (attribute: DeviceAttribute) =>
  Object.fromEntries(
    attributeFields.map((field) => {
      const type = field.replace(/s$/, '')
      const plural = field.endsWith('s') ? 's' : ''
      return [`${type.charAt(0).toUpperCase()}${type.slice(1)}Value${plural}`, sentField(attribute, field) ?? null]
    }),
  )

const textErrors = (text: string, at: FieldPath): FieldError[] =>
  byteLength(text) > MAX_VALUE_BYTES ? [tooLong(at, MAX_VALUE_BYTES)] : []

const NUMBER = '(0|[1-9][0-9]*)'
const PRERELEASE = '(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)'
const BUILD = '[0-9a-zA-Z-]+'
const semanticVersion = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(-${PRERELEASE}(\\.${PRERELEASE})*)?(\\+${BUILD}(\\.${BUILD})*)?$`,
)

const versionErrors = (text: string, at: FieldPath): FieldError[] => [
  ...problems(at, text, semanticVersion.test(text) ? [] : ['must be a string compatible with semver.org spec 2.0.0']),
  ...textErrors(text, at),
]

const exclusiveCapacityErrors = ({ requestPolicy }: DeviceCapacity, at: FieldPath): FieldError[] =>
  requestPolicy === undefined
    ? []
    : [forbiddenField(at.child('requestPolicy'), 'allowMultipleAllocations must be true')]

function sharedCapacityErrors({ value, requestPolicy }: DeviceCapacity, at: FieldPath): FieldError[] {
  if (requestPolicy === undefined) return []
  return policyErrors(requestPolicy, Quantity.parse(value ?? '0'), at.child('requestPolicy'))
}

function policyErrors(policy: CapacityRequestPolicy, capacity: Quantity, at: FieldPath): FieldError[] {
  const { validValues = [], validRange } = policy
  const byDefault = policy.default === undefined ? undefined : Quantity.parse(policy.default)
  if (validValues.length > 0 && validRange !== undefined)
    return [
      forbiddenField(
        at,
        'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time',
      ),
    ]
  const noDefault = (of: string) => [required(at.child('default'), `required when ${of} is defined`)]
  if (validValues.length > 0)
    return byDefault === undefined
      ? noDefault('validValues')
      : optionErrors(validValues.map(Quantity.parse), byDefault, capacity, at.child('validValues'))
  if (validRange === undefined) return []
  return byDefault === undefined
    ? noDefault('validRange')
    : rangeErrors(validRange, byDefault, capacity, at.child('validRange'))
}

function optionErrors(
  options: readonly Quantity[],
  byDefault: Quantity,
  capacity: Quantity,
  at: FieldPath,
): FieldError[] {
  const unsorted = errorsOf(options, (option, index) =>
    index > 0 && options[index - 1]!.compare(option) > 0
      ? [invalidValue(at.index(index), option.toString(), 'values must be sorted in ascending order')]
      : [],
  )
  const tooLarge = (option: Quantity, here: FieldPath) =>
    option.compare(capacity) > 0
      ? [invalidValue(here, option.toString(), `option is larger than capacity value: ${capacity}`)]
      : []
  const isOption = options.length <= MAX_OPTIONS && options.some((option) => option.equals(byDefault))
  return [
    ...unsorted,
    ...setErrors(options, MAX_OPTIONS, at, tooLarge, (option) => option.scaledValue(0).toString()),
    ...(isOption
      ? []
      : [invalidValue(at, byDefault.toString(), 'default value is not valid according to the requestPolicy')]),
  ]
}

function rangeErrors(
  range: CapacityRequestPolicyRange,
  byDefault: Quantity,
  capacity: Quantity,
  at: FieldPath,
): FieldError[] {
  if (range.min === undefined) return [required(at.child('min'), 'required when validRange is defined')]
  const min = Quantity.parse(range.min)
  const max = range.max === undefined ? undefined : Quantity.parse(range.max)
  const step = range.step === undefined ? undefined : Quantity.parse(range.step)
  const errors: FieldError[] = []
  const add = (field: keyof CapacityRequestPolicyRange, value: Quantity, why: string) =>
    errors.push(invalidValue(at.child(field), value.toString(), why))
  if (min.compare(capacity) > 0) add('min', min, `min is larger than capacity value: ${capacity}`)
  if (byDefault.compare(min) < 0) add('min', byDefault, `default is less than min: ${min}`)
  if (max !== undefined) {
    if (min.compare(max) > 0) add('max', min, `min is larger than max: ${max}`)
    if (max.compare(capacity) > 0) add('max', max, `max is larger than capacity value: ${capacity}`)
    if (byDefault.compare(max) > 0) add('max', byDefault, `default is more than max: ${max}`)
  }
  if (step !== undefined) {
    const next = min.add(step)
    if (next.compare(capacity) > 0) add('step', step, `one step ${next} is larger than capacity value: ${capacity}`)
    const size = step.scaledValue(0)
    for (const value of max === undefined ? [byDefault] : [byDefault, max])
      if (size !== 0n && (value.scaledValue(0) - min.scaledValue(0)) % size !== 0n)
        add('step', value, `value is not a multiple of a given step (${step}) from (${min})`)
  }
  return errors
}

/** @param old the stored taint of a rule, which may keep its effect */
export const taintErrors = (
  { key = '', value = '', effect = '' }: DeviceTaint,
  at: FieldPath,
  old?: DeviceTaint,
): FieldError[] => [
  ...validateQualifiedName(at.child('key'), key),
  ...(value === '' ? [] : problems(at.child('value'), value, labelValueProblems(value))),
  ...(old !== undefined && (old.effect ?? '') === effect
    ? []
    : effect === ''
      ? [required(at.child('effect'))]
      : DEVICE_EFFECTS.includes(effect)
        ? []
        : [notSupported(at.child('effect'), effect, DEVICE_EFFECTS)]),
]

const consumptionErrors = ({ counterSet, counters }: DeviceCounterConsumption, at: FieldPath): FieldError[] => [
  ...(counterSet ? validateLabelText(at.child('counterSet'), counterSet) : [required(at.child('counterSet'))]),
  ...countersErrors(counters, at.child('counters')),
]

/** Validates counters by name. There is at least one. */
export function countersErrors(counters: Readonly<Record<string, Counter>> = {}, at: FieldPath): FieldError[] {
  if (isEmpty(counters)) return [required(at)]
  const nameErrors = (name: string, here: FieldPath) => validateLabelText(here, name)
  return mapErrors(counters, MAX_COUNTERS, LABEL_LENGTH, at, nameErrors, () => [])
}

/**
 * Validates the nodes that can use the device. A device has these fields only if its slice has perDeviceNodeSelection.
 */
function nodeErrors(device: Device, at: FieldPath, choosesNodes: boolean): FieldError[] {
  const { nodeName, nodeSelector, allNodes } = device
  const isSet = nodeName !== undefined || nodeSelector !== undefined || allNodes !== undefined
  if (!choosesNodes)
    return isSet
      ? [
          invalidValue(
            at,
            null,
            '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec',
          ),
        ]
      : []
  const errors: FieldError[] = []
  const chosen: string[] = []
  if (nodeName === '') errors.push(invalidValue(at.child('nodeName'), '', 'must not be empty'))
  else if (nodeName !== undefined) {
    chosen.push('`nodeName`')
    append(errors, validateSubdomain(at.child('nodeName'), nodeName))
  }
  if (nodeSelector !== undefined) {
    chosen.push('`nodeSelector`')
    append(errors, validateNodeSelector(at.child('nodeSelector'), nodeSelector))
  }
  if (allNodes === true) chosen.push('`allNodes`')
  else if (allNodes === false)
    errors.push(invalidValue(at.child('allNodes'), false, 'must be either unset or set to true'))
  const ONE =
    'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec'
  if (chosen.length === 0) errors.push(required(at, ONE))
  else if (chosen.length > 1) errors.push(invalidValue(at, `{${chosen.join(', ')}}`, ONE))
  return errors
}

function mappingErrors(
  { capacityKey, allocationMultiplier }: NodeAllocatableResourceMapping,
  at: FieldPath,
  capacity: Readonly<Record<string, DeviceCapacity>>,
): FieldError[] {
  if (capacityKey === undefined && allocationMultiplier === undefined)
    return [invalidValue(at, '', 'at least one of allocationMultiplier or capacityKey must be set')]
  const errors: FieldError[] = []
  if (allocationMultiplier !== undefined && Quantity.parse(allocationMultiplier).sign <= 0)
    errors.push(invalidValue(at.child('allocationMultiplier'), allocationMultiplier, 'must be positive'))
  const keyAt = at.child('capacityKey')
  if (capacityKey === '') errors.push(invalidValue(keyAt, '', 'capacityKey must not be an empty string'))
  else if (capacityKey !== undefined && !Object.hasOwn(capacity, capacityKey))
    errors.push(notFoundField(keyAt, capacityKey))
  return errors
}
