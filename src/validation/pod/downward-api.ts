/** Validates downward API references: pod fields in environment variables and files. */
import type * as CoreV1 from '../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { invalidValue, notSupportedString, required } from '../../api/field.ts'
import { ownValue } from '../../base/own.ts'
import { Quantity } from '../../schema/quantity.ts'
import { validateQualifiedName } from '../field-rules.ts'

export const FIELDS_IN_ENV = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]
export const FIELDS_IN_FILES = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
]

/** The field labels of v1, with or without a subscript. */
const knownFields = new Set([
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'status.phase',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
])

export function validateFieldRef(
  at: FieldPath,
  { apiVersion = '', fieldPath = '' }: CoreV1.ObjectFieldSelector,
  allowed: readonly string[],
): FieldError[] {
  if (apiVersion === '') return [required(at.child('apiVersion'))]
  if (fieldPath === '') return [required(at.child('fieldPath'))]
  const failed = (why: string) => [invalidValue(at.child('fieldPath'), fieldPath, `error converting fieldPath: ${why}`)]
  if (apiVersion !== 'v1') return failed(`unsupported pod version: ${apiVersion}`)
  // a field with a quoted subscript in brackets
  const bracket = fieldPath.indexOf("['", 1)
  if (bracket > 0 && fieldPath.endsWith("']") && fieldPath.length >= bracket + 4) {
    const field = fieldPath.slice(0, bracket)
    const subscript = fieldPath.slice(bracket + 2, -2)
    if (field === 'metadata.annotations') return validateQualifiedName(at, subscript.toLowerCase())
    if (field === 'metadata.labels') return validateQualifiedName(at, subscript)
    return failed(`field label does not support subscript: ${fieldPath}`)
  }
  const converted = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath
  if (!knownFields.has(converted)) return failed(`field label not supported: ${fieldPath}`)
  return allowed.includes(converted) ? [] : [notSupportedString(at.child('fieldPath'), converted, allowed)]
}

const RESOURCES = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
]
const BYTE_DIVISORS = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei']

export function validateResourceFieldRef(
  at: FieldPath,
  { containerName, resource = '', divisor }: CoreV1.ResourceFieldSelector,
  inFile: boolean,
): FieldError[] {
  const errors: FieldError[] = []
  const isHugePages = /^(requests|limits)\.hugepages-/.test(resource)
  if (inFile && !containerName) errors.push(required(at.child('containerName')))
  else if (resource === '') errors.push(required(at.child('resource')))
  else if (!RESOURCES.includes(resource) && !isHugePages)
    errors.push(notSupportedString(at.child('resource'), resource, RESOURCES))
  if (divisor === undefined || Quantity.parse(divisor).isZero) return errors
  const [, what = ''] = /^(?:requests|limits)\.(cpu|memory|ephemeral-storage|hugepages-)/.exec(resource) ?? []
  const name = ownValue(divisorNames, what)
  const allowed = what === 'cpu' ? ['1m', '1'] : BYTE_DIVISORS
  if (name === undefined || allowed.includes(Quantity.parse(divisor).toString())) return errors
  const list = what === 'cpu' ? '1m and 1' : BYTE_DIVISORS.join(', ')
  return [
    ...errors,
    invalidValue(
      at.child('divisor'),
      resource,
      `only divisor's values ${list} are supported with the ${name} resource`,
    ),
  ]
}

const divisorNames: Readonly<Record<string, string>> = {
  cpu: 'cpu',
  memory: 'memory',
  'ephemeral-storage': 'local ephemeral storage',
  'hugepages-': 'hugepages',
}
