import type { LeaseCandidate, LeaseCandidateSpec } from '../../api/coordination/v1beta1.ts'
import type { FieldError } from '../../api/field.ts'
import { invalidValue, path, required } from '../../api/field.ts'
import type { KubeObject } from '../../api/object.ts'
import { immutable } from '../../validation/field-rules.ts'
import { regexText } from '../../validation/names.ts'
import { leaseCandidatePrinter } from '../../codec/table/cluster.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { OLDEST, strategyErrors } from './leases.ts'
import type { SemanticVersion } from './semantic-version.ts'
import { compareVersions, parseVersion } from './semantic-version.ts'

const spec = path('spec')
const MAX_NAME = 253
const KEY = '[-._a-zA-Z0-9]+'

export const leaseCandidates: BuiltInDefinition<LeaseCandidate & KubeObject> = {
  printer: leaseCandidatePrinter,
  hasGenericMetadata: true,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  nameRule: nameProblems,
  validate: (candidate) => specErrors(candidate.spec ?? {}),
  validateUpdate: (candidate, { spec: old = {} }) => [
    ...specErrors(candidate.spec ?? {}),
    ...immutable(
      spec.child('leaseName'),
      candidate.spec?.leaseName ?? '',
      (candidate.spec?.leaseName ?? '') === (old.leaseName ?? ''),
    ),
  ],
  selectableFields: (candidate) => ({ 'spec.leaseName': candidate.spec?.leaseName ?? '' }),
}

/** A name follows the rule for keys of a ConfigMap. */
function nameProblems(name: string): string[] {
  if (name === '.' || name === '..') return [`must not be '${name}'`]
  if (name.startsWith('..')) return ["must not start with '..'"]
  const text = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
  return [
    ...(name.length > MAX_NAME ? [`must be no more than ${MAX_NAME} characters`] : []),
    ...(new RegExp(`^${KEY}$`).test(name) ? [] : [regexText(text, KEY, 'key.name', 'KEY_NAME', 'key-name')]),
  ]
}

function specErrors({ leaseName, binaryVersion = '', emulationVersion = '', strategy = '' }: LeaseCandidateSpec) {
  const errors: FieldError[] = []
  const versionOf = (text: string, field: string): SemanticVersion | undefined => {
    const version = parseVersion(text)
    if (version === undefined) errors.push(invalidValue(spec.child(field), text, 'must be a valid semantic version'))
    return version
  }
  if (!leaseName) errors.push(required(spec.child('leaseName')))
  const emulated = emulationVersion === '' ? undefined : versionOf(emulationVersion, 'emulationVersion')
  if (binaryVersion === '') errors.push(required(spec.child('binaryVersion')))
  const binary = binaryVersion === '' ? undefined : versionOf(binaryVersion, 'binaryVersion')
  // an invalid version counts as the lowest version
  if (binaryVersion !== '' && emulationVersion !== '' && compareVersions(binary, emulated) < 0)
    errors.push(
      invalidValue(spec.child('binaryVersion'), binaryVersion, 'must be greater than or equal to `emulationVersion`'),
    )
  if (strategy === '') return [...errors, required(spec.child('strategy'))]
  if (strategy === OLDEST && compareVersions(emulated, undefined) === 0)
    errors.push(required(spec.child('emulationVersion'), `must be specified when \`strategy\` is '${OLDEST}'`))
  return [...errors, ...strategyErrors(strategy)]
}
