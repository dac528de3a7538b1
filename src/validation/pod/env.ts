/** Validates environment variables of containers and the sources of their values. */
import { append } from '../../base/append.ts'
import type * as CoreV1 from '../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { invalidValue, notFoundField, required } from '../../api/field.ts'
import { configKeyProblems } from '../config-keys.ts'
import { lastBy } from '../../base/lookup.ts'
import { errorsOf } from '../errors-of.ts'
import { problems, requiredText, validateLabelText } from '../field-rules.ts'
import { withoutBacksteps } from '../local-paths.ts'
import { dns1123Subdomain, regexText, subdomainName } from '../names.ts'
import { FIELDS_IN_ENV, validateFieldRef, validateResourceFieldRef } from './downward-api.ts'
import type { PodRules } from './rules.ts'

export const validateEnv = (at: FieldPath, variables: readonly CoreV1.EnvVar[], rules: PodRules): FieldError[] =>
  errorsOf(variables, (variable, index) => {
    const here = at.index(index)
    const { name = '' } = variable
    return [
      ...(name === ''
        ? [required(here.child('name'))]
        : problems(here.child('name'), name, variableNameProblems(name, rules))),
      ...validateValueFrom(here.child('valueFrom'), variable, rules),
    ]
  })

function variableNameProblems(name: string, rules: PodRules): string[] {
  if (rules.enabled('RelaxedEnvironmentVariableValidation')) return relaxedNameProblems(name)
  const text =
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit"
  const pattern = '[-._a-zA-Z][-._a-zA-Z0-9]*'
  return [
    ...(new RegExp(`^${pattern}$`).test(name)
      ? []
      : [regexText(text, pattern, 'my.env-name', 'MY_ENV.NAME', 'MyEnvName1')]),
    ...dotProblems(name),
  ]
}

function relaxedNameProblems(name: string): string[] {
  if (name === '') return ['environment variable name must be non-empty']
  return /^[\x20-\x3c\x3e-\x7e]*$/.test(name)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"]
}

function dotProblems(name: string): string[] {
  if (name === '.') return ["must not be '.'"]
  if (name === '..') return ["must not be '..'"]
  return name.startsWith('..') ? ["must not start with '..'"] : []
}

function validateValueFrom(at: FieldPath, { value, valueFrom }: CoreV1.EnvVar, rules: PodRules): FieldError[] {
  if (valueFrom === undefined) return []
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = valueFrom
  const errors = [
    ...(fieldRef ? validateFieldRef(at.child('fieldRef'), fieldRef, FIELDS_IN_ENV) : []),
    ...(resourceFieldRef ? validateResourceFieldRef(at.child('resourceFieldRef'), resourceFieldRef, false) : []),
    ...(configMapKeyRef ? validateKeyRef(at.child('configMapKeyRef'), configMapKeyRef) : []),
    ...(secretKeyRef ? validateKeyRef(at.child('secretKeyRef'), secretKeyRef) : []),
    ...(fileKeyRef ? validateFileKeyRef(at.child('fileKeyRef'), fileKeyRef) : []),
  ]
  const sources = Object.values(valueFrom).filter((source) => source !== undefined).length
  if (sources === 0) {
    const names = rules.enabled('EnvFiles')
      ? '`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'
      : '`fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`'
    errors.push(invalidValue(at, '', `must specify one of: ${names}`))
  } else if (value) errors.push(invalidValue(at, '', 'may not be specified when `value` is not empty'))
  else if (sources > 1) errors.push(invalidValue(at, '', 'may not have more than one field specified at a time'))
  return errors
}

const validateKeyRef = (at: FieldPath, { name = '', key }: CoreV1.SecretKeySelector): FieldError[] => [
  ...problems(at.child('name'), name, dns1123Subdomain(name)),
  ...(key ? problems(at.child('key'), key, configKeyProblems(key)) : [required(at.child('key'))]),
]

const validateFileKeyRef = (at: FieldPath, { key, volumeName, path }: CoreV1.FileKeySelector): FieldError[] => [
  ...(key ? problems(at.child('key'), key, relaxedNameProblems(key)) : [required(at.child('key'))]),
  ...(volumeName ? validateLabelText(at.child('volumeName'), volumeName) : [required(at.child('volumeName'))]),
  ...requiredText(at.child('path'), path),
  ...withoutBacksteps(at.child('path'), path ?? ''),
]

export const validateEnvFrom = (
  at: FieldPath,
  sources: readonly CoreV1.EnvFromSource[],
  rules: PodRules,
): FieldError[] =>
  errorsOf(sources, (source, index) => {
    const here = at.index(index)
    const { prefix, configMapRef, secretRef } = source
    const errors = prefix ? problems(here.child('prefix'), prefix, variableNameProblems(prefix, rules)) : []
    for (const [field, ref] of [
      ['configMapRef', configMapRef],
      ['secretRef', secretRef],
    ] as const)
      if (ref !== undefined) {
        const name = here.child(field, 'name')
        append(errors, ref.name ? problems(name, ref.name, subdomainName(ref.name, true)) : [required(name)])
      }
    // kube-apiserver reports these at the list, without an index
    if (!configMapRef && !secretRef)
      errors.push(invalidValue(at, '', 'must specify one of: `configMapRef` or `secretRef`'))
    else if (configMapRef && secretRef)
      errors.push(invalidValue(at, '', 'may not have more than one field specified at a time'))
    return errors
  })

/** A variable with fileKeyRef needs an emptyDir volume, to which containers of the pod can write. */
export function validateFileVolumes(
  at: FieldPath,
  variables: readonly CoreV1.EnvVar[],
  volumes: readonly CoreV1.Volume[],
): FieldError[] {
  const volumeOf = lastBy(volumes, ({ name = '' }) => name)
  return errorsOf(variables, ({ valueFrom }, index) => {
    const name = valueFrom?.fileKeyRef?.volumeName ?? ''
    if (valueFrom?.fileKeyRef === undefined) return []
    const here = at.index(index).child('valueFrom', 'fileKeyRef', 'volumeName')
    const volume = volumeOf.get(name)
    if (volume === undefined) return [notFoundField(here, name)]
    return volume.emptyDir === undefined ? [invalidValue(here, name, 'referenced volume must be of type emptyDir')] : []
  })
}
