import { append } from '../../base/append.ts'
import type { CounterSet, Device, ResourcePool, ResourceSlice, ResourceSliceSpec } from '../../api/resource/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { goQuote } from '../../go/quote.ts'
import { invalidValue, path, required } from '../../api/field.ts'
import { sentField } from '../../schema/emptied.ts'
import type { KubeObject } from '../../api/object.ts'
import { immutable, validateLabelText, validateSubdomain } from '../../validation/field-rules.ts'
import { internalJson } from '../../validation/pod/internal-json.ts'
import { validateNodeSelector } from '../../validation/pod/scheduling.ts'
import { resourceSlicePrinter } from '../../codec/table/cluster.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { supplyRules } from './claim-work.ts'
import { slicesRules } from './device-taint-work.ts'
import { countersErrors, deviceErrors } from './devices.ts'
import { driverNameErrors, poolNameErrors, setErrors } from './names.ts'
import { conversion } from '../conversion.ts'
import { sliceFromV1beta1, sliceToV1beta1 } from './conversion.ts'

const MAX_DEVICES = 128
/** The limit for devices with taints, counters or lists, because their validation takes longer. */
const MAX_ELABORATE_DEVICES = 64
const MAX_COUNTER_SETS = 8

export const resourceSlices: BuiltInDefinition<ResourceSlice & KubeObject> = {
  workloadWork: [...supplyRules, ...slicesRules],
  unknownField: (field, { group, version, kind }) =>
    `field label not supported for ${group}/${version}, Kind=${kind}: ${field}`,
  printer: resourceSlicePrinter,
  conversions: { 'resource.k8s.io/v1beta1': conversion(sliceFromV1beta1, sliceToV1beta1) },
  hasGeneration: true,
  validate: ({ spec = {} }) => specErrors(spec, undefined, path('spec')),
  validateUpdate: ({ spec = {} }, { spec: old = {} }) => specErrors(spec, old, path('spec')),
  countsDropped: true,
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
  selectableFields: ({ spec = {} }) => ({
    'spec.driver': spec.driver ?? '',
    'spec.nodeName': spec.nodeName ?? '',
  }),
}

function warnings({ spec: { driver = '' } = {} }: ResourceSlice): string[] {
  if (driver === driver.toLowerCase()) return []
  return [`spec.driver: driver names should be lowercase; ${goQuote(driver)} contains uppercase characters`]
}

function specErrors(spec: ResourceSliceSpec, old: ResourceSliceSpec | undefined, at: FieldPath): FieldError[] {
  const { driver = '', pool = {}, devices, sharedCounters, perDeviceNodeSelection = false } = spec
  const before = new Map(old?.devices?.map((device) => [device.name ?? '', device]))
  const max = (devices ?? []).some(isElaborate) ? MAX_ELABORATE_DEVICES : MAX_DEVICES
  return [
    ...driverNameErrors(driver, at.child('driver')),
    ...poolErrors(pool, at.child('pool')),
    ...(old === undefined ? [] : changeErrors(spec, old, at)),
    ...nodeErrors(spec, at),
    ...(sentField(spec, 'sharedCounters') !== undefined && sentField(spec, 'devices') !== undefined
      ? [invalidValue(at, '', 'only one of `sharedCounters` or `devices` is allowed')]
      : []),
    ...setErrors(
      devices,
      max,
      at.child('devices'),
      (device, here) => deviceErrors(device, before.get(device.name ?? ''), here, perDeviceNodeSelection),
      ({ name = '' }) => name,
    ),
    ...setErrors(
      sharedCounters,
      MAX_COUNTER_SETS,
      at.child('sharedCounters'),
      counterSetErrors,
      ({ name = '' }) => name,
    ),
  ]
}

function poolErrors({ name = '', resourceSliceCount = 0, generation = 0 }: ResourcePool, at: FieldPath): FieldError[] {
  const errors = poolNameErrors(name, at.child('name'))
  if (resourceSliceCount <= 0)
    errors.push(invalidValue(at.child('resourceSliceCount'), resourceSliceCount, 'must be greater than zero'))
  if (generation < 0)
    errors.push(invalidValue(at.child('generation'), generation, 'must be greater than or equal to zero'))
  return errors
}

/** The driver, pool and node of a slice are immutable. */
function changeErrors(spec: ResourceSliceSpec, old: ResourceSliceSpec, at: FieldPath): FieldError[] {
  const pool = spec.pool?.name ?? ''
  const driver = spec.driver ?? ''
  return [
    ...immutable(at.child('pool', 'name'), pool, pool === (old.pool?.name ?? '')),
    ...immutable(at.child('driver'), driver, driver === (old.driver ?? '')),
    ...immutable(at.child('nodeName'), spec.nodeName ?? null, spec.nodeName === old.nodeName),
  ]
}

function nodeErrors(spec: ResourceSliceSpec, at: FieldPath): FieldError[] {
  const { nodeName, nodeSelector } = spec
  const errors: FieldError[] = []
  const chosen: string[] = []
  if (nodeName === '')
    errors.push(invalidValue(at.child('nodeName'), '', 'must be either unset or set to a non-empty string'))
  else if (nodeName !== undefined) {
    chosen.push('`nodeName`')
    append(errors, validateSubdomain(at.child('nodeName'), nodeName))
  }
  if (nodeSelector !== undefined) {
    chosen.push('`nodeSelector`')
    append(errors, validateNodeSelector(at.child('nodeSelector'), nodeSelector))
    const terms = nodeSelector.nodeSelectorTerms
    if (terms?.length !== 1) {
      const shown = terms?.map((term) => internalJson('io.k8s.api.core.v1.NodeSelectorTerm', term)) ?? null
      const why = 'must have exactly one node selector term'
      errors.push(invalidValue(at.child('nodeSelector', 'nodeSelectorTerms'), shown, why))
    }
  }
  for (const field of ['allNodes', 'perDeviceNodeSelection'] as const)
    if (spec[field] === true) chosen.push(`\`${field}\``)
    else if (spec[field] === false)
      errors.push(invalidValue(at.child(field), false, 'must be either unset or set to true'))
  const ONE = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required'
  if (chosen.length === 0) errors.push(required(at, ONE))
  else if (chosen.length > 1)
    errors.push(invalidValue(at, `{${chosen.join(', ')}}`, `${ONE}, but multiple fields are set`))
  return errors
}

const isElaborate = ({ taints = [], consumesCounters = [], attributes = {} }: Device): boolean =>
  taints.length + consumesCounters.length > 0 ||
  Object.values(attributes).some(
    ({ bools, ints, strings, versions }) => (bools ?? ints ?? strings ?? versions) !== undefined,
  )

const counterSetErrors = ({ name, counters }: CounterSet, at: FieldPath): FieldError[] => [
  ...(name ? validateLabelText(at.child('name'), name) : [required(at.child('name'))]),
  ...countersErrors(counters, at.child('counters')),
]
