/** Policy bindings say where policies apply, and with which parameters. */
import { append } from '../../base/append.ts'
import type {
  MutatingAdmissionPolicyBinding,
  MutatingAdmissionPolicyBindingSpec,
  ParamRef,
  ValidatingAdmissionPolicyBinding,
} from '../../api/admissionregistration/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, forbiddenField, invalidValue, path, required } from '../../api/field.ts'
import type { KubeObject } from '../../api/object.ts'
import { repeatsIn } from '../../base/lookup.ts'
import { problems, validateSubdomain } from '../../validation/field-rules.ts'
import { validateLabelSelector } from '../../validation/label-selectors.ts'
import { pathSegmentName } from '../../validation/names.ts'
import {
  validatingAdmissionPolicyBindingPrinter,
  mutatingAdmissionPolicyBindingPrinter,
} from '../../codec/table/policies.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { choiceErrors, matchErrors, mutableOperationErrors } from './rules.ts'
import { referenceRightErrors } from './parameter-rights.ts'
import type { StrategyContext } from '../strategy.ts'
import { staticNameErrors, staticNameWarnings, staticNameWarningsOnCreate } from './static-names.ts'
import { errorsOf } from '../../validation/errors-of.ts'

type ValidatingBinding = ValidatingAdmissionPolicyBinding & KubeObject
type MutatingBinding = MutatingAdmissionPolicyBinding & KubeObject

export const validatingAdmissionPolicyBindings: BuiltInDefinition<ValidatingBinding> = {
  printer: validatingAdmissionPolicyBindingPrinter,
  exemptFrom: ['policies', 'webhooks'],
  hasGeneration: true,
  allowUnconditionalUpdate: false,
  hasGenericMetadata: true,
  metadataOnUpdate: 'as new',
  validate: async (binding, context) => [
    ...staticNameErrors(binding, context),
    ...(await validatingErrors(binding, context)),
  ],
  validateUpdate: (binding, _old, context) => validatingErrors(binding, context),
  warningsOnCreate: staticNameWarningsOnCreate,
  warningsOnUpdate: staticNameWarnings,
}

export const mutatingAdmissionPolicyBindings: BuiltInDefinition<MutatingBinding> = {
  printer: mutatingAdmissionPolicyBindingPrinter,
  exemptFrom: ['policies', 'webhooks'],
  hasGeneration: true,
  allowUnconditionalUpdate: false,
  hasGenericMetadata: true,
  metadataOnUpdate: 'as new',
  validate: async (binding, context) => [
    ...staticNameErrors(binding, context),
    ...(await mutatingErrors(binding, context)),
  ],
  validateUpdate: (binding, _old, context) => mutatingErrors(binding, context),
  warningsOnCreate: staticNameWarningsOnCreate,
  warningsOnUpdate: staticNameWarnings,
}

type Errors = readonly FieldError[] | Promise<readonly FieldError[]>

/** Rights are asked about where all else is in order. */
function validatingErrors({ spec = {} }: ValidatingBinding, context: StrategyContext): Errors {
  const errors = [
    ...commonErrors(spec, path('spec')),
    ...actionErrors(spec.validationActions ?? [], path('spec', 'validationActions')),
  ]
  return errors.length > 0 ? errors : referenceRightErrors(spec, 'validatingadmissionpolicies', context)
}

function mutatingErrors({ spec = {} }: MutatingBinding, context: StrategyContext): Errors {
  const errors = [
    ...commonErrors(spec, path('spec')),
    ...mutableOperationErrors(spec.matchResources ?? {}, path('spec', 'matchResources')),
  ]
  return errors.length > 0 ? errors : referenceRightErrors(spec, 'mutatingadmissionpolicies', context)
}

const commonErrors = (spec: MutatingAdmissionPolicyBindingSpec, at: FieldPath): FieldError[] => [
  ...(spec.policyName
    ? validateSubdomain(at.child('policyName'), spec.policyName)
    : [required(at.child('policyName'))]),
  ...(spec.paramRef === undefined ? [] : paramRefErrors(spec.paramRef, at.child('paramRef'))),
  ...matchErrors(spec.matchResources, at.child('matchResources')),
]

function paramRefErrors({ name = '', selector, parameterNotFoundAction }: ParamRef, at: FieldPath): FieldError[] {
  const both = 'name and selector are mutually exclusive'
  const actionAt = at.child('parameterNotFoundAction')
  const errors: FieldError[] = []
  if (name !== '') {
    append(errors, problems(at.child('name'), name, pathSegmentName(name, false)))
    if (selector !== undefined) errors.push(forbiddenField(at.child('name'), both))
  }
  if (selector !== undefined) {
    append(errors, validateLabelSelector(at.child('selector'), selector))
    if (name !== '') errors.push(forbiddenField(at.child('selector'), both))
  }
  if (name === '' && selector === undefined) errors.push(required(at, 'one of name or selector must be specified'))
  return [
    ...errors,
    ...(parameterNotFoundAction
      ? choiceErrors(parameterNotFoundAction, ['Deny', 'Allow'], actionAt)
      : [required(actionAt)]),
  ]
}

function actionErrors(actions: readonly string[], at: FieldPath): FieldError[] {
  const repeats = repeatsIn(actions)
  const errors = errorsOf(actions, (action, index) => [
    ...choiceErrors(action, ['Audit', 'Deny', 'Warn'], at.index(index)),
    ...(repeats.has(index) ? [duplicate(at.index(index), action)] : []),
  ])
  if (actions.includes('Deny') && actions.includes('Warn'))
    errors.push(
      invalidValue(
        at,
        actions,
        'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
      ),
    )
  if (actions.length === 0) errors.push(required(at, 'at least one validation action is required'))
  return errors
}
