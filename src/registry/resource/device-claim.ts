/** Validates the spec of a claim: requests for devices, constraints between them, and their configuration. */
import type {
  DeviceClaim,
  DeviceConfiguration,
  DeviceConstraint,
  DeviceRequest,
  DeviceSubRequest,
  DeviceToleration,
  ExactDeviceRequest,
} from '../../api/resource/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { invalidValue, notSupported, path, required, tooLong } from '../../api/field.ts'
import type { Json } from '../../api/object.ts'
import { isJsonObject } from '../../api/object.ts'
import { problems, validateLabelText, validateQualifiedName, validateSubdomain } from '../../validation/field-rules.ts'
import { labelValueProblems } from '../../validation/names.ts'
import { byteLength } from '../../base/utf8.ts'
import type { SelectorsErrors } from './device-selectors.ts'
import { driverNameErrors, fullyQualifiedNameErrors, listErrors, MAX_ENTRIES, setErrors } from './names.ts'
import { errorsOf } from '../../validation/errors-of.ts'

const MAX_ALTERNATIVES = 8
export const MAX_DATA_BYTES = 10 * 1024

export const DEVICE_EFFECTS = ['NoExecute', 'NoSchedule', 'None']

export function deviceClaimErrors(claim: DeviceClaim, at: FieldPath, selectorsErrors: SelectorsErrors): FieldError[] {
  const { requests, constraints, config } = claim
  const isRequest = requestNames(claim)
  return [
    ...setErrors(
      requests ?? [],
      MAX_ENTRIES,
      at.child('requests'),
      requestErrors(selectorsErrors),
      ({ name = '' }) => name,
    ),
    ...listErrors(constraints, MAX_ENTRIES, at.child('constraints'), (constraint, here) =>
      constraintErrors(constraint, here, isRequest),
    ),
    ...listErrors(config, MAX_ENTRIES, at.child('config'), (one, here) => [
      ...requestReferencesErrors(one.requests, here.child('requests'), isRequest),
      ...configurationErrors(one, here),
    ]),
  ]
}

/** The first field with which a request asks for devices in use. */
export function requestedAdminAccess({ requests }: DeviceClaim = {}): FieldPath | undefined {
  const index = requests?.findIndex(({ exactly }) => exactly?.adminAccess === true) ?? -1
  return index < 0 ? undefined : path('spec', 'devices', 'requests').index(index).child('adminAccess')
}

/** Whether the name is that of a request, or of one of its alternatives: `REQUEST/ALTERNATIVE`. */
export type IsRequest = (name: string) => boolean

export function requestNames({ requests }: DeviceClaim): IsRequest {
  // storage keeps absent requests as null; of two requests with one name the last counts
  const alternatives = new Map(
    (requests ?? []).map(({ name = '', firstAvailable = [] }) => [
      name,
      new Set(firstAvailable.map((alternative) => `${name}/${alternative.name ?? ''}`)),
    ]),
  )
  return (name) => alternatives.has(name) || [...alternatives.values()].some((names) => names.has(name))
}

const ONE_OF_TWO = 'exactly one of `exactly` or `firstAvailable` is required'

const requestErrors =
  (selectorsErrors: SelectorsErrors) =>
  (request: DeviceRequest, at: FieldPath): FieldError[] => {
    const { name = '', exactly, firstAvailable = [] } = request
    const errors = validateLabelText(at.child('name'), name)
    if (exactly !== undefined && firstAvailable.length > 0)
      return [...errors, invalidValue(at, null, `${ONE_OF_TWO}, but multiple fields are set`)]
    if (exactly !== undefined) return [...errors, ...wantedErrors(exactly, at.child('exactly'), selectorsErrors)]
    if (firstAvailable.length === 0) return [...errors, required(at, ONE_OF_TWO)]
    const alternativeErrors = (alternative: DeviceSubRequest, here: FieldPath) => [
      ...validateLabelText(here.child('name'), alternative.name ?? ''),
      ...wantedErrors(alternative, here, selectorsErrors),
    ]
    const alternativesAt = at.child('firstAvailable')
    return [
      ...errors,
      ...setErrors(firstAvailable, MAX_ALTERNATIVES, alternativesAt, alternativeErrors, (one) => one.name ?? ''),
    ]
  }

function wantedErrors(
  wanted: ExactDeviceRequest | DeviceSubRequest,
  at: FieldPath,
  selectorsErrors: SelectorsErrors,
): FieldError[] {
  const { deviceClassName = '', selectors, allocationMode = '', count = 0, tolerations } = wanted
  const classAt = at.child('deviceClassName')
  return [
    ...(deviceClassName === '' ? [required(classAt)] : validateSubdomain(classAt, deviceClassName)),
    ...selectorsErrors(selectors, at.child('selectors')),
    ...countErrors(allocationMode, count, at),
    ...errorsOf(tolerations ?? [], (one, index) => tolerationErrors(one, at.child('tolerations').index(index))),
  ]
}

function countErrors(mode: string, count: number | bigint, at: FieldPath): FieldError[] {
  const countAt = at.child('count')
  switch (mode) {
    case 'All':
      return count === 0 ? [] : [invalidValue(countAt, count, `must not be specified when allocationMode is '${mode}'`)]
    case 'ExactCount':
      return count > 0 ? [] : [invalidValue(countAt, count, 'must be greater than zero')]
    default:
      return [notSupported(at.child('allocationMode'), mode, ['All', 'ExactCount'])]
  }
}

function tolerationErrors(toleration: DeviceToleration, at: FieldPath): FieldError[] {
  const { key = '', operator = '', value = '', effect = '' } = toleration
  const operators = ['Equal', 'Exists']
  return [
    ...(key === '' ? [] : validateQualifiedName(at.child('key'), key)),
    ...(operator === ''
      ? [required(at.child('operator'))]
      : !operators.includes(operator)
        ? [notSupported(at.child('operator'), operator, operators)]
        : operator === 'Equal'
          ? problems(at.child('value'), value, labelValueProblems(value))
          : value === ''
            ? []
            : [invalidValue(at.child('value'), value, 'must be empty for operator `Exists`')]),
    ...(effect === '' || DEVICE_EFFECTS.includes(effect)
      ? []
      : [notSupported(at.child('effect'), effect, DEVICE_EFFECTS)]),
  ]
}

function constraintErrors(constraint: DeviceConstraint, at: FieldPath, isRequest: IsRequest): FieldError[] {
  const { requests, matchAttribute, distinctAttribute } = constraint
  return [
    ...requestReferencesErrors(requests, at.child('requests'), isRequest),
    ...(matchAttribute !== undefined
      ? fullyQualifiedNameErrors(matchAttribute, at.child('matchAttribute'))
      : distinctAttribute !== undefined
        ? fullyQualifiedNameErrors(distinctAttribute, at.child('distinctAttribute'))
        : // kube-apiserver's message is the same if neither is set
          [
            required(
              at,
              'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
            ),
          ]),
  ]
}

const NOT_A_REQUEST =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"

export const requestReferencesErrors = (
  names: readonly string[] | undefined,
  at: FieldPath,
  isRequest: IsRequest,
): FieldError[] =>
  setErrors(
    names,
    MAX_ENTRIES,
    at,
    (name, here) => requestReferenceErrors(name, here, isRequest),
    (name) => name,
  )

export function requestReferenceErrors(name: string, at: FieldPath, isRequest: IsRequest): FieldError[] {
  const parts = name.split('/')
  const errors = parts.length > 2 ? [] : errorsOf(parts, (part) => validateLabelText(at, part))
  return isRequest(name) ? errors : [...errors, invalidValue(at, name, NOT_A_REQUEST)]
}

/** Configuration has the driver's own format. Validation checks only that it is a JSON object. */
export function configurationErrors({ opaque }: DeviceConfiguration, at: FieldPath): FieldError[] {
  if (opaque === undefined) return [required(at.child('opaque'))]
  const parametersAt = at.child('opaque', 'parameters')
  return [
    ...driverNameErrors(opaque.driver ?? '', at.child('opaque', 'driver')),
    ...(opaque.parameters === undefined || opaque.parameters === null
      ? [required(parametersAt)]
      : dataErrors(opaque.parameters as Json, parametersAt)),
  ]
}

/** Checks that the data is a JSON object, and not too large. */
export function dataErrors(data: Json, at: FieldPath): FieldError[] {
  if (byteLength(JSON.stringify(data)) > MAX_DATA_BYTES) return [tooLong(at, MAX_DATA_BYTES)]
  return isJsonObject(data) ? [] : [invalidValue(at, '<value omitted>', 'must be a valid JSON object')]
}
