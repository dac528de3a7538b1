/** ValidatingAdmissionPolicies and MutatingAdmissionPolicies. */
import { inPartsAwaiting, mapParts } from '../../base/parts.ts'
import { turnOfOthers } from '../../base/slices.ts'
import { withoutSpecAndMetadata } from '../../patch/reset-fields.ts'
import { append } from '../../base/append.ts'
import type {
  AuditAnnotation,
  MatchCondition,
  MatchResources,
  MutatingAdmissionPolicy,
  Mutation,
  ParamKind,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyStatus,
  Validation,
  Variable,
} from '../../api/admissionregistration/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, invalidValue, notSupported, path, required } from '../../api/field.ts'
import type { KubeObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import type { PolicyExpressions } from '../../expressions/policy-expressions.ts'
import { JsonPathError } from '../../codec/table/parse-json-path.ts'
import { parseJsonPath } from '../../codec/table/parse-json-path.ts'
import { validateConditions } from '../../validation/conditions.ts'
import { requiredText, validateQualifiedName } from '../../validation/field-rules.ts'
import { dns1035Label, dns1123Subdomain } from '../../validation/names.ts'
import { byteLength } from '../../base/utf8.ts'
import { repeatsIn } from '../../base/lookup.ts'
import { internalJson } from '../../validation/pod/internal-json.ts'
import { keepMetadata } from '../metadata-of-status.ts'
import { validatingAdmissionPolicyPrinter, mutatingAdmissionPolicyPrinter } from '../../codec/table/policies.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { compilationErrors, expressionErrors, policyExpressions, problemErrors } from './expressions.ts'
import { matchConditionErrors } from './match-conditions.ts'
import { choiceErrors, FAILURE_POLICIES, matchErrors, mutableOperationErrors, REINVOCATION_POLICIES } from './rules.ts'
import { kindRightErrors } from './parameter-rights.ts'
import type { StrategyContext } from '../strategy.ts'
import { staticNameErrors, staticNameWarnings, staticNameWarningsOnCreate } from './static-names.ts'
import { work } from '../work/work.ts'
import { errorsOf, weightOfExpressions } from '../../validation/errors-of.ts'

type ValidatingPolicy = ValidatingAdmissionPolicy & KubeObject
type MutatingPolicy = MutatingAdmissionPolicy & KubeObject

export const validatingAdmissionPolicies: BuiltInDefinition<ValidatingPolicy> = {
  printer: validatingAdmissionPolicyPrinter,
  exemptFrom: ['policies', 'webhooks'],
  work: ({ object, old }) =>
    object === undefined || object.metadata.generation === old?.metadata.generation
      ? []
      : work('validating-admission-policy-status', object.metadata.name),
  hasGeneration: true,
  allowCreateOnStatusApply: true,
  allowUnconditionalUpdate: false,
  resetFields: { status: withoutSpecAndMetadata },
  hasGenericMetadata: true,
  metadataOnUpdate: 'as new',
  validate: async (policy, context) => [
    ...staticNameErrors(policy, context),
    ...(await withRights(await validatingErrors(policy, true), policy.spec, undefined, context)),
  ],
  validateUpdate: async (policy, old, context) =>
    withRights(await validatingErrors(policy, hasNewConditions(policy.spec, old.spec)), policy.spec, old.spec, context),
  warningsOnCreate: staticNameWarningsOnCreate,
  warningsOnUpdate: staticNameWarnings,
  subresources: {
    status: {
      prepareForUpdate: ({ metadata }, old) => keepMetadata(metadata, old.metadata),
      metadataOnUpdate: 'by strategy',
      validateUpdate: ({ status = {} }) => statusErrors(status, path('status')),
    },
  },
}

export const mutatingAdmissionPolicies: BuiltInDefinition<MutatingPolicy> = {
  printer: mutatingAdmissionPolicyPrinter,
  exemptFrom: ['policies', 'webhooks'],
  hasGeneration: true,
  allowUnconditionalUpdate: false,
  hasGenericMetadata: true,
  metadataOnUpdate: 'as new',
  validate: async (policy, context) => [
    ...staticNameErrors(policy, context),
    ...(await withRights(await mutatingErrors(policy, true), policy.spec, undefined, context)),
  ],
  validateUpdate: async (policy, old, context) =>
    withRights(await mutatingErrors(policy, hasNewConditions(policy.spec, old.spec)), policy.spec, old.spec, context),
  warningsOnCreate: staticNameWarningsOnCreate,
  warningsOnUpdate: staticNameWarnings,
}

interface CommonSpec {
  readonly failurePolicy?: string
  readonly paramKind?: ParamKind
  readonly matchConstraints?: MatchResources
  readonly matchConditions?: MatchCondition[]
  readonly variables?: Variable[]
}

/** Rights are asked about where all else is in order. */
const withRights = (
  errors: readonly FieldError[],
  spec: CommonSpec | undefined,
  old: CommonSpec | undefined,
  context: StrategyContext,
): readonly FieldError[] | Promise<readonly FieldError[]> =>
  errors.length > 0 ? errors : kindRightErrors(spec?.paramKind, old?.paramKind, context)

/**
 * Conditions may use the parameters. A change of the parameters' kind therefore counts as a change of the conditions.
 */
function hasNewConditions(spec: CommonSpec = {}, old: CommonSpec = {}): boolean {
  const conditionsOf = ({ paramKind, matchConditions }: CommonSpec) =>
    JSON.stringify([paramKind, matchConditions ?? []])
  return conditionsOf(spec) !== conditionsOf(old)
}

/** Validation that policies of both kinds share, in kube-apiserver's order. */
function commonErrors(
  spec: CommonSpec,
  at: FieldPath,
  checkConditions: boolean,
  compiler: PolicyExpressions,
  constraintErrors: (constraints: MatchResources, at: FieldPath) => FieldError[] = () => [],
): FieldError[] {
  const { failurePolicy, paramKind, matchConstraints, matchConditions = [], variables = [] } = spec
  const constraintsAt = at.child('matchConstraints')
  return [
    ...(failurePolicy === undefined
      ? [required(at.child('failurePolicy'))]
      : choiceErrors(failurePolicy, FAILURE_POLICIES, at.child('failurePolicy'))),
    ...(paramKind === undefined ? [] : paramKindErrors(paramKind, at.child('paramKind'))),
    ...(matchConstraints === undefined
      ? [required(constraintsAt)]
      : [
          ...matchErrors(matchConstraints, constraintsAt),
          // the types of the expressions depend on the rules
          ...((matchConstraints.resourceRules ?? []).length > 0
            ? []
            : [required(constraintsAt.child('resourceRules'))]),
          ...constraintErrors(matchConstraints, constraintsAt),
        ]),
    ...(checkConditions ? matchConditionErrors(matchConditions, at.child('matchConditions'), compiler) : []),
    ...errorsOf(
      variables,
      (variable, index) => variableErrors(variable, at.child('variables').index(index), compiler),
      ({ expression }) => weightOfExpressions(expression),
    ),
  ]
}

function paramKindErrors({ apiVersion = '', kind = '' }: ParamKind, at: FieldPath): FieldError[] {
  const kindAt = at.child('kind')
  const kindTexts = dns1035Label(kind.toLowerCase())
  return [
    ...versionErrors(apiVersion, at.child('apiVersion')),
    ...(kind === ''
      ? [required(kindAt)]
      : kindTexts.length > 0
        ? [invalidValue(kindAt, kind, `may have mixed case, but should otherwise match: ${kindTexts.join(',')}`)]
        : []),
  ]
}

function versionErrors(apiVersion: string, at: FieldPath): FieldError[] {
  if (apiVersion === '') return [required(at)]
  const parts = apiVersion === '/' ? ['', ''] : apiVersion.split('/')
  if (parts.length > 2) return [invalidValue(at, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)]
  const version = parts.at(-1)!
  const group = parts.length === 2 ? parts[0]! : ''
  const groupTexts = group === '' ? [] : dns1123Subdomain(group)
  const versionTexts = dns1035Label(version)
  return [
    ...(groupTexts.length > 0 ? [invalidValue(at, group, groupTexts.join(','))] : []),
    ...(version === ''
      ? [invalidValue(at, apiVersion, 'version must be specified')]
      : versionTexts.length > 0
        ? [invalidValue(at, version, versionTexts.join(','))]
        : []),
  ]
}

const RESERVED = new Set(
  `true false null in as break const continue else for function if import let loop package namespace return var void
   while`.split(/\s+/),
)
const isIdentifier = (name: string): boolean => /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !RESERVED.has(name)

function variableErrors({ name = '', expression }: Variable, at: FieldPath, compiler: PolicyExpressions): FieldError[] {
  const nameAt = at.child('name')
  const expressionAt = at.child('expression')
  return [
    ...(name.trim() === ''
      ? [required(nameAt, 'name is not specified')]
      : isIdentifier(name)
        ? []
        : [invalidValue(nameAt, name, 'must be a valid CEL identifier')]),
    ...expressionErrors(expression, expressionAt, NOT_SPECIFIED, (text) =>
      problemErrors(compiler.declare(name, text), expressionAt, text),
    ),
  ]
}

const NOT_SPECIFIED = 'expression is not specified'

async function validatingErrors(
  { metadata, spec = {} }: ValidatingPolicy,
  checkConditions: boolean,
): Promise<FieldError[]> {
  const at = path('spec')
  const { paramKind, variables = [], validations = [], auditAnnotations = [] } = spec
  const compiler = await policyExpressions({ hasParams: paramKind !== undefined, hasVariables: variables.length > 0 })
  const nothing = 'validations or auditAnnotations must contain at least one item'
  return inPartsAwaiting(
    () => [
      ...commonErrors(spec, at, checkConditions, compiler),
      ...(validations.length + auditAnnotations.length === 0
        ? [required(at.child('validations'), nothing), required(at.child('auditAnnotations'), nothing)]
        : []),
      ...errorsOf(
        validations,
        (validation, index) => validationErrors(validation, at.child('validations').index(index), compiler),
        ({ expression, messageExpression }) => weightOfExpressions(expression, messageExpression),
      ),
      ...annotationsErrors(auditAnnotations, at.child('auditAnnotations'), metadata.name ?? '', compiler),
    ],
    turnOfOthers,
  )
}

const NON_EMPTY = 'must be non-empty if specified'
const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']

function validationErrors(validation: Validation, at: FieldPath, compiler: PolicyExpressions): FieldError[] {
  const { expression, message = '', messageExpression = '', reason } = validation
  const expressionAt = at.child('expression')
  const messageAt = at.child('messageExpression')
  const errors = expressionErrors(expression, expressionAt, NOT_SPECIFIED, (text) =>
    compilationErrors(compiler, 'validation', text, expressionAt),
  )
  if (messageExpression !== '' && messageExpression.trim() === '')
    errors.push(invalidValue(messageAt, messageExpression, NON_EMPTY))
  else if (messageExpression !== '')
    append(errors, compilationErrors(compiler, 'message', messageExpression, messageAt))
  if (message !== '' && message.trim() === '') errors.push(invalidValue(at.child('message'), message, NON_EMPTY))
  if (/[\n\r]/.test(message.trim()))
    errors.push(invalidValue(at.child('message'), message, 'must not contain line breaks'))
  return [...errors, ...choiceErrors(reason, REASONS, at.child('reason'))]
}

const MAX_ANNOTATIONS = 20
const MAX_EXPRESSION_BYTES = 5 * 1024

function annotationsErrors(
  annotations: readonly AuditAnnotation[],
  at: FieldPath,
  policy: string,
  compiler: PolicyExpressions,
): FieldError[] {
  const repeats = repeatsIn(annotations.map(({ key = '' }) => key))
  const type = 'io.k8s.api.admissionregistration.v1.AuditAnnotation'
  const checkAnnotation = ({ key = '', valueExpression = '' }: AuditAnnotation, index: number): FieldError[] => {
    const here = at.index(index)
    return [
      ...(policy === ''
        ? [invalidValue(here.child('key'), key, 'requires metadata.name be non-empty')]
        : validateQualifiedName(here.child('key'), `${policy}/${key}`)),
      ...valueErrors(valueExpression, here.child('valueExpression'), compiler),
      ...(repeats.has(index) ? [duplicate(here.child('key'), key)] : []),
    ]
  }
  const shown = () => mapParts(annotations, (annotation) => internalJson(type, annotation))
  return [
    ...(annotations.length > MAX_ANNOTATIONS
      ? [invalidValue(at, shown(), `must not have more than ${MAX_ANNOTATIONS} auditAnnotations`)]
      : []),
    ...errorsOf(annotations, checkAnnotation, ({ valueExpression }) => weightOfExpressions(valueExpression)),
  ]
}

function valueErrors(expression: string, at: FieldPath, compiler: PolicyExpressions): FieldError[] {
  const text = expression.trim()
  if (byteLength(text) > MAX_EXPRESSION_BYTES)
    return [required(at, `must not exceed ${MAX_EXPRESSION_BYTES} bytes in length`)]
  return expressionErrors(text, at, 'valueExpression is not specified', () =>
    compilationErrors(compiler, 'auditAnnotation', text, at, expression),
  )
}

function statusErrors(status: ValidatingAdmissionPolicyStatus, at: FieldPath): FieldError[] {
  const { typeChecking = {}, conditions = [] } = status
  const warningsAt = at.child('typeChecking', 'expressionWarnings')
  return [
    ...errorsOf(typeChecking.expressionWarnings ?? [], ({ fieldRef = '', warning }, index) => [
      ...requiredText(warningsAt.index(index).child('warning'), warning),
      ...fieldReferenceErrors(fieldRef.trim(), warningsAt.index(index).child('fieldRef')),
    ]),
    ...validateConditions(at.child('conditions'), conditions),
  ]
}

function fieldReferenceErrors(reference: string, at: FieldPath): FieldError[] {
  if (reference === '') return [required(at)]
  try {
    parseJsonPath(`{${reference}}`)
    return []
  } catch (error) {
    if (!(error instanceof JsonPathError)) throw error
    return [invalidValue(at, reference, `invalid JSONPath: ${error.message}`)]
  }
}

async function mutatingErrors({ spec = {} }: MutatingPolicy, checkConditions: boolean): Promise<FieldError[]> {
  const at = path('spec')
  const { paramKind, mutations = [], reinvocationPolicy = '' } = spec
  const compiler = await policyExpressions({ hasParams: paramKind !== undefined, hasVariables: true })
  const policyAt = at.child('reinvocationPolicy')
  return inPartsAwaiting(
    () => [
      ...commonErrors(spec, at, checkConditions, compiler, mutableOperationErrors),
      ...(mutations.length === 0
        ? [required(at.child('mutations'), 'mutations must contain at least one item')]
        : errorsOf(
            mutations,
            (mutation, index) => mutationErrors(mutation, at.child('mutations').index(index), compiler),
            ({ applyConfiguration, jsonPatch }) =>
              weightOfExpressions(applyConfiguration?.expression, jsonPatch?.expression),
          )),
      ...(reinvocationPolicy === ''
        ? [required(policyAt)]
        : choiceErrors(reinvocationPolicy, REINVOCATION_POLICIES, policyAt)),
    ],
    turnOfOthers,
  )
}

type PatchField = 'applyConfiguration' | 'jsonPatch'
const fieldsOfType: Readonly<Record<string, readonly [own: PatchField, other: PatchField]>> = {
  ApplyConfiguration: ['applyConfiguration', 'jsonPatch'],
  JSONPatch: ['jsonPatch', 'applyConfiguration'],
}

function mutationErrors(mutation: Mutation, at: FieldPath, compiler: PolicyExpressions): FieldError[] {
  const { patchType = '' } = mutation
  if (patchType === '') return [required(at.child('patchType'))]
  const fields = ownValue(fieldsOfType, patchType)
  if (fields === undefined) return [notSupported(at.child('patchType'), patchType, Object.keys(fieldsOfType))]
  const [own, other] = fields
  const patch = mutation[own]
  const expressionAt = at.child(own, 'expression')
  return [
    ...(patch === undefined
      ? [required(at.child(own), `must be specified when patchType is ${patchType}`)]
      : expressionErrors(patch.expression, expressionAt, '', (text) =>
          compilationErrors(compiler, own, text.trim(), expressionAt),
        )),
    ...(mutation[other] === undefined
      ? []
      : [invalidValue(at.child(other), `{${other}}`, `must not be specified when patchType is ${patchType}`)]),
  ]
}
